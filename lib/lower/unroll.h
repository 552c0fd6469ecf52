// Unroll: loops of kind unrolled become copies of their body.
//
// After vectorize, last of the passes that change loops: what comes before works on one copy of a body, what comes
// after on all of them. Indices are made for each copy from a template (sum of coefficient * variable, taken apart
// once), not by substituting and simplifying again: a register tile of 28 accumulators unrolled 16 times has about
// 1,500 indices, and copies whose indices differ by a constant share the rest of the expression, node for node: base +
// constant, which is what a backend wants for addresses.
#pragma once

#include "ir/stmt.h"

namespace hone::lower {

// Where more copies than this of one statement would be made, loops further in stay serial.
inline constexpr int64_t kMaxCopies = 1 << 15;

ir::Stmt UnrollLoops(const ir::Stmt& body);

}  // namespace hone::lower

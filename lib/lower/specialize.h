// Specialize: gives loops that must have a constant extent one, by taking tails apart.
//
// Right after loop_nest, since vectorize and unroll need constant extents, and since the copies it makes are cheap only
// while bodies are small. A loop must be constant if it is unrolled or vectorized, or if it counts through a register
// buffer. Where its extent is a min or max that an outer loop `o` decides (min(14, 50 - o*14)), the outer loop is cut
// in two: the part where one side always holds, and the rest, which is mostly one iteration. A serial loop becomes two;
// a parallel one keeps its range and gets `if (o < t)` inside. Outermost loops first: then inner ones find their own
// bounds constant.
//
// At most kMaxCuts cuts are made. A loop that is left without a constant extent becomes serial: slower, never wrong.
#pragma once

#include "ir/stmt.h"

namespace hone::lower {

inline constexpr int kMaxCuts = 24;

ir::Stmt Specialize(const ir::Stmt& body);

}  // namespace hone::lower

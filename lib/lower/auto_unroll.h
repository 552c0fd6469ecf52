// Auto-unroll: which loops are unrolled in the end, from the notes of a schedule.
//
// After the passes that want one copy of a body, before vectorize and unroll. A Pragma "auto_unroll_max_step" n: in the
// statement it stands at, a serial loop of constant extent is unrolled, innermost first, if all loops inside are and it
// comes to at most n stores. "unroll_explicit" 1 around the same: by unroll.h; 0 (or none): by the device's compiler,
// whom a Pragma "unroll" at the loop tells. (As in AutoTVM's templates.) Both notes are gone afterwards. A Pragma
// "unroll" n that a schedule has put at a loop stays: n rounds at a time, and no loop around it is unrolled unless that
// is all of them.
//
// No more than kMostSteps are ever written in a row: compilers take half a millisecond for each, and loops of so many
// cost nothing.
#pragma once

#include "ir/stmt.h"

namespace hone::lower {

inline constexpr char kUnrollPragma[] = "unroll";  // value: how often; the backend's text says it before the loop
inline constexpr int64_t kMostSteps = 256;

ir::Stmt AutoUnroll(const ir::Stmt& body);

}  // namespace hone::lower

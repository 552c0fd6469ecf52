// Auto-unroll: decides which loops are unrolled, from the hints of a schedule (as in AutoTVM's templates).
//
// Runs after the passes that want one copy of a body, and before vectorize and unroll.
// - Inside a Pragma "auto_unroll_max_step" n, a serial loop of constant extent is unrolled, innermost first, if all
//   loops inside it are and it comes to at most n stores.
// - "unroll_explicit" 1 around it: unroll.h does it. 0 or none: the device's compiler does, told by a Pragma "unroll"
//   at the loop. Both hints are gone afterwards.
// - A Pragma "unroll" n of the schedule stays: n rounds at a time. No loop around it is unrolled unless n is all
//   rounds.
// - At most kMostSteps are ever written in a row: compilers take half a millisecond for each, and longer loops cost
//   nothing.
#pragma once

#include "ir/stmt.h"

namespace hone::lower {

inline constexpr char kUnrollPragma[] = "unroll";  // value: how often; the backend's text says it before the loop
inline constexpr int64_t kMostSteps = 256;

ir::Stmt AutoUnroll(const ir::Stmt& body);

}  // namespace hone::lower

// Prefetch: turns the hints that loop_nest left ("prefetch" Pragmas) into prefetches.
//
// Runs after unroll and vectorize, since only then the body shows what it touches. Each line of the tensor's buffer
// that the body loads or stores gets one prefetch, `distance` elements ahead. Loops inside the body count if their
// extents are constant; addresses that depend on other variables bound inside are ignored.
//
// The core has a limited number of fetches in flight. So a few lines are fetched at the head of the body; many, in at
// most four evenly spaced runs, are spread over the rounds of the body's outermost serial loops: the first one, and as
// many inside it as leave a few lines a round. Lines that the function writes are fetched for writing. A prefetch may
// leave the buffer, since it never faults. Bases are assumed to be aligned to lines; otherwise an occasional line is
// missed or fetched twice.
#pragma once

#include "ir/stmt.h"

namespace hone::lower {

ir::Stmt InjectPrefetches(const ir::Stmt& body);

}  // namespace hone::lower

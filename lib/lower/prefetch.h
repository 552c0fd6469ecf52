// Prefetch: the notes that loop_nest left ("prefetch" Pragmas) become prefetches.
//
// After unroll and vectorize, since only then the body shows what it touches: each line of the tensor's buffer that the
// body loads or stores gets one prefetch, `distance` elements ahead. Loops inside the body are gone through, if their
// extents are constant; what depends on anything else that is bound inside is left out. A few lines are fetched at the
// head of the body; many, in at most four evenly spaced runs, are spread over the rounds of the body's outermost serial
// loops (the first one, and as many inside it as leave a few lines a round), as the core has a limited number of
// fetches in flight. Lines that the function writes are asked for as its own. Prefetches need not stay inside the
// buffer: they never fault. Bases are taken to be aligned to lines; where they are not, an occasional line is missed or
// fetched twice.
#pragma once

#include "ir/stmt.h"

namespace hone::lower {

ir::Stmt InjectPrefetches(const ir::Stmt& body);

}  // namespace hone::lower

// Prefetch: the notes that loop_nest left ("prefetch" Pragmas) become prefetches.
//
// After unroll and vectorize, since only then the body shows which loads it has: each distinct load of the tensor's
// buffer whose index does not use a variable bound inside the body gets one prefetch, `distance` elements ahead, at the
// head of the body. Prefetches need not stay inside the buffer: they never fault.
#pragma once

#include "ir/stmt.h"

namespace hone::lower {

ir::Stmt InjectPrefetches(const ir::Stmt& body);

}  // namespace hone::lower

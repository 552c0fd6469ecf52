// Virtual threads: loops of kind vthread become copies of single statements.
//
// Right after loop_nest, while bodies are small, and before gpu_threads, which must not see a place where the block
// meets once for each of them. Virtual threads are threads that one thread plays, all of them a statement at a time:
// the loop goes inwards to the statements that depend on its variable, past loops, allocations and places where the
// block meets, and is unrolled there. A buffer that is allocated inside the loop and has other values in each virtual
// thread gets a copy for each.
#pragma once

#include "base/result.h"
#include "ir/stmt.h"

namespace hone::lower {

// kInvalid if a virtual thread's extent is not constant or above kMaxVThreads.
inline constexpr int64_t kMaxVThreads = 256;
Result<ir::Stmt> SpreadVThreads(const ir::Stmt& body);

}  // namespace hone::lower

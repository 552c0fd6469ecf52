// Virtual threads: loops of kind vthread become copies of single statements.
//
// Runs right after loop_nest, while bodies are small, and before gpu_threads, which must see each place where the block
// meets only once. One thread runs all of its virtual threads, statement by statement. So the loop moves inwards, past
// loops, allocations and places where the block meets, to the statements that depend on its variable, and is unrolled
// there. A buffer that is allocated inside the loop and has other values in each virtual thread gets a copy for each.
#pragma once

#include "base/result.h"
#include "ir/stmt.h"

namespace hone::lower {

// kInvalid if a virtual thread's extent is not constant or above kMaxVThreads.
inline constexpr int64_t kMaxVThreads = 256;
Result<ir::Stmt> SpreadVThreads(const ir::Stmt& body);

}  // namespace hone::lower

// Storage: the last pass. It guarantees to back ends that a register buffer is accessed only at constant indices.
//
// After unroll, which decides that: a register buffer with any other access becomes scratch. Sizes are checked here
// too.
#pragma once

#include "base/result.h"
#include "ir/stmt.h"

namespace hone::lower {

inline constexpr int64_t kMaxLocalBytes = int64_t{1} << 34;

// kInvalid if the buffers that are allocated take more than kMaxLocalBytes together.
Result<ir::Stmt> AssignStorage(const ir::Stmt& body);

}  // namespace hone::lower

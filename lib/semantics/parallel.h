// Calls body(0) .. body(count - 1), distributed over threads. Stops early once Interrupted().
#pragma once

#include <cstdint>
#include <functional>

namespace hone::semantics {

void ParallelFor(int64_t count, int threads, const std::function<void(int64_t)>& body);

}  // namespace hone::semantics

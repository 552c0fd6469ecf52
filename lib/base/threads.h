// Work that several threads share.
#pragma once

#include <cstdint>
#include <functional>

namespace hone {

// Calls `work` in `count` threads, one of them the caller, and returns when all have ended. If the system refuses
// threads, fewer do the work; hence `work` takes the next item from a common counter.
void RunInThreads(int64_t count, const std::function<void()>& work);

}  // namespace hone

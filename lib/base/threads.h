// Work that several threads share, and the stack that work needs.
#pragma once

#include <cstdint>
#include <functional>

#include "base/status.h"

namespace hone {

// Calls `work` in `count` threads, one of them the caller, and returns when all have ended. If the system refuses
// threads, fewer do the work; hence `work` takes the next item from a common counter.
void RunInThreads(int64_t count, const std::function<void()>& work);

// Raises this process's limit on the stack, and that of the programs it starts, to the usual one as far as it may.
// Returns kIo if that is too little: code generation would end by a signal, which looks like a fault of its input.
Status EnsureStack();

}  // namespace hone

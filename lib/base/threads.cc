#include "base/threads.h"

#include <sys/resource.h>

#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

namespace hone {

constexpr rlim_t kUsualStack = 8 << 20, kLeastStack = 1 << 20;

void RunInThreads(int64_t count, const std::function<void()>& work) {
  std::vector<std::jthread> others;
  try {
    for (int64_t i = 1; i < count; ++i) others.emplace_back(work);
  } catch (const std::system_error&) {
  }
  work();
}

Status EnsureStack() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kUsualStack) return Status();
  limit.rlim_cur = std::min(limit.rlim_max, kUsualStack);
  (void)setrlimit(RLIMIT_STACK, &limit);
  if (limit.rlim_cur >= kLeastStack) return Status();
  return Status::Io("the limit on the stack is {} KB; raise it (ulimit -s) to at least {} KB", limit.rlim_cur >> 10,
                    kLeastStack >> 10);
}

}  // namespace hone

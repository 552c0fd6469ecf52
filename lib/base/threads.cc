#include "base/threads.h"

#include <system_error>
#include <thread>
#include <vector>

namespace hone {

void RunInThreads(int64_t count, const std::function<void()>& work) {
  std::vector<std::jthread> others;
  try {
    for (int64_t i = 1; i < count; ++i) others.emplace_back(work);
  } catch (const std::system_error&) {
  }
  work();
}

}  // namespace hone

#include "semantics/parallel.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "base/interrupt.h"

namespace hone::semantics {

void ParallelFor(int64_t count, int threads, const std::function<void(int64_t)>& body) {
  const int workers = static_cast<int>(std::min<int64_t>(threads, count));
  auto run = [&](int worker) {
    for (int64_t i = worker; i < count && !Interrupted(); i += workers) body(i);
  };
  std::vector<std::thread> pool;
  for (int worker = 1; worker < workers; ++worker) pool.emplace_back(run, worker);
  if (workers > 0) run(0);
  for (std::thread& thread : pool) thread.join();
}

}  // namespace hone::semantics

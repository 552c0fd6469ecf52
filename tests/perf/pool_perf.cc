// What one fork and join of the thread pool costs: an empty parallel loop, timed in blocks of 100.
//
//   pool_perf [threads [seconds]]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "runtime/host/thread_pool.h"

namespace {

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

int main(int argc, char** argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 2;
  double seconds = argc > 2 ? std::atof(argv[2]) : 1;
  auto pool = hone::runtime::ThreadPool::Create(threads, true);
  if (!pool.ok()) {
    fmt::print(stderr, "pool_perf: {}\n", pool.status().message());
    return 1;
  }
  constexpr int kBlock = 100;
  std::vector<double> samples;
  double start = Now();
  while (Now() - start < seconds) {
    double before = Now();
    for (int i = 0; i < kBlock; ++i) {
      hone_pool_launch(pool->get(), [](void*, int64_t, int64_t, char*) {}, nullptr, threads);
    }
    samples.push_back((Now() - before) / kBlock * 1e9);
  }
  std::sort(samples.begin(), samples.end());
  auto at = [&](double share) { return samples[static_cast<size_t>(share * static_cast<double>(samples.size() - 1))]; };
  fmt::print("fork and join of {} threads: min {:.0f} ns, median {:.0f} ns, p90 {:.0f} ns ({} blocks of {})\n", threads,
             at(0), at(0.5), at(0.9), samples.size(), kBlock);
  return 0;
}

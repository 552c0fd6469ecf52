#include "runtime/host/peak.h"

#include <algorithm>
#include <cstdint>

#include "base/clock.h"
#include "runtime/host/thread_pool.h"

namespace hone::runtime {
namespace {

// 12 chains hide a latency of 4 to 6 cycles on 2 units and fit into 16 registers.
constexpr int kChains = 12;

#if defined(__x86_64__)
#define HONE_CHAINS(op, reg)                                                                                          \
  op " %%" reg "12, %%" reg "13, %%" reg "0\n" op " %%" reg "12, %%" reg "13, %%" reg "1\n" op " %%" reg "12, %%" reg \
     "13, %%" reg "2\n" op " %%" reg "12, %%" reg "13, %%" reg "3\n" op " %%" reg "12, %%" reg "13, %%" reg "4\n" op  \
     " %%" reg "12, %%" reg "13, %%" reg "5\n" op " %%" reg "12, %%" reg "13, %%" reg "6\n" op " %%" reg "12, %%" reg \
     "13, %%" reg "7\n" op " %%" reg "12, %%" reg "13, %%" reg "8\n" op " %%" reg "12, %%" reg "13, %%" reg "9\n" op  \
     " %%" reg "12, %%" reg "13, %%" reg "10\n" op " %%" reg "12, %%" reg "13, %%" reg "11\n"
#define HONE_CLOBBERS \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13"

// Starts from zeros: denormals or infinities would cost on some CPUs. In assembly, as a compiler would fold it all.
__attribute__((target("avx512f"))) void Run512(int64_t rounds) {
  __asm__ volatile("vzeroall" ::: HONE_CLOBBERS);
  for (; rounds > 0; --rounds) __asm__ volatile(HONE_CHAINS("vfmadd231ps", "zmm")::: HONE_CLOBBERS);
}
__attribute__((target("avx2,fma"))) void Run256(int64_t rounds) {
  __asm__ volatile("vzeroall" ::: HONE_CLOBBERS);
  for (; rounds > 0; --rounds) __asm__ volatile(HONE_CHAINS("vfmadd231ps", "ymm")::: HONE_CLOBBERS);
}
#undef HONE_CHAINS
#undef HONE_CLOBBERS
#endif

void RunPlain(int64_t rounds) {
  float x[kChains][4] = {};
  volatile float source = 0.5F;
  float factor = source;
  for (; rounds > 0; --rounds) {
    for (auto& chain : x) {
      for (float& lane : chain) lane = lane * factor + factor;
    }
  }
  float sum = 0;
  for (auto& chain : x) {
    for (float lane : chain) sum += lane;
  }
  source = sum;
}

struct Loop {
  void (*run)(int64_t rounds) = RunPlain;
  int lanes = 4;
};

Loop WidestLoop() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {Run512, 16};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {Run256, 8};
#endif
  return {};
}

struct Work {
  Loop loop;
  int64_t rounds;
};

void Body(void* closure, int64_t begin, int64_t end, char*) {
  auto* work = static_cast<Work*>(closure);
  for (int64_t i = begin; i < end; ++i) work->loop.run(work->rounds);
}

}  // namespace

double MeasureFmaPeak(int threads, double seconds) {
  Result<ThreadPool> pool = ThreadPool::Create(threads, true);
  return pool.ok() ? MeasureFmaPeak(&*pool, seconds) : 0;
}

namespace {

// The best rate, in FLOP/s, of many short calls of `run`, each of which works through `work` on `threads` threads.
template <typename Run>
double BestRate(const Work& work, int threads, double seconds, const Run& run) {
  Clock* clock = RealClock();
  const double flop = 2.0 * kChains * work.loop.lanes * static_cast<double>(work.rounds) * threads;
  double best = 0;
  const double start = clock->NowSeconds();
  double now = start;
  // One call alone may fall into a standstill of the machine that is longer than `seconds`.
  for (int calls = 0; calls < 2 || now - start < seconds; ++calls) {
    const double before = now;
    run();
    now = clock->NowSeconds();
    best = std::max(best, flop / (now - before));
  }
  return best;
}

// About 0.1 ms: short enough to fall between interruptions.
constexpr int64_t kRounds = 20000;

}  // namespace

double MeasureFmaPeak(ThreadPool* pool, double seconds) {
  Work work{WidestLoop(), kRounds};
  const int threads = pool->threads();
  return BestRate(work, threads, seconds, [&] { hone_pool_launch(pool->get(), Body, &work, threads); });
}

double MeasureFmaBound(int threads, double seconds) {
  const Work work{WidestLoop(), kRounds};
  return threads * BestRate(work, 1, seconds, [&] { work.loop.run(work.rounds); });
}

}  // namespace hone::runtime

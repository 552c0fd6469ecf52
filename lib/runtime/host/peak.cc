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
// Applies `op` to register `to` of kind `reg`, with two other registers as operands that nothing writes.
#define HONE_OP(op, reg, to) op " %%" reg "14, %%" reg "15, %%" reg #to "\n"
#define HONE_ADD(reg, to) "vaddps %%" reg "14, %%" reg #to ", %%" reg #to "\n"
#define HONE_FMA(reg, to) HONE_OP("vfmadd231ps", reg, to)
#define HONE_FMAS(reg)                                                                                  \
  HONE_FMA(reg, 0)                                                                                      \
  HONE_FMA(reg, 1) HONE_FMA(reg, 2) HONE_FMA(reg, 3) HONE_FMA(reg, 4) HONE_FMA(reg, 5) HONE_FMA(reg, 6) \
      HONE_FMA(reg, 7) HONE_FMA(reg, 8) HONE_FMA(reg, 9) HONE_FMA(reg, 10) HONE_FMA(reg, 11)
#define HONE_PAIR(reg, fma, add) HONE_FMA(reg, fma) HONE_ADD(reg, add)
#define HONE_PAIRS(reg)                                                                                       \
  HONE_PAIR(reg, 0, 7)                                                                                        \
  HONE_PAIR(reg, 1, 8) HONE_PAIR(reg, 2, 9) HONE_PAIR(reg, 3, 10) HONE_PAIR(reg, 4, 11) HONE_PAIR(reg, 5, 12) \
      HONE_PAIR(reg, 6, 13)
#define HONE_CLOBBERS                                                                                                 \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", \
      "xmm14", "xmm15"

// Starts from zeros, as denormals or infinities are slow on some CPUs. In assembly, as a compiler would fold
// everything.
#define HONE_LOOP(name, features, text)                                    \
  __attribute__((target(features))) void name(int64_t rounds) {            \
    __asm__ volatile("vzeroall" ::: HONE_CLOBBERS);                        \
    for (; rounds > 0; --rounds) __asm__ volatile(text ::: HONE_CLOBBERS); \
  }
HONE_LOOP(Fma512, "avx512f", HONE_FMAS("zmm"))
HONE_LOOP(Fma256, "avx2,fma", HONE_FMAS("ymm"))
HONE_LOOP(Pairs512, "avx512f", HONE_PAIRS("zmm"))
HONE_LOOP(Pairs256, "avx2,fma", HONE_PAIRS("ymm"))
#undef HONE_LOOP
#undef HONE_CLOBBERS
#undef HONE_PAIRS
#undef HONE_PAIR
#undef HONE_FMAS
#undef HONE_FMA
#undef HONE_ADD
#undef HONE_OP
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
  void (*run)(int64_t rounds);
  int flop;  // in one round
};

constexpr int kPairs = 7;

// A loop of multiply-adds alone, and one with as many additions beside them.
struct Loops {
  Loop fma, pairs;
};

Loops WidestLoops() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {{Fma512, 16 * 2 * kChains}, {Pairs512, 16 * 3 * kPairs}};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {{Fma256, 8 * 2 * kChains}, {Pairs256, 8 * 3 * kPairs}};
  }
#endif
  const Loop plain{RunPlain, 4 * 2 * kChains};
  return {plain, plain};
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

// The best rate, in FLOP/s, of many short calls of `run`, each of which does `work` on `threads` threads.
template <typename Run>
double BestRate(const Work& work, int threads, double seconds, const Run& run) {
  Clock* clock = RealClock();
  const double flop = static_cast<double>(work.loop.flop) * static_cast<double>(work.rounds) * threads;
  double best = 0;
  const double start = clock->NowSeconds();
  double now = start;
  // At least two calls: the machine may stall for longer than `seconds` during one.
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
  Work work{WidestLoops().fma, kRounds};
  const int threads = pool->threads();
  return BestRate(work, threads, seconds, [&] { hone_pool_launch(pool->get(), Body, &work, threads); });
}

double MeasureArithmeticBound(int threads, double seconds) {
  const Loops loops = WidestLoops();
  double best = 0;
  for (const Loop& loop : {loops.fma, loops.pairs}) {
    const Work work{loop, kRounds};
    best = std::max(best, BestRate(work, 1, seconds / 2, [&] { work.loop.run(work.rounds); }));
  }
  return threads * best;
}

}  // namespace hone::runtime

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
// `op`, with registers of kind `reg`, twelve times.
#define HONE_TWELVE(op, reg)                                                                                     \
  HONE_OP(op, reg, 0)                                                                                            \
  HONE_OP(op, reg, 1) HONE_OP(op, reg, 2) HONE_OP(op, reg, 3) HONE_OP(op, reg, 4) HONE_OP(op, reg, 5)            \
  HONE_OP(op, reg, 6) HONE_OP(op, reg, 7) HONE_OP(op, reg, 8) HONE_OP(op, reg, 9) HONE_OP(op, reg, 10)           \
  HONE_OP(op, reg, 11)
#define HONE_FMA(reg, to) HONE_OP("vfmadd231ps", reg, to)
#define HONE_PAIR(reg, fma, add) HONE_FMA(reg, fma) HONE_ADD(reg, add)
#define HONE_PAIRS(reg) \
  HONE_PAIR(reg, 0, 7)  \
  HONE_PAIR(reg, 1, 8)  \
  HONE_PAIR(reg, 2, 9) HONE_PAIR(reg, 3, 10) HONE_PAIR(reg, 4, 11) HONE_PAIR(reg, 5, 12) HONE_PAIR(reg, 6, 13)
// Two products of 16 bits and their sum, and its addition to another.
#define HONE_WORD(reg, product, sum) HONE_OP("vpmaddwd", reg, product) HONE_OP("vpaddd", reg, sum)
#define HONE_WORDS(reg) \
  HONE_WORD(reg, 0, 6)  \
  HONE_WORD(reg, 1, 7) HONE_WORD(reg, 2, 8) HONE_WORD(reg, 3, 9) HONE_WORD(reg, 4, 10) HONE_WORD(reg, 5, 11)
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
HONE_LOOP(Fma512, "avx512f", HONE_TWELVE("vfmadd231ps", "zmm"))
HONE_LOOP(Fma256, "avx2,fma", HONE_TWELVE("vfmadd231ps", "ymm"))
HONE_LOOP(Pairs512, "avx512f", HONE_PAIRS("zmm"))
HONE_LOOP(Pairs256, "avx2,fma", HONE_PAIRS("ymm"))
HONE_LOOP(Dots512, "avx512f,avx512vnni", HONE_TWELVE("vpdpbusd", "zmm"))
HONE_LOOP(Words512, "avx512f,avx512bw", HONE_WORDS("zmm"))
HONE_LOOP(Words256, "avx2", HONE_WORDS("ymm"))
HONE_LOOP(Dots256, "avx2", HONE_TWELVE("%{vex%} vpdpbusd", "ymm"))
#undef HONE_LOOP
#undef HONE_CLOBBERS
#undef HONE_WORDS
#undef HONE_WORD
#undef HONE_PAIRS
#undef HONE_PAIR
#undef HONE_FMA
#undef HONE_ADD
#undef HONE_TWELVE
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

constexpr int kPairs = 7, kWords = 6;

// A loop of multiply-adds alone, and one with as many additions beside them.
struct Loops {
  Loop fma, pairs;
};

// The best exact products of bytes; without a function if there is no loop for the CPU.
Loop ByteLoop() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512vnni")) return {Dots512, 16 * 8 * kChains};
  if (__builtin_cpu_supports("avxvnni")) return {Dots256, 8 * 8 * kChains};
  if (__builtin_cpu_supports("avx512bw")) return {Words512, 16 * 4 * kWords};
  if (__builtin_cpu_supports("avx2")) return {Words256, 8 * 4 * kWords};
#endif
  return {nullptr, 0};
}

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

static double Measure(const Loop& loop, ThreadPool* pool, double seconds) {
  Work work{loop, kRounds};
  const int threads = pool->threads();
  return BestRate(work, threads, seconds, [&] { hone_pool_launch(pool->get(), Body, &work, threads); });
}

static double MeasureAlone(const Loop& loop, double seconds) {
  const Work work{loop, kRounds};
  return BestRate(work, 1, seconds, [&] { work.loop.run(work.rounds); });
}

double MeasureFmaPeak(ThreadPool* pool, double seconds) { return Measure(WidestLoops().fma, pool, seconds); }

double MeasureDot4Peak(int threads, double seconds) {
  Result<ThreadPool> pool = ThreadPool::Create(threads, true);
  return pool.ok() ? MeasureDot4Peak(&*pool, seconds) : 0;
}

double MeasureDot4Peak(ThreadPool* pool, double seconds) {
  const Loop loop = ByteLoop();
  return loop.run == nullptr ? 0 : Measure(loop, pool, seconds);
}

double MeasureDot4Bound(int threads, double seconds) {
  const Loop loop = ByteLoop();
  return loop.run == nullptr ? 0 : threads * MeasureAlone(loop, seconds);
}

double MeasureArithmeticBound(int threads, double seconds) {
  const Loops loops = WidestLoops();
  double best = 0;
  for (const Loop& loop : {loops.fma, loops.pairs}) best = std::max(best, MeasureAlone(loop, seconds / 2));
  return threads * best;
}

}  // namespace hone::runtime

// The machine code of kernels for NVIDIA GPUs, as nvdisasm or cuobjdump print it: the steady loop, what it consists of,
// and the share of a multiprocessor's peak that its instructions allow. For tests and tests/perf/gpu_compile: neither
// program is needed to tune or to build.
//
// The port model. A multiprocessor has four partitions. A loop's cycles on one are those of its busiest port; latencies
// and barriers count nothing, so the share is an upper bound. Cycles of an instruction of a warp:
//
//   port    instructions                   sm_80  sm_86, sm_89  sm_90  source
//   issue   all                            1      1             1      four schedulers a multiprocessor, one warp each
//   fma     f32 multiply and add           2      1             1      [1]: 64, 128, 128 results a clock
//   fma     IMAD                           2      1             1      [1]: 64 a clock, on half of the lanes from sm_86
//   alu     other integer, compare, move   2      2             2      [1]: 64 results a clock
//   mma     m16n8k8 in TF32                8      16            6.4    [2], [3]: 512, 256, 1024 products a clock; [4]
//   lsu     128 bytes to or from L1        4      4             4      [1]: 32 banks of 4 bytes, for all partitions
//
// [1] CUDA C++ Programming Guide, throughput of native arithmetic instructions, and shared memory
// [2] NVIDIA A100 and GA102 whitepapers, dense TF32
// [3] NVIDIA H100 whitepaper: 4 cycles, which only wgmma reaches
// [4] Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via Microbenchmarking", 2024: mma
//     reaches 62 % of Hopper's peak
//
// An access of 4 or 8 bytes a thread counts as 128 bytes, one of 16 as 256: neighbours usually share addresses or are
// contiguous, which the code does not show.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "target/artifact.h"
#include "target/target.h"

namespace hone::agree {

struct SassInstruction {
  int64_t address = 0;
  std::string predicate;  // "!P0"; empty: always
  std::string opcode;     // with its suffixes: "LDS.128"
  std::vector<std::string> operands;
  int64_t target = -1;  // of a branch: index of the instruction; -1: no branch, or out of the kernel
};
using SassCode = std::vector<SassInstruction>;

// The kernels by name. Understands what nvdisasm -c and cuobjdump -sass print.
std::map<std::string, SassCode> ParseSass(const std::string& text);

enum class SassKind { kFma, kMma, kFloat, kInteger, kUniform, kShared, kGlobal, kBarrier, kControl };
SassKind KindOfSass(const SassInstruction& instruction);

// How often one thread executes each instruction. Clears *known if a branch back depends on what is not known.
std::vector<double> ExecutedTimes(const SassCode& code, bool* known);

// A loop, or a whole kernel without one. Instructions are counted as one thread executes them, per trip of the loop, by
// following the code with the values that are known before it runs: an unknown condition skips nothing.
struct SassLoop {
  int64_t begin = 0, end = 0;  // indices, the end excluded
  double trips = 0;
  std::map<SassKind, double> counts = {};
  double cycles[5] = {};  // of the ports issue, fma, alu, mma, lsu
  // For all that the thread executes: cycles of the busiest port, and FMA. An mma counts as 32 (its warp has 1,024).
  double whole_cycles = 0, whole_fma = 0;
  bool known = true;  // false: the end of a loop depends on what is not known; figures are too low

  double Count(SassKind kind) const;
  double Cycles() const;                // of the busiest port
  const char* Port() const;             // its name
  double IntegerPer(double fma) const;  // integer instructions for each mma or, without any, for so many FMA
};
// The outermost loop with most FMA or MMA instructions.
SassLoop SteadyLoop(const SassCode& code, int arch);
// The share of the peak of f32 FMA, or of dense TF32 if the loop has MMA, while the loop runs.
double LoopShare(const SassLoop& loop, int arch);

// How many blocks a multiprocessor holds.
int64_t ResidentBlocks(int arch, int64_t threads, int64_t registers, int64_t shared_bytes);
// As LoopShare for a whole launch: with what precedes and follows the loop, without work in padding, and with
// multiprocessors that have fewer blocks than others. 0 if the loop is not known. `flop`: useful operations.
double KernelShare(const SassLoop& loop, int arch, const Launch& launch, double flop, int64_t multiprocessors);

// Disassembles a cubin. Returns kNotFound, with what to install, without a disassembler.
Result<std::map<std::string, SassCode>> Disassemble(const std::string& cubin);

}  // namespace hone::agree

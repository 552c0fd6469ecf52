// The resources that a schedule needs on a GPU, in closed form from the knobs, and whether that is legal. One rule,
// "device", whose reasons begin with the name of the limit: threads_x, threads_y, threads_z, threads, warp, grid_x,
// grid_y, grid_z, shared_memory, registers, registers_per_block, vthreads, code.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "search/space/space.h"
#include "target/target.h"

namespace hone::search {

struct GpuUse {
  int64_t threads[3] = {1, 1, 1};  // x, y, z
  int64_t blocks[3] = {1, 1, 1};
  int64_t shared_bytes = 0;
  int64_t registers = 0;        // a thread's; estimates that 9 of 10 kernels stay within (tests/perf/gpu_compile.cc)
  int64_t other_registers = 0;  // of additional kernels with small blocks of their own
  int64_t vthreads = 1;
  int64_t body = 1;  // unrolled multiply-adds in the innermost remaining loop
  double reuse = 1;  // operations per value read from shared memory: only for choosing a default

  int64_t Threads() const { return threads[0] * threads[1] * threads[2]; }
  int64_t Blocks() const { return blocks[0] * blocks[1] * blocks[2]; }
  int64_t MostRegisters() const { return registers > other_registers ? registers : other_registers; }
};
inline constexpr int64_t kOtherRegisters = 36;  // indices, addresses, values in flight
// Registers of a thread that sums a tile of a x b products, `unroll` iterations in a row, with `fetched` values waiting
// for the next step. Registers are allocated in units of eight. Fitted to NVRTC 13.0's cubins of sm_75 to sm_90.
int64_t TileRegisters(int64_t a, int64_t b, int64_t unroll, int64_t fetched);
// Products of such a tile per value read for it: GpuUse::reuse.
double TileReuse(int64_t a, int64_t b);
// Virtual threads are copies of code.
inline constexpr int64_t kMostVThreads = 64;
// Compilers take half a millisecond for each, and a loop around this many costs nothing.
inline constexpr int64_t kMostBody = 128;
// The effective maximum of AutoTVM's unroll knobs: lower/auto_unroll.cc stops there.
inline constexpr int64_t kMostUnrolled = 256;

// The first violated limit: "shared_memory: 65536 bytes, the device has 49152"; nothing if all hold.
std::optional<std::string> ExceedsDevice(const GpuUse& use, const DeviceLimits& limits);

using GpuUseOf = std::function<GpuUse(const Config&)>;
// The rule "device".
Rule DeviceRule(const Target& target, GpuUseOf use);

// Restricts drawing to points with legal threads: `knobs` are split knobs whose part `part` is their share of the
// threads, along x, y and z. Each such point is equally likely; the rules then reject the rest. REQUIRES: at most three
// knobs.
void SampleByThreads(const std::vector<std::string>& knobs, size_t part, const DeviceLimits& limits, Space* space);

// The best of some legal points, deterministically: many threads, little traffic. Returns kInvalid if it finds no legal
// point.
Result<Config> GpuDefault(const Space& space, const Target& target, const GpuUseOf& use);

}  // namespace hone::search

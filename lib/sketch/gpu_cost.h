// Estimates for rules for GPUs: the time of a kernel, and the registers of its threads.
#pragma once

#include <cstdint>
#include <vector>

#include "target/device_limits.h"

namespace hone::sketch {

inline constexpr double kSector = 8;  // floats that global memory delivers at once

struct KernelWork {
  double threads = 1, block = 1;  // in all, and of a block
  double operations = 1;          // of a thread, without its indices
  double rounds = 1;              // of a thread that wait for memory one after the other
  double bytes = 0;               // of global memory, read and written by all threads together
  double shared = 0;              // of shared memory, read by a thread
  double meetings = 0;            // barriers
};

// Adds up the kernels of a point. The machine: multiprocessors of 128 lanes and 32 bytes a cycle of shared memory, 10
// bytes of global memory a cycle and multiprocessor, and 400 cycles until they arrive. The numbers are those of current
// data centre GPUs, rounded.
class GpuCost {
 public:
  explicit GpuCost(const DeviceLimits& limits) : limits_(limits) {}

  void Add(const KernelWork& work);
  // As Sketch::cost: the logarithm of the cycles, then log(1 + part) of arithmetic, memory, waiting and launches
  // relative to the longest of the first two.
  std::vector<double> Estimate() const;

 private:
  const DeviceLimits& limits_;
  double cycles_ = 0, arithmetic_ = 0, memory_ = 0, waiting_ = 0, launches_ = 0;
};

// Registers of a thread of a block of `threads`, which computes `values` values at once and a reduction in `steps`
// steps (0 without one). Compilers unroll up to 32 steps and load ahead, within what a block has.
int64_t KernelRegisters(double values, int64_t steps, int64_t threads, const DeviceLimits& limits);

}  // namespace hone::sketch

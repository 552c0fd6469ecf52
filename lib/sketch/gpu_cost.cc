#include "sketch/gpu_cost.h"

#include <algorithm>
#include <cmath>

#include "base/integers.h"

namespace hone::sketch {

void GpuCost::Add(const KernelWork& work) {
  constexpr double kLanes = 128, kBytes = 10, kShared = 128, kWait = 400, kMeeting = 30, kLaunch = 3000;
  constexpr double kIndices = 16, kStart = 300;  // operations of a thread besides, and cycles of a wave
  constexpr double kBlock = 40;                  // cycles to start a block
  constexpr double kResident = 1024;             // threads of a multiprocessor that hide each other's waiting
  const double units = static_cast<double>(limits_.multiprocessors);
  const double blocks = std::ceil(work.threads / work.block);
  // Blocks run in waves; the last one may be short.
  const double at_once = std::max(1.0, std::floor(kResident / work.block)) * units;
  const double busy = std::min(blocks, units);
  const double waves = std::ceil(blocks / at_once);
  const double uneven = blocks > units ? std::ceil(blocks / units) * units / blocks : 1;
  const double warps = RoundUp(static_cast<int64_t>(work.block), limits_.warp_size);
  const double arithmetic = blocks * warps * (work.operations + kIndices) / kLanes / busy * uneven +
                            blocks * (work.block * work.shared / kShared + kBlock) / busy * uneven;
  // Few threads do not use all of the bandwidth.
  const double share = std::min(1.0, work.threads / (256 * units));
  const double memory = work.bytes / kBytes / units / std::max(share, 1 / units);
  const double waiting = waves * (work.rounds * kWait / 4 + work.meetings * kMeeting + kStart);
  const double cycles = std::max({arithmetic, memory, waiting}) + 0.2 * (arithmetic + memory + waiting);
  cycles_ += cycles + kLaunch;
  arithmetic_ += arithmetic, memory_ += memory, waiting_ += waiting, launches_ += kLaunch;
}

std::vector<double> GpuCost::Estimate() const {
  const double longest = std::max({arithmetic_, memory_, 1.0});
  const auto share = [&](double part) { return std::log1p(part / longest); };
  return {std::log(cycles_), share(arithmetic_), share(memory_), share(waiting_), share(launches_)};
}

int64_t KernelRegisters(double values, int64_t steps, int64_t threads, const DeviceLimits& limits) {
  const double ahead = steps > 0 ? 16 + 2 * std::min(static_cast<double>(steps), 32.0) : 0;
  const int64_t needed = RoundUp(static_cast<int64_t>(28 + std::min(values, 32.0) + ahead), 8);
  const int64_t most = limits.registers_per_block / std::max<int64_t>(threads, 1) / 8 * 8;
  return std::min({needed, std::max<int64_t>(most, 24), limits.registers_per_thread});
}

}  // namespace hone::sketch

// The parts of the rule `gpu_sums` (gpu_sums.h): the roles that it gives to a sum's axes, a point of its decisions, and
// lines. Internal to it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sketch/sketch.h"
#include "sketch/sum_nest.h"
#include "target/device_limits.h"

namespace hone::sketch {

struct GpuSums {
  SumNest nest;
  DeviceLimits limits;
  std::array<std::optional<size_t>, 3> tiled;  // the axes of x, y and z; x is always there
  std::vector<size_t> others;                  // the other axes of the output: each block has one index
  std::vector<size_t> channels, window;        // of the reduction; the last of `channels` is divided into steps

  int64_t Extent(size_t axis) const { return nest.axes[axis].extent; }
  const std::string& Name(size_t axis) const { return nest.axes[axis].var.name(); }
  int64_t Storing() const {
    return std::min<int64_t>(128, limits.max_threads_per_block);
  }  // threads that store a source
  // The tensors that the sum reads, each once.
  std::vector<const SumRead*> Tensors() const;
};

// Nothing if the rule does not apply.
std::optional<GpuSums> GpuSumsOf(const te::Tensor& out, const std::vector<std::string>& constants,
                                 const DeviceLimits& limits);

// The share of a tiled axis: `spread` parts that are a block of threads apart, of `threads` with `own` values each.
struct AxisShare {
  int64_t spread = 1, threads = 1, own = 1;
  int64_t mine() const { return spread * own; }
  int64_t whole() const { return mine() * threads; }
};

struct GpuSumPoint {
  std::array<AxisShare, 3> shares;
  int64_t step = 1, unroll = 1, stages = 1;
  bool shared = true, padded = false, window_inside = true;

  static GpuSumPoint Of(const Config& config);
  int64_t Threads() const { return shares[0].threads * shares[1].threads * shares[2].threads; }
  int64_t Rounds(const GpuSums& sums) const;  // of fetching
  // Elements of a tensor that a block's step reads, as a box.
  int64_t Fetched(const GpuSums& sums, const SumRead& read) const;
};

inline constexpr char kThreadAxes[] = "xyz";

// REQUIRES: the sketch has its decisions.
void AddGpuSumLines(const GpuSums& sums, Sketch* sketch);

}  // namespace hone::sketch

// The parts of the rule `gpu_sums` (gpu_sums.h): the roles that it gives to a sum's axes, a point of its decisions,
// costs and lines. Internal to it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "search/space/gpu_use.h"
#include "sketch/decision_reader.h"
#include "sketch/sketch.h"
#include "sketch/sum_nest.h"
#include "target/device_limits.h"

namespace hone::sketch {

// A tensor that the sum reads.
struct GpuSumInput {
  SumRead read;  // the first one
  // The order of a constant's dimensions in which neighbouring threads read neighbouring values. Empty: its own order.
  std::vector<size_t> order;
  size_t last = 0;  // the dimension whose elements lie side by side
};

struct GpuSums {
  SumNest nest;
  DeviceLimits limits;
  std::array<std::optional<size_t>, 3> tiled;  // the axes of x, y and z; x is always there
  std::vector<size_t> others;                  // the other axes of the output: each block has one index
  std::vector<size_t> channels, window;        // of the reduction; the last of `channels` is divided into steps
  std::vector<GpuSumInput> inputs;

  int64_t Extent(size_t axis) const { return nest.axes[axis].extent; }
  const std::string& Name(size_t axis) const { return nest.axes[axis].var.name(); }
  int64_t Depth() const { return Extent(channels.back()); }
  // Threads of a block that stores a source, or adds up parts.
  int64_t Storing() const { return std::min<int64_t>(128, limits.max_threads_per_block); }
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
  bool divided = false;  // the reduction, into parts of this many steps
  int64_t part = 1;

  int64_t Threads() const { return shares[0].threads * shares[1].threads * shares[2].threads; }
  int64_t Rows() const { return shares[1].mine(); }  // of a thread's tile
  int64_t Columns() const { return shares[0].mine() * shares[2].mine(); }
  int64_t Parts(const GpuSums& sums) const { return divided ? sums.Depth() / (step * part) : 1; }
  int64_t Rounds(const GpuSums& sums) const;  // of fetching, for a block
  // The box of each input that a block reads in a step: its elements, and how many of them lie side by side.
  struct Box {
    int64_t elements = 1, run = 1;
  };
  std::vector<Box> Fetched(const GpuSums& sums) const;
};

// Reads points of one space.
class GpuSumReader {
 public:
  explicit GpuSumReader(const std::vector<search::Knob>& decisions);
  GpuSumPoint Read(const Config& config) const;

 private:
  DecisionReader<16> reader_;
};

search::GpuUse GpuSumUse(const GpuSums& sums, const GpuSumPoint& point);
// As Sketch::cost.
std::vector<double> GpuSumCost(const GpuSums& sums, const GpuSumPoint& point);

inline constexpr char kThreadAxes[] = "xyz";

// REQUIRES: the sketch has its decisions.
void AddGpuSumLines(const GpuSums& sums, Sketch* sketch);

}  // namespace hone::sketch

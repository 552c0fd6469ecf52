// What the rule `sums` decides: the roles that it gives to a sum's axes, and a point of its decisions. Internal to
// sums.cc and sums_cost.cc.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "search/space/space.h"
#include "sketch/sum_nest.h"
#include "target/target.h"
#include "task/config.h"

namespace hone::sketch {

struct SumLoops {
  SumNest nest;
  size_t rows = 0;                      // the axis of a tile's rows
  std::optional<size_t> outer_rows;     // a second one, outside of it
  size_t vectors = 0;                   // the axis along which a tile has several vectors; may be the last one
  std::vector<size_t> others;           // the other axes of the output
  std::vector<size_t> channels, window; // reduce axes of more than one step; the last of `channels` is innermost
  // The read, no constant, whose vectors of successive steps lie in rows far apart: each is in another page, and many
  // share places in the caches. A tile's vectors may be copied into a panel first.
  std::optional<size_t> far;
  int64_t lanes = 1;
  int threads = 1, registers = 16;

  int64_t Extent(size_t axis) const { return nest.axes[axis].extent; }
  // Vectors along the axis `vectors`.
  int64_t VectorCount() const;
  int64_t VectorWidth() const { return vectors == nest.last() ? lanes : 1; }  // indices of that axis in a vector
  // The rows that tasks share.
  size_t block_axis() const { return outer_rows.value_or(rows); }
  int64_t OtherTasks() const;
  // Bytes from one vector of `far` to that of the next step.
  int64_t FarStride() const { return 4 * nest.reads[*far].tensor.shape().back(); }
  int64_t PanelBytes(int64_t tile_vectors) const { return 4 * nest.Steps() * tile_vectors * lanes; }
  // Bytes of the constants.
  int64_t ConstantBytes() const;
};

std::optional<SumLoops> SumLoopsOf(const te::Tensor& out, const std::vector<std::string>& constants,
                                   const Target& target);

enum class TileOrder { kRowsInside, kVectorsInside, kVectorsBetween };  // between the outer rows and the rows

// A point. Decisions that a sketch lacks have their neutral value.
struct SumPoint {
  int64_t rows = 1, outer_rows = 1, vectors = 1;    // of a tile
  int64_t block_rows = 1, block_vectors = 1;        // tiles of a task along its rows and vectors
  TileOrder order = TileOrder::kRowsInside;
  bool others_apart = true;                         // a task has one index of each other axis
  bool window_outside = true, taps = false;         // order of the reduction; taps: the window's last axis is unrolled
  int64_t unroll = 1;                               // steps of the last channel axis
  bool prefetch = false, copy_in_task = false;      // of constants; where the source is computed
  bool fetch = false, panel = false;

  int64_t BlockTile(const SumLoops& l) const { return l.outer_rows ? outer_rows : rows; }
  int64_t RowParts(const SumLoops& l) const;
  int64_t VectorParts(const SumLoops& l) const;
  int64_t Tasks(const SumLoops& l) const;
};

// Reads points of one space. Looks the places of the decisions up once, for rules that see a million points.
class SumReader {
 public:
  explicit SumReader(const std::vector<search::Knob>& decisions);
  SumPoint Read(const Config& config) const;

 private:
  static constexpr size_t kDecisions = 13;
  std::array<int, kDecisions> places_;  // -1: the space lacks it
};

// Of any config, whose decisions are found by name.
SumPoint SumPointOf(const Config& config);

// The busiest thread's work relative to the average.
double ImbalanceOf(const SumLoops& loops, const SumPoint& point);
// Cycles for the copy of the source.
double CopyCycles(const SumLoops& loops, const SumPoint& point);
// Cycles of the arithmetic alone, with full vectors and full tiles.
double IdealCycles(const SumLoops& loops);
// Cycles of all steps of all tiles on one core, without waiting for memory.
double TileCycles(const SumLoops& loops, const SumPoint& point);
// The estimate: as Sketch::cost.
std::vector<double> SumCost(const SumLoops& loops, const SumPoint& point);
// Loaded elements that are no vectors, in one step of a tile.
double BroadcastsOf(const SumLoops& loops, const SumPoint& point);
// The indices of each axis that one step of a tile covers.
std::vector<int64_t> TileCover(const SumLoops& loops, const SumPoint& point);

}  // namespace hone::sketch

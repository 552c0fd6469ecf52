// A sum between transforms, as in Winograd's convolution, as stages and roles of axes. Internal to the rule
// `transformed` (transformed.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sketch/sum_tiles.h"

namespace hone::sketch {

enum class AxisRole {
  kElement,  // an element of a tile, before or after a transform
  kTile,     // tiles
  kVectors,  // vectors of output channels
  kLane,     // the last axis
  kOther,    // input channels
};

struct TransformStage {
  te::Tensor tensor;
  std::vector<AxisRole> roles;  // of its axes
  std::vector<bool> picked;     // the index of this axis selects an expression, so its loop must be unrolled

  std::string Name(size_t axis) const { return tensor.node()->axes[axis].var.name(); }
  // The names of the axes with that role, outermost first.
  std::vector<std::string> Names(AxisRole role) const;
  std::vector<std::string> Elements(bool picked_ones) const;
};

// An axis of the output from which the number of a tile is made: index / size. The rest is a pixel of the tile.
struct TileDigit {
  size_t axis = 0;
  int64_t size = 1, coefficient = 1;
};

struct TransformedSum {
  SumLoops sum;  // its nest's output is the stage of the products, which copies the sums
  TransformStage products;
  std::vector<TransformStage> before;  // the sum's input, and the stages that it reads
  te::Tensor source;                   // a padded copy of the data, which the last of these reads; may be null
  std::vector<TransformStage> after;   // from the reader of the products to the output
  std::vector<TileDigit> digits;       // outermost first
  int64_t count = 0;                   // tiles that the output needs; the stages may have more

  const TransformStage& out() const { return after.back(); }
  // Whether the output takes its part from whole tiles: because some are partial, or to pool what lies in one.
  bool CopiesTiles() const;
  int64_t Tiles() const { return sum.Extent(sum.rows); }
  int64_t Vectors() const { return sum.Extent(sum.vectors); }
  int64_t Channels() const { return sum.nest.Steps(); }  // of the input
  int64_t Elements() const { return sum.OtherTasks(); }  // transformed elements of a tile
  int64_t Pixels() const;                                // values that a tile is transformed back to
  // The most elements along one axis.
  int64_t Longest() const;
  // Transforms with more elements go through memory between their two halves: registers cannot hold them, and loops
  // make a quarter of the code.
  bool Rolled() const { return Elements() > 16 && before.size() > 1; }
};

// Nothing unless the condition of the rule holds.
std::optional<TransformedSum> TransformedSumOf(const te::Tensor& out, const std::vector<std::string>& constants,
                                               const Target& target);

struct TransformPoint {
  int64_t rows = 1, vectors = 1;    // of a register tile
  int64_t block = 1, channels = 1;  // tiles and vectors of output channels of a task
  bool by_channel = false;          // products and outputs of a register tile's channels at a time
  int64_t unroll = 1;
  bool prefetch = false, far = false;

  static TransformPoint Of(const Config& config);  // REQUIRES: of the rule's decisions, in their order
};

// Values of the decision `block`.
std::vector<int64_t> TileBlocks(const TransformedSum& t);
// Adds the rules of legality, and the lines. REQUIRES: the sketch has its decisions.
void AddTransformedRules(const TransformedSum& t, Sketch* sketch);
void AddTransformedLines(const TransformedSum& t, Sketch* sketch);
// The estimate: as Sketch::cost.
std::vector<double> TransformedCost(const TransformedSum& t, const TransformPoint& p);
double TransformedImbalance(const TransformedSum& t, const TransformPoint& p);
int64_t TransformedScratch(const TransformedSum& t, const TransformPoint& p);  // bytes

}  // namespace hone::sketch

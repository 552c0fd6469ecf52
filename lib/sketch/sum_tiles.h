// The parts of the rule `sums` (sums.h): the roles that it gives to a sum's axes, a point of its decisions, legality,
// lines and cost. Internal to it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "search/space/space.h"
#include "sketch/decision_reader.h"
#include "sketch/sketch.h"
#include "sketch/sum_nest.h"
#include "target/target.h"
#include "task/config.h"

namespace hone::sketch {

struct SumLoops {
  SumNest nest;
  size_t rows = 0;                       // the axis of a tile's rows
  std::optional<size_t> outer_rows;      // a second one, outside of it
  size_t vectors = 0;                    // the axis along which a tile has several vectors; may be the last one
  std::vector<size_t> others;            // the other axes of the output
  std::vector<size_t> channels, window;  // reduce axes of more than one step; the last of `channels` is innermost
  // The read, no constant, whose vectors of successive steps lie in rows far apart: each is in another page, and many
  // share places in the caches. A tile's vectors may be copied into a panel first.
  std::optional<size_t> far;
  int64_t lanes = 1;
  int threads = 1, registers = 16;
  // Products of bytes: 4 if a step takes four indices of the last channel axis at once (dot4), else 1.
  int64_t products = 1;
  bool pairs = false;  // .. and if the CPU multiplies them as pairs of 16 bits
  // Registers of a vector of factors, or of a broadcast value, and those of masks (codegen/llvm/dot4.cc).
  int64_t factor_registers = 1, mask_registers = 0;
  bool by_element = false;  // each row's broadcast values stay in a register (Emitter::EmitElement)

  int64_t Extent(size_t axis) const { return nest.axes[axis].extent; }
  // Vectors along the axis `vectors`.
  int64_t VectorCount() const;
  // Values for a tile's extent along an axis that stay within its runs.
  std::vector<int64_t> WithinRuns(size_t axis, std::vector<int64_t> values) const;
  int64_t VectorWidth() const { return vectors == nest.last() ? lanes : 1; }  // indices of that axis in a vector
  // The rows that tasks share.
  size_t block_axis() const { return outer_rows.value_or(rows); }
  int64_t OtherTasks() const;
  // Bytes from one vector of `far` to that of the next step.
  int64_t FarStride() const { return nest.reads[*far].bytes() * nest.reads[*far].tensor.shape().back(); }
  int64_t PanelBytes(int64_t tile_vectors) const {
    return nest.reads[*far].bytes() * nest.Steps() * tile_vectors * lanes;
  }
  int64_t Steps() const { return nest.Steps() / products; }                  // of the reduction
  int64_t InnerSteps() const { return Extent(channels.back()) / products; }  // of its last channel axis
  // Bytes of the constants.
  int64_t ConstantBytes() const;
  // Whether neighbours along the first channel axis lie in a tensor's rows, far apart: an input that is not blocked.
  bool FarChannels() const;
  // What no constant reads along the first channel axis, and the elements from one block of channels to the next, if
  // that is too far for the hardware to see; else null.
  std::pair<const SumRead*, int64_t> FetchStride() const;

  // The values of decisions.
  std::vector<int64_t> RowValues() const;
  std::vector<int64_t> OuterRowValues() const;
  std::vector<int64_t> VectorValues() const;
  std::vector<int64_t> BlockRowValues() const;
  std::vector<int64_t> BlockVectorValues() const;
};

std::optional<SumLoops> SumLoopsOf(const te::Tensor& out, const std::vector<std::string>& constants,
                                   const Target& target);

enum class TileOrder { kRowsInside, kVectorsInside, kVectorsBetween };  // between the outer rows and the rows

// A point. Decisions that a sketch lacks have their neutral value.
struct SumPoint {
  int64_t rows = 1, outer_rows = 1, vectors = 1;  // of a tile
  int64_t block_rows = 1, block_vectors = 1;      // tiles of a task along its rows and vectors
  TileOrder order = TileOrder::kRowsInside;
  bool others_apart = true;                     // a task has one index of each other axis
  bool window_outside = true, taps = false;     // order of the reduction; taps: the window's last axis is unrolled
  int64_t unroll = 1;                           // steps of the last channel axis
  bool prefetch = false, copy_in_task = false;  // of constants; where the source is computed
  bool panel = false;

  int64_t BlockTile(const SumLoops& l) const { return l.outer_rows ? outer_rows : rows; }
  int64_t RowParts(const SumLoops& l) const;
  int64_t VectorParts(const SumLoops& l) const;
  int64_t Tasks(const SumLoops& l) const;
};

// Reads points of one space.
class SumReader {
 public:
  explicit SumReader(const std::vector<search::Knob>& decisions);
  SumPoint Read(const Config& config) const;

 private:
  DecisionReader<12> reader_;
};

// Adds the rules of legality, and the lines. REQUIRES: the sketch has its decisions.
void AddSumRules(const SumLoops& loops, Sketch* sketch);
void AddSumLines(const SumLoops& loops, Sketch* sketch);
// The lines for the loops of the sum's own stage alone, which is computed in a tile of its reader.
void AddSumLoops(const SumLoops& loops, Sketch* sketch);
// The parts of a relayout that stores a constant in the order in which the loops read it: tiles, the reduction (its
// axes from outside), the inside of a tile.
std::vector<std::string> StoredParts(const SumLoops& loops, const SumRead& read, const std::vector<Digit>& digits,
                                     const std::vector<size_t>& reduction);

// The busiest thread's work relative to the average.
double ImbalanceOf(const SumLoops& loops, const SumPoint& point);
// Bytes of a copy of the source, and cycles for all copies.
double CopyBytes(const SumLoops& loops, const SumPoint& point);
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

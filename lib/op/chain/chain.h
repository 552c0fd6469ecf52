// Chains: the templates of their kinds (chain.cc), the shared parts of their spaces, and their members as te stages.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "op/conv/conv2d_shape.h"
#include "op/epilogue.h"
#include "op/operator.h"
#include "search/space/space.h"
#include "target/target.h"
#include "te/tensor.h"

namespace hone::op {

const Template& ChainConvPool();
const Template& ChainDepthwiseConv();
const Template& ChainConvDepthwise();
const Template& ChainBottleneck();

// The spaces choose register tiles of convolutions, and how the rows of a chain's last member are cut into tasks. Tasks
// also compute the rows of earlier members that they need, so those at their borders are computed twice.

// The register tiles of a convolution that does not reshape its rows of pixels.
struct ConvTiles {
  Conv2dShape s;
  int64_t lanes = 16, blocks = 1;  // of output channels
  int registers = 32;

  static ConvTiles Of(const Workload& convolution, const Target& target);
  std::vector<int64_t> Ocv() const;      // vectors of output channels
  std::vector<int64_t> Columns() const;  // pixels of a row
  std::vector<int64_t> Unrolls() const;  // input channels unrolled
  int64_t DefaultUnroll() const;
  int64_t Registers(int64_t ocv, int64_t pixels) const { return ocv * pixels + ocv + 1; }
  // Cycles for one row of all output channels and one input channel and tap, including partial tiles; spilling tiles
  // are expensive.
  double Cycles(int64_t ocv, int64_t columns) const;
  struct Tile {
    int64_t ocv = 1, columns = 1;
  };
  Tile Best() const;  // the one with the fewest cycles
};

// A window over rows: output row y reads rows y * stride - before .. + reach - 1, of `in` rows.
struct RowWindow {
  int64_t out = 1, in = 1, stride = 1, before = 0, reach = 1;

  static RowWindow Of(const semantics::Window& window);
  static RowWindow Alone(int64_t rows) { return {rows, rows}; }
  // The largest number of input rows for `rows` output rows.
  int64_t Rows(int64_t rows) const;
  // The number of rows computed by tasks of `row_block` output rows, relative to the existing rows: 1 if none is
  // computed twice.
  double Recompute(int64_t row_block) const;
};

// How much more the tasks of a chain cost than their work: the busiest thread's share, including rows that are computed
// twice, which are part `share` of the work.
struct ChainTasks {
  RowWindow rows;
  int64_t images = 1, blocks = 1;  // blocks of channels of the last member
  int threads = 1;
  double share = 1;  // share of the work for those rows

  double Factor(int64_t row_block, int64_t channel_block) const;
  std::vector<int64_t> RowBlocks() const;
  std::vector<int64_t> ChannelBlocks() const;
  // Block sizes that register tiles of `ocv` vectors fill evenly. Not empty if `ocv` divides `blocks`.
  std::vector<int64_t> ChannelBlocks(int64_t ocv) const;
  // The largest accepted factor with such tiles: slightly above the best.
  double Limit(int64_t ocv) const;
  // The smallest scratch of accepted blocks; `bytes` gives that of a row block.
  int64_t LeastScratch(int64_t ocv, const std::function<int64_t(int64_t)>& bytes) const;
  // Row and channel blocks with a good factor and little scratch; the largest of equals.
  struct Blocks {
    int64_t rows = 1, channels = 1;
  };
  Blocks Best(int64_t ocv, const std::function<int64_t(int64_t)>& bytes) const;
  int64_t BestRows() const;  // of tasks with all channels, whatever their scratch
};

// Columns of a depthwise convolution's register tile, the widest first, and whether its window's columns are unrolled.
std::vector<int64_t> WindowTiles(const Conv2dShape& depthwise, int registers);
bool UnrollsColumns(const Conv2dShape& depthwise, int64_t tile);

// Bytes between two members that are assumed to stay near a core.
inline constexpr int64_t kChainScratchBytes = 1 << 20;

// Knobs ocv and tile_ow, with rules "registers" and "cycles".
void AddTileKnobs(const ConvTiles& tiles, Space* space);
// Rule "parallel" for the factor of knobs row_block and, if `by_channels`, co_block.
void AddTaskRule(const ChainTasks& tasks, bool by_channels, Space* space);
// Rules "co block" and "scratch" for knobs ocv, row_block and co_block; scratch as in LeastScratch, for `ocv`.
void AddScratchRules(const ChainTasks& tasks, const std::function<int64_t(int64_t rows, int64_t ocv)>& bytes,
                     Space* space);

// The members of chains as te stages, and the steps of their innermost loops, which do not depend on the chain.
//
// Stages of member i: "m<i>.acc" (a register tile, without the epilogue) and "m<i>" (with it; "out" for the last). All
// have the axes n co oh ow ci; a convolution reduces over c (all channels) kh kw, a window over kh kw. A convolution
// with padding reads a copy with zeros around it, "pad", once per chain. An average whose windows are not all alike has
// "columns", see pool_te.h.
struct ChainMember {
  std::string name;               // of its last stage
  Tensor source;                  // its input
  Tensor raw, weight;             // for convolutions: the operand, and its form in whole blocks of channels
  int64_t block = 0;              // consecutive input channels in the weight, the loop of a register tile
  Tensor pad, acc, columns, out;  // stages; pad and columns only if needed
  EpilogueTensors epilogue;
};

// The members of a chain in order, each as its workload says; the first one reads the argument "data". Only a first
// convolution may have a plain input, which is one block of all channels.
class ChainStages {
 public:
  ChainStages(const Workload& chain, const Target& target);

  const ChainMember& operator[](size_t i) const { return members_[i]; }
  Computation MakeComputation() const;
  // The steps that store the weights, then `steps`. A convolution's weights are stored as [tile][io][kh][kw][ic][ocv *
  // lanes], for register tiles of `ocv` vectors of output channels: one number per member, 1 for those without such
  // tiles.
  Candidate MakeCandidate(const std::vector<int64_t>& ocv, const std::vector<Step>& steps) const;

 private:
  void Convolution(const Conv2dShape& s);  // requires groups == 1
  void Depthwise(const Conv2dShape& s);    // requires groups == channels; a condition excludes positions outside
  void Pool();
  const Workload& Begin(const std::vector<int64_t>& data_shape);
  void Finally(const std::vector<int64_t>& stored, int64_t channels, const Tensor& acc);

  std::vector<Workload> parts_;
  int64_t lanes_;
  Tensor data_;
  std::vector<ChainMember> members_;
};

// The algorithm "direct" of all chains.
Result<Computation> ComputeChain(const Workload& chain, const Target& target, const Algorithm& algorithm);

// The loops of a last 1x1 convolution, by the knobs row_block, row_tile, ocv and tile_ow: tasks of rows ("task"), their
// row tiles ("oh.t"), register tiles. `rows_outer`: in a row tile, the loop over rows is outside the one over channels.
std::vector<Step> RowTileSteps(const Config& config, bool rows_outer);
// The loops of a last window, by the knobs row_block, co_block and ocv: rows and channels split, and, after the split
// of its columns, tasks of both ("task") with a loop over `ocv` vectors of channels ("co.o").
std::vector<Step> ChannelSplits(const Config& config);
std::vector<Step> ChannelTasks();

// The steps of a convolution's register tile: the loop ow.o of its last stage runs over tiles; the loops inside it are
// ow.i and co.i (unrolled) and, last, ci (vectors). `unroll_ic` input channels are unrolled.
void AddConvTile(const ChainMember& member, int64_t unroll_ic, std::vector<Step>* steps);
// The same for windows of single channels, depthwise convolutions and pools, without co.i.
void AddWindowTile(const ChainMember& member, bool unroll_kw, std::vector<Step>* steps);
// The same for a depthwise convolution in tiles of knob dw_tile.
void AddDepthwise(const ChainMember& member, const Conv2dShape& shape, const Config& config, std::vector<Step>* steps);
// All steps of a convolution before the last member, in tiles of `ocv` vectors of channels and `columns` pixels, whose
// result the loop `place` of "out" stores.
void AddStoredConv(const ChainMember& member, int64_t ocv, int64_t columns, int64_t unroll_ic, const std::string& place,
                   std::vector<Step>* steps);

}  // namespace hone::op

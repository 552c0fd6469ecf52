// What the spaces of chains share: register tiles of convolutions, and how the rows of a chain's last member are cut
// into tasks, which compute the rows of the members before it that they need, those at their borders a second time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "op/conv/conv2d_shape.h"
#include "search/space/space.h"
#include "target/target.h"
#include "task/config.h"

namespace hone::op {

// The register tiles of a convolution whose rows of pixels stay rows.
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
  // Of one row of all output channels and one input channel and tap, partial tiles included; spilling ones are
  // expensive.
  double Cycles(int64_t ocv, int64_t columns) const;
  double BestCycles() const;
  // The tile of the fewest cycles.
  void Best(int64_t* ocv, int64_t* columns) const;
};

// A window over rows: output row y reads rows y * stride - before .. + reach - 1, of `in` rows.
struct RowWindow {
  int64_t out = 1, in = 1, stride = 1, before = 0, reach = 1;

  // Rows of the input under `rows` output rows, at most.
  int64_t Rows(int64_t rows) const;
  // All rows that tasks of `row_block` output rows compute, in units of the rows there are: 1 without any twice.
  double Recompute(int64_t row_block) const;
};

// How the tasks of a chain cost more than their work: the busiest thread's share, counting rows that are made twice as
// part `share` of the work.
struct ChainTasks {
  RowWindow rows;
  int64_t images = 1, blocks = 1;  // of channels, of the last member
  int threads = 1;
  double share = 1;  // of the work that is done for those rows

  double Factor(int64_t row_block, int64_t channel_block) const;
  std::vector<int64_t> RowBlocks() const;
  std::vector<int64_t> ChannelBlocks() const;
  // Those in which register tiles of `ocv` vectors come out even. Not empty if `ocv` divides `blocks`.
  std::vector<int64_t> ChannelBlocks(int64_t ocv) const;
  // The factor that is accepted with such tiles: not much more than the best.
  double Limit(int64_t ocv) const;
  // The smallest scratch of accepted blocks, `bytes` being that of a row block.
  int64_t LeastScratch(int64_t ocv, const std::function<int64_t(int64_t)>& bytes) const;
  // Row and channel blocks with a good factor and little scratch; large ones of equals.
  void Best(int64_t ocv, const std::function<int64_t(int64_t)>& bytes, int64_t* row_block,
            int64_t* channel_block) const;
};

// Columns of a depthwise convolution's register tile, the widest first; and whether its window's columns are written
// out.
std::vector<int64_t> WindowTiles(const Conv2dShape& depthwise, int registers);
bool UnrollsColumns(const Conv2dShape& depthwise, int64_t tile);

// Bytes between two members that a core may take for granted near itself.
inline constexpr int64_t kChainScratchBytes = 1 << 20;

// Rules "registers" and "cycles", for knobs ocv and tile_ow.
void AddTileRules(const ConvTiles& tiles, search::Space* space);
// Rule "parallel" for the factor of knobs row_block and, if `channel_knob` is not null, that.
void AddTaskRule(const ChainTasks& tasks, const char* channel_knob, search::Space* space);
// Rules "co block" and "scratch" for knobs ocv, row_block and `channel_knob`; scratch as in LeastScratch, for `ocv`.
void AddScratchRules(const ChainTasks& tasks, const char* channel_knob,
                     const std::function<int64_t(int64_t rows, int64_t ocv)>& bytes, search::Space* space);

}  // namespace hone::op

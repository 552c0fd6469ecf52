// A depthwise convolution and a 1x1 convolution without stride and padding as one kernel, in either order.
//
// chain_depthwise_conv2d: depthwise, then 1x1. A task is some rows; for `row_tile` rows at a time it computes the
// depthwise of all channels into scratch, and the 1x1 convolution of all output channels from there.
//   Knobs: ocv, tile_ow (register tile of the 1x1), dw_tile (columns of the depthwise's), row_block, row_tile, inner
//   ("oc_rows": a tile of weights is used for all rows of a row tile; "rows_oc": a row uses all weights), unroll_ic.
//   Rules: registers, cycles, parallel, row tile, inner, scratch.
//
// chain_conv2d_depthwise: 1x1, then depthwise. A task is some rows of some channels; for `ocv` vectors of channels at a
// time it computes the 1x1 convolution's rows into scratch, and the depthwise from there. Rows that the windows of two
// tasks share are computed twice.
//   Knobs: ocv, tile_ow, dw_tile, row_block, co_block, unroll_ic.
//   Rules: registers, cycles, parallel (including rows computed twice), co block, scratch.
#include <algorithm>

#include "op/chain/chain.h"
#include "op/estimate/parts.h"
#include "op/knobs.h"
#include "op/layer_template.h"
#include "op/shapes.h"
#include "op/steps.h"

namespace hone::op {
namespace {

struct DepthwiseLayer {
  ConvTiles tiles;  // of the 1x1 convolution
  Conv2dShape dw;
  std::vector<int64_t> dw_tiles;
  ChainTasks tasks;
  int64_t lanes = 16, channel_blocks = 1;  // of the tensor between the members

  DepthwiseLayer(const Target& target, const Workload& conv, const Workload& depthwise) {
    tiles = ConvTiles::Of(conv, target);
    dw = Conv2dShape::Of(depthwise);
    dw_tiles = WindowTiles(dw, target.vector_registers);
    lanes = target.ChannelBlock();
    channel_blocks = CeilDiv(dw.c, lanes);
    tasks = {RowWindow::Alone(dw.oh), dw.n, 1, std::max(target.threads, 1)};
  }
  void AddFirstKnobs(Space* space) const {
    AddTileKnobs(tiles, space);
    space->Add(Knob::Choice("dw_tile", dw_tiles));
    space->Add(Knob::Choice("row_block", tasks.RowBlocks()));
  }
};

struct DepthwiseConvLayer : DepthwiseLayer {
  static DepthwiseConvLayer Of(const Workload& w, const Target& target) {
    return {DepthwiseLayer(target, w.Parts()[1], w.Parts()[0])};
  }
  // Bytes of the depthwise for a row tile.
  int64_t Scratch(int64_t rows) const { return rows * dw.ow * channel_blocks * lanes * 4; }
  std::vector<int64_t> RowTiles() const { return NoLarger(dw.oh, {1, 2, 4, 7, 14}); }

  Space MakeSpace(const char* name) const {
    Space space(name);
    AddFirstKnobs(&space);
    space.Add(Knob::Choice("row_tile", RowTiles()));
    space.Add(Knob::Words("inner", {"oc_rows", "rows_oc"}));
    space.Add(Knob::Choice("unroll_ic", tiles.Unrolls()));
    AddTaskRule(tasks, false, &space);
    space.AddRule({"row tile", [](const Config& c) {
                     return Unless(c.Number("row_tile") <= c.Number("row_block"), "row tiles of {} in tasks of {} rows",
                                   c.Number("row_tile"), c.Number("row_block"));
                   }});
    space.AddRule({"inner", [](const Config& c) {
                     return Unless(c.Word("inner") == "oc_rows" || c.Number("row_tile") > 1,
                                   "only one row a row tile: rows_oc is the same as oc_rows");
                   }});
    space.AddRule({"scratch", [l = *this](const Config& c) {
                     const int64_t rows = c.Number("row_tile"), bytes = l.Scratch(rows);
                     return Unless(rows == 1 || bytes <= kChainScratchBytes,
                                   "{} KB between the convolutions for each thread", bytes >> 10);
                   }});
    return space;
  }

  Result<Config> Default(const Space& space) const {
    const ConvTiles::Tile tile = tiles.Best();
    const int64_t rows = tasks.BestRows();
    // As many rows as fit into half of the second-level cache: each row tile reads the weights anew.
    int64_t row_tile = 1;
    for (int64_t r : RowTiles()) {
      if (r <= rows && Scratch(r) <= kChainScratchBytes / 4) row_tile = r;
    }
    return LegalNear(space, {{"ocv", tile.ocv},
                             {"tile_ow", tile.columns},
                             {"dw_tile", dw_tiles[0]},
                             {"row_block", rows},
                             {"row_tile", row_tile},
                             {"inner", "oc_rows"},
                             {"unroll_ic", tiles.DefaultUnroll()}});
  }

  Candidate Build(const Workload& workload, const Target& target, const Config& c) const {
    const ChainStages stages(workload, target);
    std::vector<Step> steps = RowTileSteps(c, c.Word("inner") == "rows_oc");
    AddConvTile(stages[1], c.Number("unroll_ic"), &steps);
    AddDepthwise(stages[0], dw, c, &steps);
    steps.push_back(ComputeAt(stages[0].name, "out", "oh.t"));
    return stages.MakeCandidate({1, c.Number("ocv")}, steps);
  }
};

struct ConvDepthwiseLayer : DepthwiseLayer {
  static ConvDepthwiseLayer Of(const Workload& w, const Target& target) {
    ConvDepthwiseLayer l{DepthwiseLayer(target, w.Parts()[0], w.Parts()[1])};
    l.tasks.rows = RowWindow::Of(*semantics::WindowOf(w.Parts()[1]));
    l.tasks.blocks = l.channel_blocks;
    const double conv = static_cast<double>(l.tiles.s.cg * l.dw.h * l.dw.w);
    l.tasks.share = conv / (conv + 4.0 * static_cast<double>(l.dw.kh * l.dw.kw * l.dw.oh * l.dw.ow));
    return l;
  }
  // Bytes of the convolution for `rows` rows of the depthwise and `ocv` channel vectors.
  int64_t Scratch(int64_t rows, int64_t ocv) const { return tasks.rows.Rows(rows) * dw.w * ocv * lanes * 4; }

  Space MakeSpace(const char* name) const {
    Space space(name);
    AddFirstKnobs(&space);
    space.Add(Knob::Choice("co_block", tasks.ChannelBlocks()));
    space.Add(Knob::Choice("unroll_ic", tiles.Unrolls()));
    AddTaskRule(tasks, true, &space);
    AddScratchRules(tasks, [l = *this](int64_t rows, int64_t ocv) { return l.Scratch(rows, ocv); }, &space);
    return space;
  }

  Result<Config> Default(const Space& space) const {
    const ConvTiles::Tile tile = tiles.Best();
    const ChainTasks::Blocks task = tasks.Best(tile.ocv, [&](int64_t r) { return Scratch(r, tile.ocv); });
    return LegalNear(space, {{"ocv", tile.ocv},
                             {"tile_ow", tile.columns},
                             {"dw_tile", dw_tiles[0]},
                             {"row_block", task.rows},
                             {"co_block", task.channels},
                             {"unroll_ic", tiles.DefaultUnroll()}});
  }

  Candidate Build(const Workload& workload, const Target& target, const Config& c) const {
    const ChainStages stages(workload, target);
    std::vector<Step> steps = ChannelSplits(c);
    AddDepthwise(stages[1], dw, c, &steps);
    Append(&steps, ChannelTasks());
    AddStoredConv(stages[0], c.Number("ocv"), c.Number("tile_ow"), c.Number("unroll_ic"), "co.o", &steps);
    return stages.MakeCandidate({c.Number("ocv"), 1}, steps);
  }
};

}  // namespace

const Template& ChainDepthwiseConv() {
  static const LayerTemplate<DepthwiseConvLayer> t("chain_depthwise_conv2d", 1, &ChainEstimate());
  return t;
}

const Template& ChainConvDepthwise() {
  static const LayerTemplate<ConvDepthwiseLayer> t("chain_conv2d_depthwise", 1, &ChainEstimate());
  return t;
}

}  // namespace hone::op

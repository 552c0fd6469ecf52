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
#include "op/conv/conv2d_shape.h"
#include "op/estimate/parts.h"
#include "op/knobs.h"
#include "op/shapes.h"
#include "op/steps.h"

namespace hone::op {
namespace {

struct DepthwiseLayer {
  ConvTiles tiles;  // of the 1x1 convolution
  Conv2dShape dw;
  ChainTasks tasks;
  bool conv_first = false;
  int64_t lanes = 16, channel_blocks = 1;  // of the tensor between the members

  static DepthwiseLayer Of(const Workload& w, const Target& target, bool conv_first) {
    DepthwiseLayer l;
    const std::vector<Workload> parts = w.Parts();
    l.conv_first = conv_first;
    l.tiles = ConvTiles::Of(parts[conv_first ? 0 : 1], target);
    l.dw = Conv2dShape::Of(parts[conv_first ? 1 : 0]);
    l.lanes = target.ChannelBlock();
    l.channel_blocks = CeilDiv(l.dw.c, l.lanes);
    l.tasks.images = l.dw.n, l.tasks.threads = std::max(target.threads, 1);
    if (conv_first) {
      l.tasks.rows = {l.dw.oh, l.dw.h, l.dw.sh, l.dw.pt, (l.dw.kh - 1) * l.dw.dh + 1};
      l.tasks.blocks = l.channel_blocks;
      const double conv = static_cast<double>(l.tiles.s.cg * l.dw.h * l.dw.w);
      l.tasks.share = conv / (conv + 4.0 * static_cast<double>(l.dw.kh * l.dw.kw * l.dw.oh * l.dw.ow));
    } else {
      l.tasks.rows = {l.dw.oh, l.dw.oh, 1, 0, 1};
    }
    return l;
  }
  // Bytes for `rows` of the last member and `blocks` channel vectors between the members.
  int64_t Scratch(int64_t rows, int64_t blocks) const {
    return conv_first ? tasks.rows.Rows(rows) * dw.w * blocks * lanes * 4 : rows * dw.ow * blocks * lanes * 4;
  }
  std::vector<int64_t> RowTiles() const { return NoLarger(tasks.rows.out, {1, 2, 4, 7, 14}); }
};

void AddWindowSteps(const ChainMember& m, int64_t tile, bool unroll_kw, std::vector<Step>* steps) {
  steps->push_back(Split(m.name, "ow", {tile}, {"ow.o", "ow.i"}));
  AddWindowTile(m, unroll_kw, steps);
}

class DepthwiseConvTemplate final : public Template {
 public:
  const char* name() const override { return "chain_depthwise_conv2d"; }
  int version() const override { return 1; }
  const Estimate* estimate() const override { return &ChainEstimate(); }

  Result<Space> MakeSpace(const Workload& workload, const Target& target) const override {
    const DepthwiseLayer l = DepthwiseLayer::Of(workload, target, false);
    Space space(name());
    AddTileKnobs(l.tiles, &space);
    space.Add(Knob::Choice("dw_tile", WindowTiles(l.dw, target.vector_registers)));
    space.Add(Knob::Choice("row_block", l.tasks.RowBlocks()));
    space.Add(Knob::Choice("row_tile", l.RowTiles()));
    space.Add(Knob::Words("inner", {"oc_rows", "rows_oc"}));
    space.Add(Knob::Choice("unroll_ic", l.tiles.Unrolls()));
    AddTaskRule(l.tasks, false, &space);
    space.AddRule({"row tile", [](const Config& c) {
                     return Unless(c.Number("row_tile") <= c.Number("row_block"), "row tiles of {} in tasks of {} rows",
                                   c.Number("row_tile"), c.Number("row_block"));
                   }});
    space.AddRule({"inner", [](const Config& c) {
                     return Unless(c.Word("inner") == "oc_rows" || c.Number("row_tile") > 1,
                                   "only one row a row tile: rows_oc is the same as oc_rows");
                   }});
    space.AddRule({"scratch", [l](const Config& c) {
                     const int64_t rows = c.Number("row_tile"), bytes = l.Scratch(rows, l.channel_blocks);
                     return Unless(rows == 1 || bytes <= kChainScratchBytes,
                                   "{} KB between the convolutions for each thread", bytes >> 10);
                   }});
    return space;
  }

  Result<Config> Default(const Space& space, const Workload& workload, const Target& target) const override {
    const DepthwiseLayer l = DepthwiseLayer::Of(workload, target, false);
    const ConvTiles::Tile tile = l.tiles.Best();
    const int64_t rows = l.tasks.Best(1, [](int64_t) { return 1; }).rows;
    // As many rows as fit into half of the second-level cache: each row tile reads the weights anew.
    int64_t row_tile = 1;
    for (int64_t r : l.RowTiles()) {
      if (r <= rows && l.Scratch(r, l.channel_blocks) <= kChainScratchBytes / 4) row_tile = r;
    }
    return LegalNear(space, {{"ocv", tile.ocv},
                             {"tile_ow", tile.columns},
                             {"dw_tile", WindowTiles(l.dw, target.vector_registers)[0]},
                             {"row_block", rows},
                             {"row_tile", row_tile},
                             {"inner", "oc_rows"},
                             {"unroll_ic", l.tiles.DefaultUnroll()}});
  }

  Result<Candidate> Instantiate(const Workload& workload, const Target& target, const Config& c) const override {
    const DepthwiseLayer l = DepthwiseLayer::Of(workload, target, false);
    const ChainStages stages(workload, target);
    const ChainMember &dw = stages[0], &conv = stages[1];
    std::vector<std::string> order = {"n", "oh.b", "oh.t", "co.o", "oh.r", "ow.o", "ow.i", "co.i", "ci"};
    if (c.Word("inner") == "rows_oc") std::swap(order[3], order[4]);
    std::vector<Step> steps = {
        Split("out", "oh", {c.Number("row_block")}, {"oh.b", "oh.s"}),
        Split("out", "oh.s", {c.Number("row_tile")}, {"oh.t", "oh.r"}),
        Split("out", "co", {c.Number("ocv")}, {"co.o", "co.i"}),
        Split("out", "ow", {c.Number("tile_ow")}, {"ow.o", "ow.i"}),
        Reorder("out", order),
        Fuse("out", {"n", "oh.b"}, "task"),
        Parallel("out", "task"),
    };
    AddConvTile(conv, c.Number("unroll_ic"), &steps);
    AddWindowSteps(dw, c.Number("dw_tile"), UnrollsColumns(l.dw, c.Number("dw_tile")), &steps);
    steps.push_back(ComputeAt(dw.name, "out", "oh.t"));
    return stages.MakeCandidate({1, c.Number("ocv")}, steps);
  }
};

class ConvDepthwiseTemplate final : public Template {
 public:
  const char* name() const override { return "chain_conv2d_depthwise"; }
  int version() const override { return 1; }
  const Estimate* estimate() const override { return &ChainEstimate(); }

  Result<Space> MakeSpace(const Workload& workload, const Target& target) const override {
    const DepthwiseLayer l = DepthwiseLayer::Of(workload, target, true);
    Space space(name());
    AddTileKnobs(l.tiles, &space);
    space.Add(Knob::Choice("dw_tile", WindowTiles(l.dw, target.vector_registers)));
    space.Add(Knob::Choice("row_block", l.tasks.RowBlocks()));
    space.Add(Knob::Choice("co_block", l.tasks.ChannelBlocks()));
    space.Add(Knob::Choice("unroll_ic", l.tiles.Unrolls()));
    AddTaskRule(l.tasks, true, &space);
    AddScratchRules(
        l.tasks, [l](int64_t rows, int64_t ocv) { return l.Scratch(rows, ocv); }, &space);
    return space;
  }

  Result<Config> Default(const Space& space, const Workload& workload, const Target& target) const override {
    const DepthwiseLayer l = DepthwiseLayer::Of(workload, target, true);
    const ConvTiles::Tile tile = l.tiles.Best();
    const ChainTasks::Blocks task = l.tasks.Best(tile.ocv, [&](int64_t r) { return l.Scratch(r, tile.ocv); });
    return LegalNear(space, {{"ocv", tile.ocv},
                             {"tile_ow", tile.columns},
                             {"dw_tile", WindowTiles(l.dw, target.vector_registers)[0]},
                             {"row_block", task.rows},
                             {"co_block", task.channels},
                             {"unroll_ic", l.tiles.DefaultUnroll()}});
  }

  Result<Candidate> Instantiate(const Workload& workload, const Target& target, const Config& c) const override {
    const DepthwiseLayer l = DepthwiseLayer::Of(workload, target, true);
    const ChainStages stages(workload, target);
    const ChainMember &conv = stages[0], &dw = stages[1];
    std::vector<Step> steps = {
        Split("out", "oh", {c.Number("row_block")}, {"oh.b", "oh.r"}),
        Split("out", "co", {c.Number("co_block")}, {"co.b", "co.r"}),
        Split("out", "co.r", {c.Number("ocv")}, {"co.o", "co.i"}),
    };
    AddWindowSteps(dw, c.Number("dw_tile"), UnrollsColumns(l.dw, c.Number("dw_tile")), &steps);
    Append(&steps, {Reorder("out", {"n", "oh.b", "co.b", "co.o", "co.i", "oh.r", "ow.o", "ow.i", "ci"}),
                    Fuse("out", {"n", "oh.b", "co.b"}, "task"), Parallel("out", "task")});
    AddStoredConv(conv, c.Number("ocv"), c.Number("tile_ow"), c.Number("unroll_ic"), "co.o", &steps);
    return stages.MakeCandidate({c.Number("ocv"), 1}, steps);
  }
};

}  // namespace

const Template& ChainDepthwiseConv() {
  static const DepthwiseConvTemplate t;
  return t;
}

const Template& ChainConvDepthwise() {
  static const ConvDepthwiseTemplate t;
  return t;
}

}  // namespace hone::op

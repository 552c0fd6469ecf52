// chain_conv2d_depthwise_conv2d: a 1x1 convolution, a depthwise one and another 1x1 (a block of MobileNet-v2) as one
// kernel. A task is some rows; for `row_tile` rows at a time it computes the rows of the first convolution that they
// need (all channels), then the depthwise, then the last convolution. Rows of the first convolution that two row tiles
// need are computed twice.
//
// Knobs: ocv, tile_ow (register tile of the last convolution; the first uses the one with the fewest cycles), dw_tile,
// row_block (rows of a task), row_tile. Rules: registers, cycles, parallel, rows (rows computed twice, and scratch
// beyond a core's cache).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "op/chain/chain.h"
#include "op/estimate/parts.h"
#include "op/knobs.h"
#include "op/layer_template.h"
#include "op/steps.h"

namespace hone::op {
namespace {

struct BottleneckLayer {
  ConvTiles expand, project;
  Conv2dShape dw;
  std::vector<int64_t> dw_tiles;
  RowWindow rows;    // of the first convolution that the last one needs
  ChainTasks tasks;  // only for their balance

  static BottleneckLayer Of(const Workload& w, const Target& target) {
    BottleneckLayer l;
    const std::vector<Workload> parts = w.Parts();
    l.expand = ConvTiles::Of(parts[0], target);
    l.project = ConvTiles::Of(parts[2], target);
    l.dw = Conv2dShape::Of(parts[1]);
    l.dw_tiles = WindowTiles(l.dw, target.vector_registers);
    l.rows = RowWindow::Of(*semantics::WindowOf(parts[1]));
    l.tasks = {RowWindow::Alone(l.dw.oh), l.dw.n, 1, std::max(target.threads, 1)};
    return l;
  }
  std::vector<int64_t> RowTiles() const { return NoLarger(dw.oh, {1, 2, 4, 7, 14, 28}); }
  int64_t Scratch(int64_t row_tile) const {
    return (rows.Rows(row_tile) * dw.w + row_tile * dw.ow) * expand.blocks * expand.lanes * 4;
  }
  // A rough slowdown factor for rows computed twice and for data that does not stay near the core.
  double RowCost(int64_t row_tile) const {
    const double first = static_cast<double>(expand.s.c * dw.h * dw.w * expand.blocks);
    const double last = static_cast<double>(dw.c * dw.oh * dw.ow * project.blocks);
    const double share = first / (first + last);
    const double beyond = std::log2(static_cast<double>(Scratch(row_tile)) / static_cast<double>(kChainScratchBytes));
    return 1 + share * (rows.Recompute(row_tile) - 1) + 0.15 * std::max(0.0, beyond);
  }
  int64_t BestRowTile(int64_t row_block) const {
    int64_t best = 1;
    for (int64_t r : RowTiles()) {
      if (r <= row_block && RowCost(r) < RowCost(best)) best = r;
    }
    return best;
  }

  Space MakeSpace(const char* name) const {
    Space space(name);
    AddTileKnobs(project, &space);
    space.Add(Knob::Choice("dw_tile", dw_tiles));
    space.Add(Knob::Choice("row_block", tasks.RowBlocks()));
    space.Add(Knob::Choice("row_tile", RowTiles()));
    AddTaskRule(tasks, false, &space);
    space.AddRule({"rows", [l = *this](const Config& c) -> Rejection {
                     const int64_t block = c.Number("row_block"), tile = c.Number("row_tile");
                     if (tile > block) return fmt::format("row tiles of {} in tasks of {} rows", tile, block);
                     const double cost = l.RowCost(tile), limit = std::max(1.4, 1.1 * l.RowCost(l.BestRowTile(block)));
                     if (cost <= limit) return {};
                     return fmt::format("rows made twice and {} KB of scratch: about {:.2f} times the work",
                                        l.Scratch(tile) >> 10, cost);
                   }});
    return space;
  }

  Result<Config> Default(const Space& space) const {
    const ConvTiles::Tile tile = project.Best();
    const int64_t block = tasks.BestRows();
    return LegalNear(space, {{"ocv", tile.ocv},
                             {"tile_ow", tile.columns},
                             {"dw_tile", dw_tiles[0]},
                             {"row_block", block},
                             {"row_tile", BestRowTile(block)}});
  }

  Candidate Build(const Workload& workload, const Target& target, const Config& c) const {
    const ChainStages stages(workload, target);
    const ConvTiles::Tile tile = expand.Best();
    std::vector<Step> steps = RowTileSteps(c, false);
    AddConvTile(stages[2], project.DefaultUnroll(), &steps);
    AddDepthwise(stages[1], dw, c, &steps);
    steps.push_back(ComputeAt(stages[1].name, "out", "oh.t"));
    AddStoredConv(stages[0], tile.ocv, tile.columns, expand.DefaultUnroll(), "oh.t", &steps);
    return stages.MakeCandidate({tile.ocv, 1, c.Number("ocv")}, steps);
  }
};

}  // namespace

const Template& ChainBottleneck() {
  static const LayerTemplate<BottleneckLayer> t("chain_conv2d_depthwise_conv2d", 1, &ChainEstimate());
  return t;
}

}  // namespace hone::op

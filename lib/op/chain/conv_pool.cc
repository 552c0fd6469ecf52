// chain_conv2d_pool: a convolution with groups == 1 and any window, then a max or average pool. A task is some pooled
// rows of some channels; for `ocv` vectors of channels at a time it computes the convolution's rows into scratch and
// pools them from there. Rows that the windows of two tasks share are computed twice.
//
// Knobs: ocv, tile_ow (register tile of the convolution), co_block (channel vectors of a task), row_block (pooled rows
// of a task), unroll_ic. Rules: registers, cycles, parallel (including rows computed twice), co block, scratch.
#include <algorithm>

#include "op/chain/chain.h"
#include "op/estimate/parts.h"
#include "op/knobs.h"
#include "op/layer_template.h"
#include "op/steps.h"
#include "semantics/window.h"

namespace hone::op {
namespace {

constexpr int64_t kUnrolledPool = 160;  // limit of window columns x pixels of a pool's tile to unroll

struct ConvPoolLayer {
  ConvTiles tiles;
  semantics::Window pool;
  ChainTasks tasks;

  static ConvPoolLayer Of(const Workload& w, const Target& target) {
    ConvPoolLayer l;
    const std::vector<Workload> parts = w.Parts();
    l.tiles = ConvTiles::Of(parts[0], target);
    l.pool = *semantics::WindowOf(parts[1]);
    l.tasks = {RowWindow::Of(l.pool), l.tiles.s.n, l.tiles.blocks, std::max(target.threads, 1)};
    return l;
  }
  int64_t Scratch(int64_t row_block, int64_t ocv) const {
    return tasks.rows.Rows(row_block) * tiles.s.ow * ocv * tiles.lanes * 4;
  }

  Space MakeSpace(const char* name) const {
    Space space(name);
    AddTileKnobs(tiles, &space);
    space.Add(Knob::Choice("co_block", tasks.ChannelBlocks()));
    space.Add(Knob::Choice("row_block", tasks.RowBlocks()));
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
                             {"co_block", task.channels},
                             {"row_block", task.rows},
                             {"unroll_ic", tiles.DefaultUnroll()}});
  }

  Candidate Build(const Workload& workload, const Target& target, const Config& c) const {
    const ChainStages stages(workload, target);
    const int64_t pool_tile = EvenParts(pool.out[1], 8).front();
    std::vector<Step> steps = ChannelSplits(c);
    steps.push_back(Split("out", "ow", {pool_tile}, {"ow.o", "ow.i"}));
    Append(&steps, ChannelTasks());
    AddWindowTile(stages[1], pool.kernel[1] * pool_tile <= kUnrolledPool, &steps);
    if (stages[1].columns.defined()) steps.push_back(ComputeAt(stages[1].columns.name(), "out", "task"));
    AddStoredConv(stages[0], c.Number("ocv"), c.Number("tile_ow"), c.Number("unroll_ic"), "co.o", &steps);
    if (stages[0].pad.defined()) {
      steps.push_back(ComputeAt("pad", "out", "task"));
      if (tiles.s.plain_input) {
        Append(&steps, {Split("pad", "iw", {tiles.lanes}, {"iw.o", "iw.i"}), Vectorize("pad", "iw.i")});
      } else {
        steps.push_back(Vectorize("pad", "ci"));
      }
    }
    return stages.MakeCandidate({c.Number("ocv"), 1}, steps);
  }
};

}  // namespace

const Template& ChainConvPool() {
  static const LayerTemplate<ConvPoolLayer> t("chain_conv2d_pool", 1, &ChainEstimate());
  return t;
}

}  // namespace hone::op

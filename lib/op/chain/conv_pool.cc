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
    const semantics::Window& p = l.pool;
    l.tasks.rows = {p.out[0], p.in[0], p.stride[0], p.before[0], (p.kernel[0] - 1) * p.dilation[0] + 1};
    l.tasks.images = l.tiles.s.n, l.tasks.blocks = l.tiles.blocks, l.tasks.threads = std::max(target.threads, 1);
    return l;
  }
  int64_t Scratch(int64_t row_block, int64_t ocv) const {
    return tasks.rows.Rows(row_block) * tiles.s.ow * ocv * tiles.lanes * 4;
  }
};

class ConvPoolTemplate final : public Template {
 public:
  const char* name() const override { return "chain_conv2d_pool"; }
  int version() const override { return 1; }
  const Estimate* estimate() const override { return &ChainEstimate(); }

  Result<Space> MakeSpace(const Workload& workload, const Target& target) const override {
    const ConvPoolLayer l = ConvPoolLayer::Of(workload, target);
    Space space(name());
    AddTileKnobs(l.tiles, &space);
    space.Add(Knob::Choice("co_block", l.tasks.ChannelBlocks()));
    space.Add(Knob::Choice("row_block", l.tasks.RowBlocks()));
    space.Add(Knob::Choice("unroll_ic", l.tiles.Unrolls()));
    AddTaskRule(l.tasks, true, &space);
    AddScratchRules(
        l.tasks, [l](int64_t rows, int64_t ocv) { return l.Scratch(rows, ocv); }, &space);
    return space;
  }

  Result<Config> Default(const Space& space, const Workload& workload, const Target& target) const override {
    const ConvPoolLayer l = ConvPoolLayer::Of(workload, target);
    const ConvTiles::Tile tile = l.tiles.Best();
    const ChainTasks::Blocks task = l.tasks.Best(tile.ocv, [&](int64_t r) { return l.Scratch(r, tile.ocv); });
    return LegalNear(space, {{"ocv", tile.ocv},
                             {"tile_ow", tile.columns},
                             {"co_block", task.channels},
                             {"row_block", task.rows},
                             {"unroll_ic", l.tiles.DefaultUnroll()}});
  }

  Result<Candidate> Instantiate(const Workload& workload, const Target& target, const Config& c) const override {
    const ConvPoolLayer l = ConvPoolLayer::Of(workload, target);
    const ChainStages stages(workload, target);
    const ChainMember &conv = stages[0], &pool = stages[1];
    const int64_t pool_tile = EvenParts(l.pool.out[1], 8).front();
    std::vector<Step> steps = {
        Split("out", "oh", {c.Number("row_block")}, {"oh.b", "oh.r"}),
        Split("out", "co", {c.Number("co_block")}, {"co.b", "co.r"}),
        Split("out", "co.r", {c.Number("ocv")}, {"co.o", "co.i"}),
        Split("out", "ow", {pool_tile}, {"ow.o", "ow.i"}),
        Reorder("out", {"n", "oh.b", "co.b", "co.o", "co.i", "oh.r", "ow.o", "ow.i", "ci"}),
        Fuse("out", {"n", "oh.b", "co.b"}, "task"),
        Parallel("out", "task"),
    };
    AddWindowTile(pool, l.pool.kernel[1] * pool_tile <= kUnrolledPool, &steps);
    if (pool.columns.defined()) steps.push_back(ComputeAt(pool.columns.name(), "out", "task"));
    AddStoredConv(conv, c.Number("ocv"), c.Number("tile_ow"), c.Number("unroll_ic"), "co.o", &steps);
    if (conv.pad.defined()) {
      steps.push_back(ComputeAt("pad", "out", "task"));
      if (l.tiles.s.plain_input) {
        Append(&steps, {Split("pad", "iw", {l.tiles.lanes}, {"iw.o", "iw.i"}), Vectorize("pad", "iw.i")});
      } else {
        steps.push_back(Vectorize("pad", "ci"));
      }
    }
    return stages.MakeCandidate({c.Number("ocv"), 1}, steps);
  }
};

}  // namespace

const Template& ChainConvPool() {
  static const ConvPoolTemplate t;
  return t;
}

}  // namespace hone::op

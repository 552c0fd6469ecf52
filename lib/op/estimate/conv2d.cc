// Convolutions. A layer's cycles are those of its register tiles' steps, plus caches, copying and transforming, times
// the ratio of the busiest thread's work to the average.
#include <algorithm>
#include <cmath>

#include "op/conv/conv_direct_space.h"
#include "op/estimate/parts.h"
#include "op/shapes.h"

namespace hone::op {
namespace {

constexpr double kTaskCycles = 500;    // entering a task
constexpr double kRoundCycles = 0.15;  // per iteration of an unrolled loop, in addition to the arithmetic
constexpr double kTileCycles = 20;     // a register tile's prologue: addresses, zeros
constexpr double kHiddenShare = 0.35;  // share of second-level reads that arithmetic does not hide
constexpr double kEarly = 0.85;        // share of waiting for weights that remains with software prefetch

// The span of input rows (or columns) that `n` outputs read, and the number of those actually read.
int64_t Reach(int64_t n, int64_t stride, int64_t taps, int64_t dilation) {
  return (n - 1) * stride + (taps - 1) * dilation + 1;
}
int64_t Touched(int64_t n, int64_t stride, int64_t taps, int64_t dilation) {
  return std::min(n * taps, Reach(n, stride, taps, dilation));
}

struct Tiles {
  double steps = 0;  // cycles of all steps
  double count = 0;  // register tiles
};

// With the workload's groups: records of older spaces, which did not merge groups, are estimated as well.
DirectLayer UnmergedLayer(const Workload& workload, const Target& target) {
  return DirectLayer::Of(workload, target, /*merge=*/false);
}

std::vector<double> EstimateDirect(const DirectLayer& l, const Config& c) {
  const Conv2dShape& s = l.s;
  const int64_t ocv = NumberOr(c, "ocv", 1), th = NumberOr(c, "tile_oh", 1), tw = NumberOr(c, "tile_ow", 1);
  const int64_t oc_block = std::clamp<int64_t>(NumberOr(c, "oc_block", l.oc_blocks), 1, l.oc_blocks);
  const int64_t row_block = std::clamp<int64_t>(NumberOr(c, "row_block", s.oh), 1, s.oh);
  const bool rows_outer = WordOr(c, "inner", "oc_rows") == "rows_oc";
  const bool unroll_kw = NumberOr(c, "unroll_kw", 0) == 1;
  const int64_t unroll = std::max<int64_t>(NumberOr(c, "unroll_ic", 1), 1), prefetch = Prefetches(c) ? 1 : 0;
  const std::string pad = WordOr(c, "pad", "none");
  const double k = D(l.ic_blocks * l.ic_lanes * l.taps());
  const int64_t all_planes = s.n * l.depth.out;
  const int64_t planes = std::clamp<int64_t>(NumberOr(c, "planes", 1), 1, all_planes);
  const double plane_blocks = D(CeilDiv(all_planes, planes));

  Tiles tiles;
  for (const auto& [rows, a] : Pieces(l.oc_blocks, ocv)) {
    for (const auto& [h, b] : Pieces(s.oh, th)) {
      for (const auto& [w, d] : Pieces(s.ow, tw)) {
        // Taps side by side share the columns that they load.
        const double columns = D((w - 1) * s.sw + (s.kw - 1) * s.dw + 1) / D(s.kw);
        const double loaded = D(h) * (unroll_kw ? std::min(columns, D(w)) : D(w));
        tiles.steps += D(a * b * d) * k * StepCycles(D(rows), D(h * w), loaded, l.registers);
        tiles.count += D(a * b * d);
      }
    }
  }
  tiles.steps *= D(all_planes), tiles.count *= D(all_planes);
  if (pad == "skip") tiles.steps *= l.ShareInside(tw);
  const double ideal = D(all_planes * l.oc_blocks * s.oh * s.ow) * k / 2;

  // Which weights are read repeatedly, and how often all of them are read.
  const double row_tiles = D(CeilDiv(row_block, th)), column_tiles = D(CeilDiv(s.ow, tw));
  const double one = D(l.WeightBytes(ocv)), all = D(l.WeightBytes(l.oc_blocks));
  const double task = std::max(D(l.WeightBytes(oc_block)), one);
  const double row_blocks = D(CeilDiv(s.oh, row_block));
  const double passes = D(all_planes) * row_blocks * row_tiles * column_tiles;
  // A tile's weights come from the first level if they fit, except the first time.
  double weights = kHiddenShare * kCaches.Read(all * passes, one);
  const double rounds = plane_blocks * row_blocks * (rows_outer ? D(planes) * row_tiles : 1);
  weights += kHiddenShare * kCaches.Read(all * rounds, rows_outer ? task : all) * (prefetch > 0 ? kEarly : 1);
  const double cold = all / kCaches.l3_rate * (prefetch > 0 ? kEarly : 1) * D(oc_block < l.oc_blocks ? 1 : l.threads);

  // Input of a tile's rows: read again for each tile of output channels. In blocks each pixel is a separate line, and
  // pixels that a stride skips are not read; in plain rows, lines contain neighbours.
  const int64_t columns = s.plain_input ? s.pw() : Touched(s.ow, s.sw, s.kw, s.dw);
  const double in_rows = D(l.depth.taps) * D(Touched(th, s.sh, s.kh, s.dh)), in_columns = D(columns);
  const double slab = in_rows * in_columns * D(l.ic_blocks * l.ic_lanes) * 4;
  const double slabs = D(all_planes) * D(CeilDiv(s.oh, th)) * D(CeilDiv(l.oc_blocks, ocv));
  const double task_input = D(l.PadElements(row_block, planes)) * 4 *
                            D(Touched(row_block, s.sh, s.kh, s.dh) * columns) /
                            D(Reach(row_block, s.sh, s.kh, s.dh) * s.pw());
  const double input = kHiddenShare * kCaches.Read(slab * slabs, rows_outer ? slab : std::min(task_input, 8 * slab));

  const double tasks = plane_blocks * D(CeilDiv(l.oc_blocks, oc_block) * CeilDiv(s.oh, row_block));
  double copied = 0;
  if (pad == "task") copied = tasks * D(l.PadElements(row_block, planes)) / D(l.lanes) * 2;
  if (pad == "root" || (pad == "skip" && !l.SkipsColumns(tw)))
    copied = D(l.PadElements(s.oh, all_planes)) / D(l.lanes) * 5;
  const double rounds_of_loops = tiles.count * k / D(unroll * (unroll_kw ? s.kw : 1));
  const double loops =
      rounds_of_loops * kRoundCycles + tiles.count * (kTileCycles + D(ocv * th * tw) * 1.5) + tasks * kTaskCycles;

  const double imbalance = D(CeilDiv(D(tasks) > 0 ? static_cast<int64_t>(tasks) : 1, l.threads)) * D(l.threads) /
                           tasks * (D(CeilDiv(l.oc_blocks, oc_block) * oc_block) / D(l.oc_blocks)) *
                           (D(CeilDiv(s.oh, row_block) * row_block) / D(s.oh));
  const double cycles = (tiles.steps + weights + cold + input + copied + loops) * imbalance / D(l.threads);
  return {std::log(cycles),      LogShare(tiles.steps, ideal), LogShare(weights, ideal), LogShare(input, ideal),
          LogShare(cold, ideal), LogShare(copied, ideal),      LogShare(loops, ideal),   std::log(imbalance)};
}

}  // namespace

const Estimate& DirectEstimate() {
  static const Estimate estimate{[](const Workload& w, const Target& target) -> PointCost {
                                   return
                                       [l = UnmergedLayer(w, target)](const Config& c) { return EstimateDirect(l, c); };
                                 },
                                 {"cycles", "tile", "weights", "input", "cold", "pad", "loops", "imbalance"}};
  return estimate;
}

}  // namespace hone::op

// The estimate of chains: the register tiles of their convolutions, windows, traffic through scratch, and work that is
// done twice.
#include "op/chain/chain.h"

#include <algorithm>
#include <cmath>

#include "op/estimate/parts.h"
#include "op/shapes.h"
#include "semantics/window.h"

namespace hone::op {
namespace {

constexpr double kChainTileCycles = 25;  // overhead of a register tile's reduction: epilogue, stores, addresses
constexpr double kChainTaskCycles = 400;

std::vector<double> EstimateChain(const Workload& workload, const Target& target, const Config& c) {
  const std::vector<Workload> parts = workload.Parts();
  const int64_t lanes = target.ChannelBlock(), threads = std::max(target.threads, 1),
                images = parts[0].inputs[0].shape[0];
  const auto grouped = [](const Workload& p) { return p.op != "conv2d" || Conv2dShape::Of(p).groups > 1; };
  size_t window_at = 0;
  while (window_at + 1 < parts.size() && !grouped(parts[window_at])) ++window_at;
  const semantics::Window window_of = *semantics::WindowOf(parts[window_at]);
  const RowWindow rows = RowWindow::Of(window_of);
  const int64_t blocks = CeilDiv(parts[window_at].inputs[0].shape[1], lanes);
  const int64_t w = window_of.in[1], ow = window_of.out[1];
  const double taps = D(semantics::Product(window_of.kernel));
  const bool conv_last = window_at + 1 < parts.size(), conv_first = window_at > 0;
  const int64_t row_block = std::clamp<int64_t>(NumberOr(c, "row_block", rows.out), 1, rows.out);
  const int64_t row_tile =
      conv_last ? std::clamp<int64_t>(NumberOr(c, "row_tile", row_block), 1, row_block) : row_block;
  const int64_t co_block = conv_last ? 1 : NumberOr(c, "co_block", blocks);
  const double again = conv_first ? rows.Recompute(row_tile) : 1;

  double tiles = 0, loops = 0, ideal = 0, weights = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i == window_at) continue;
    const ConvTiles t = ConvTiles::Of(parts[i], target);
    auto [ocv, columns] = t.Best();
    if (i + 1 == parts.size() || parts.size() == 2) {
      ocv = NumberOr(c, "ocv", ocv), columns = NumberOr(c, "tile_ow", columns);
    }
    const double depth = D(t.s.cg * t.s.kh * t.s.kw), made = D(images * t.s.oh) * (i < window_at ? again : 1);
    tiles += made * depth * t.Cycles(ocv, columns);
    const double count = made * D(CeilDiv(t.blocks, ocv) * CeilDiv(t.s.ow, columns));
    loops += count * (kChainTileCycles + D(ocv * columns) + depth / D(NumberOr(c, "unroll_ic", t.DefaultUnroll())));
    ideal += D(images * t.s.oh * t.s.ow * t.blocks) * depth / 2;
    // Each row tile reads all weights of a last convolution; each of a tile's rows reads those of the tile again.
    const double bytes = depth * D(t.blocks * lanes) * 4, rounds = made / D(i < window_at ? row_block : row_tile);
    weights += kCaches.Read(bytes * rounds, bytes);
    const bool rows_outer = i > window_at && WordOr(c, "inner", "oc_rows") == "rows_oc";
    const double one = rows_outer ? bytes : depth * D(ocv * lanes) * 4;
    weights += kCaches.Read(bytes * made * D(CeilDiv(t.s.ow, columns)), one) / 2;
  }
  const double pixels = D(images * blocks * rows.out * ow);
  const int64_t tile = std::max<int64_t>(1, NumberOr(c, "dw_tile", std::min<int64_t>(ow, 8)));
  const double window = pixels * taps * 0.6 + D(images * blocks * rows.out * CeilDiv(ow, tile)) * kChainTileCycles;

  const int64_t between = conv_last ? blocks : NumberOr(c, "ocv", 1);
  double kept = 0, moved = 0;
  if (conv_first) {
    kept += D(rows.Rows(row_tile) * w * between * lanes) * 4;
    moved += D(images * blocks * rows.in * w * lanes) * 8 * again;
  }
  if (conv_last) {
    kept += D(row_tile * ow * blocks * lanes) * 4;
    moved += pixels * D(lanes) * 8;
  }
  const double scratch = kCaches.Read(moved, kept);

  const int64_t row_tasks = images * CeilDiv(rows.out, row_block);
  const int64_t tasks = row_tasks * (conv_last ? 1 : CeilDiv(blocks, co_block));
  const double size = D(row_block) * (conv_last ? 1 : D(co_block));
  const double all = D(images * rows.out) * (conv_last ? 1 : D(blocks));
  const double imbalance = D(CeilDiv(tasks, threads) * threads) * size / all;
  loops += D(tasks) * kChainTaskCycles;
  const double cycles = (tiles + window + loops + scratch + weights) * imbalance / D(threads);
  ideal += pixels * taps / 2;
  return {std::log(cycles),         LogShare(tiles, ideal), LogShare(weights, ideal), LogShare(scratch, ideal),
          LogShare(again - 1, 1.0), LogShare(loops, ideal), std::log(imbalance)};
}

}  // namespace

const Estimate& ChainEstimate() {
  static const Estimate estimate{[](const Workload& w, const Target& target) -> PointCost {
                                   return [w, target](const Config& c) { return EstimateChain(w, target, c); };
                                 },
                                 {"cycles", "tile", "weights", "scratch", "again", "loops", "imbalance"}};
  return estimate;
}

}  // namespace hone::op

// Dense layers: the steps of the register tiles, or the stream of the weights, whichever is slower.
#include <algorithm>
#include <cmath>

#include "op/estimate/parts.h"
#include "op/shapes.h"

namespace hone::op {

static std::vector<double> EstimateDense(const Workload& workload, const Target& target, const Config& c) {
  const int64_t n = workload.inputs[0].shape[0], k = workload.inputs[0].shape[1], m = workload.inputs[1].shape[0];
  const int64_t lanes = target.FloatLanes(), threads = std::max(target.threads, 1);
  const int64_t vectors = NumberOr(c, "vectors", 1), tile_n = NumberOr(c, "tile_n", 1);
  const int64_t parts = std::max<int64_t>(NumberOr(c, "k_parts", 1), 1);
  const int64_t unroll = std::max<int64_t>(NumberOr(c, "unroll_k", 1), 1), prefetch = Prefetches(c) ? 1 : 0;
  const int64_t task = std::max<int64_t>(NumberOr(c, "task", 1), 1);
  const bool by_rows = n > m;
  const double tiles_m = D(CeilDiv(m, vectors * lanes)), tiles_n = D(CeilDiv(n, tile_n));
  double steps = 0;
  for (const auto& [rows, a] : Pieces(n, tile_n)) {
    // `parts` independent sums of each output hide the latency.
    const double fma = D(vectors * rows * parts) / 2, loads = D((vectors + rows) * parts) / 2;
    const double spilled = std::max(0.0, D(vectors * rows * parts + vectors + 1) - target.vector_registers);
    steps += D(a) * tiles_m * D(k) / D(parts) * (std::max({fma, loads, 2.0}) + spilled);
  }
  const double bytes = D(m) * D(k) * 4;
  const double weights =
      bytes / kCaches.l3_rate * (prefetch > 0 ? 0.9 : 1) + kCaches.Read(bytes * (tiles_n - 1), bytes);
  const double tasks = by_rows ? tiles_n : D(CeilDiv(static_cast<int64_t>(tiles_m), task));
  const double loops =
      tiles_m * tiles_n * (0.15 * D(k) / D(parts * unroll) + 20 + D(vectors * tile_n * parts)) + tasks * 300;
  const double imbalance = D(CeilDiv(static_cast<int64_t>(tasks), threads)) * D(threads) / tasks;
  const double ideal = D(n) * tiles_m * D(vectors) * D(k) / 2;
  const double cycles = (std::max(steps, weights) + 0.2 * std::min(steps, weights) + loops) * imbalance / D(threads);
  return {std::log(cycles), LogShare(steps, ideal), LogShare(weights, ideal), LogShare(loops, ideal),
          std::log(imbalance)};
}

const Estimate& DenseEstimate() {
  static const Estimate estimate{[](const Workload& w, const Target& target) -> PointCost {
                                   return [w, target](const Config& c) { return EstimateDense(w, target, c); };
                                 },
                                 {"cycles", "tile", "weights", "loops", "imbalance"}};
  return estimate;
}

}  // namespace hone::op

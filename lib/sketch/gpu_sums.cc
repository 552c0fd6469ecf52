#include "sketch/gpu_sums.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/integers.h"
#include "search/space/rules.h"
#include "sketch/gpu_cost.h"
#include "sketch/gpu_sum_tiles.h"
#include "sketch/lines.h"
#include "sketch/stage_cycles.h"

namespace hone::sketch {
namespace {

int64_t Blocks(const GpuSums& s, const GpuSumPoint& p, size_t i) {
  return s.tiled[i] ? CeilDiv(s.Extent(*s.tiled[i]), p.shares[i].whole()) : 1;
}

search::GpuUse UseOf(const GpuSums& s, const GpuSumPoint& p) {
  search::GpuUse use;
  for (size_t i = 0; i < 3; ++i) use.threads[i] = p.shares[i].threads, use.blocks[i] = Blocks(s, p, i);
  for (const size_t axis : s.others) use.blocks[2] *= s.Extent(axis);
  for (const AxisShare& share : p.shares) use.vthreads *= share.spread;
  int64_t fetched = 0;
  for (const SumRead* read : s.Tensors()) fetched += p.Fetched(s, *read);
  if (p.shared) use.shared_bytes = 4 * fetched * p.stages;
  const int64_t rows = p.shares[1].mine(), columns = p.shares[0].mine() * p.shares[2].mine();
  int64_t other = p.shared && p.stages == 2 ? CeilDiv(fetched, p.Threads()) : 0;
  if (!p.shared) other = 2 * (rows + columns);  // addresses
  if (p.padded) {
    const int64_t threads = s.Storing();
    use.blocks[0] = std::max(use.blocks[0], CeilDiv(ElementsOf(s.nest.source.shape()), threads));
    if (use.Threads() < threads) use.threads[0] = CeilDiv(threads, use.threads[1] * use.threads[2]);
  }
  use.registers = search::TileRegisters(rows, columns, p.unroll, other + 8);
  use.body = rows * columns * p.unroll;
  return use;
}

std::vector<double> SumsCost(const GpuSums& s, const GpuSumPoint& p) {
  const search::GpuUse use = UseOf(s, p);
  const double rows = Real(p.shares[1].mine()), columns = Real(p.shares[0].mine() * p.shares[2].mine());
  const double steps = Real(s.nest.Steps()), rounds = Real(p.Rounds(s)), blocks = Real(use.Blocks());
  KernelWork work{.threads = blocks * Real(p.Threads()), .block = Real(p.Threads())};
  double fetched = 0, whole = 0, scattered = 1;
  for (const SumRead* read : s.Tensors()) {
    fetched += Real(p.Fetched(s, *read));
    whole += 4 * Real(ElementsOf(read->tensor.shape()));
    const auto uses_x = [&](const Term& term) { return term.axis == *s.tiled[0]; };
    if (read->Uses(*s.tiled[0]) && std::ranges::none_of(read->indices.back(), uses_x)) scattered = 8;
  }
  work.operations = rows * columns * steps * (1 + 0.25 / Real(p.unroll) + (p.unroll == 1 ? 0.25 : 0));
  if (p.shared) {
    work.operations += 2 * (rows + columns) * steps + rounds * fetched / Real(p.Threads()) * 8;
    work.shared = 4 * (columns + rows / 4) * steps;
    work.meetings = rounds * (p.stages == 2 ? 1 : 2);
    work.rounds = rounds * (p.stages == 2 ? 0.3 : 1);
  } else {
    // Loads take four times as long as multiply-adds, and the border costs tests.
    const double sectors = std::max({scattered, 8 / Real(p.shares[0].threads), 1.0});
    const double tests = s.nest.source.defined() && !p.padded ? 6 : 0;
    work.operations += (5 * rows + (5 * sectors + tests) * columns) * steps;
    work.rounds = steps / Real(p.unroll) / 2;
  }
  // The second-level cache delivers four times as much as memory.
  work.bytes = whole + 4 * Real(ElementsOf(s.nest.out.shape())) + blocks * rounds * fetched;
  GpuCost cost(s.limits);
  cost.Add(work);
  if (p.padded) {
    const double values = Real(ElementsOf(s.nest.source.shape()));
    cost.Add({.threads = values, .block = Real(s.Storing()), .operations = 8, .bytes = 8 * values});
  }
  return cost.Estimate();
}

// Powers of two, and divisors of the extent up to `most`: fewer threads than twice the extent.
std::vector<int64_t> ThreadValues(int64_t extent, int64_t most) {
  std::vector<int64_t> values;
  for (int64_t threads = 1; threads <= most; ++threads) {
    const bool even = threads > 4 && extent % threads == 0, power = (threads & (threads - 1)) == 0;
    if ((even || power) && (threads == 1 || threads < 2 * extent)) values.push_back(threads);
  }
  return values;
}

}  // namespace

std::optional<Sketch> GpuSumTiles(const te::Tensor& output, const std::vector<std::string>& constants,
                                  const Target& target) {
  const std::optional<GpuSums> found = GpuSumsOf(output, constants, target.limits);
  if (!found) return {};
  const GpuSums& s = *found;
  Sketch sketch;
  sketch.name = "gpu_sums";
  int64_t most_threads = 1;
  const auto numbers = [&](const std::string& name, std::vector<int64_t> values) {
    sketch.decisions.push_back(search::Knob::Choice(name, std::move(values)));
  };
  for (size_t i = 0; i < 3; ++i) {
    if (!s.tiled[i]) continue;
    const int64_t extent = s.Extent(*s.tiled[i]);
    const std::string at(1, kThreadAxes[i]);
    const std::vector<int64_t> threads =
        ThreadValues(extent, std::min(target.limits.max_block[i], i == 0 ? int64_t{256} : 32));
    most_threads *= threads.back();
    numbers("threads_" + at, threads);
    numbers("own_" + at,
            search::NoLarger(extent, i == 2 ? std::vector<int64_t>{1, 2, 4} : std::vector<int64_t>{1, 2, 4, 8}));
    numbers("spread_" + at,
            search::NoLarger(extent, i == 2 ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{1, 2, 4}));
  }
  if (most_threads < target.limits.warp_size) return {};
  numbers("step", search::NoLarger(2 * s.Extent(s.channels.back()) - 1, {1, 2, 4, 8, 16, 32}));
  numbers("unroll", {1, 2, 4, 8});
  numbers("stages", {1, 2});
  if (!s.window.empty()) sketch.decisions.push_back(search::Knob::Words("window", {"inside", "outside"}));
  std::vector<std::string> copies = {"shared", "cache"};
  if (s.nest.source.defined()) copies.push_back("padded");
  sketch.decisions.push_back(search::Knob::Words("copy", copies));
  AddGpuSumLines(s, &sketch);
  sketch.use = [s](const Config& config) { return UseOf(s, GpuSumPoint::Of(config)); };
  sketch.rules.push_back(search::DeviceRule(target, sketch.use));
  // The kernel that stores the copy may have more threads, but those of the sums must fill a warp as well.
  sketch.rules.push_back({"warp", [warp = target.limits.warp_size](const Config& config) {
                            const int64_t threads = GpuSumPoint::Of(config).Threads();
                            return search::Unless(threads >= warp, "{} threads a block, a warp has {}", threads, warp);
                          }});
  sketch.rules.push_back({"tile", [s](const Config& config) {
                            const GpuSumPoint p = GpuSumPoint::Of(config);
                            for (size_t i = 0; i < 3; ++i) {
                              const int64_t most = s.tiled[i] ? 2 * s.Extent(*s.tiled[i]) : 2;
                              const int64_t whole = p.shares[i].whole();
                              if (whole > 1 && whole >= most && p.shares[i].mine() > 1) {
                                return search::Rejection(
                                    fmt::format("{} of {} along {}", whole, most / 2, kThreadAxes[i]));
                              }
                            }
                            return search::Rejection();
                          }});
  sketch.rules.push_back({"copy", [](const Config& config) {
                            const GpuSumPoint p = GpuSumPoint::Of(config);
                            return search::Unless(p.shared || p.stages == 1, "without copies there are no stages");
                          }});
  sketch.cost = [s](const Config& config) { return SumsCost(s, GpuSumPoint::Of(config)); };
  return sketch;
}

}  // namespace hone::sketch

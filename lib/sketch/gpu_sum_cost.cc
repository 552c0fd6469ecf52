#include <algorithm>

#include "base/integers.h"
#include "sketch/gpu_cost.h"
#include "sketch/gpu_sum_tiles.h"
#include "sketch/stage_cycles.h"

namespace hone::sketch {

// Blocks along x, y or z.
static int64_t Blocks(const GpuSums& s, const GpuSumPoint& p, size_t i) {
  int64_t blocks = s.tiled[i] ? CeilDiv(s.Extent(*s.tiled[i]), p.shares[i].whole()) : 1;
  if (i < 2) return blocks;
  for (const size_t axis : s.others) blocks *= s.Extent(axis);
  return blocks * p.Parts(s);
}

search::GpuUse GpuSumUse(const GpuSums& s, const GpuSumPoint& p) {
  search::GpuUse use;
  for (size_t i = 0; i < 3; ++i) {
    use.threads[i] = p.shares[i].threads;
    use.blocks[i] = Blocks(s, p, i);
    use.vthreads *= p.shares[i].spread;
  }
  int64_t other = 2 * (p.Rows() + p.Columns());  // addresses
  if (p.shared) {
    int64_t fetched = 0;
    for (const GpuSumPoint::Box& box : p.Fetched(s)) fetched += box.elements;
    use.shared_bytes = 4 * fetched * p.stages;
    // With two stages, values for the next step wait in registers; with more, only addresses do.
    constexpr int64_t kCopies = 32;
    other = p.stages == 2 ? CeilDiv(fetched, p.Threads()) : p.stages > 2 ? kCopies : 0;
  }
  const auto store = [&](int64_t values) {  // another kernel, with a thread for each
    const int64_t threads = s.Storing();
    use.blocks[0] = std::max(use.blocks[0], CeilDiv(values, threads));
    if (use.Threads() < threads) use.threads[0] = CeilDiv(threads, use.threads[1] * use.threads[2]);
  };
  if (p.padded) store(ElementsOf(s.nest.source.shape()));
  if (p.divided) store(ElementsOf(s.nest.out.shape()));
  use.registers = search::TileRegisters(p.Rows(), p.Columns(), p.unroll, other + 8);
  use.body = p.Rows() * p.Columns() * p.unroll;
  return use;
}

std::vector<double> GpuSumCost(const GpuSums& s, const GpuSumPoint& p) {
  const double rows = Real(p.Rows()), columns = Real(p.Columns());
  const double parts = Real(p.Parts(s)), rounds = Real(p.Rounds(s));
  const double blocks = Real(Blocks(s, p, 0) * Blocks(s, p, 1) * Blocks(s, p, 2));
  const double steps = Real(s.nest.Steps()) / parts;
  KernelWork work{.threads = blocks * Real(p.Threads()), .block = Real(p.Threads())};
  double fetched = 0, delivered = 0, whole = 0, scattered = 1;
  const std::vector<GpuSumPoint::Box> boxes = p.Fetched(s);
  for (size_t i = 0; i < boxes.size(); ++i) {
    const SumRead& read = s.inputs[i].read;
    fetched += Real(boxes[i].elements);
    delivered += Real(boxes[i].elements) * std::max(1.0, kSector / Real(boxes[i].run));
    whole += 4 * Real(ElementsOf(read.tensor.shape()));
    const auto uses_x = [&](const Term& term) { return term.axis == *s.tiled[0]; };
    if (read.Uses(*s.tiled[0]) && std::ranges::none_of(read.indices[s.inputs[i].last], uses_x)) scattered = kSector;
  }
  work.operations = rows * columns * steps * (1 + 0.25 / Real(p.unroll) + (p.unroll == 1 ? 0.25 : 0));
  if (p.shared) {
    work.operations += 2 * (rows + columns) * steps + rounds * fetched / Real(p.Threads()) * 8;
    work.shared = 4 * (columns + rows / 4) * steps;
    work.meetings = rounds * (p.stages >= 2 ? 1 : 2);
    work.rounds = rounds * (p.stages >= 2 ? 0.3 : 1);
  } else {
    // Loads take four times as long as multiply-adds, and the border costs tests.
    const double sectors = std::max({scattered, kSector / Real(p.shares[0].threads), 1.0});
    const double tests = s.nest.source.defined() && !p.padded ? 6 : 0;
    work.operations += (5 * rows + (5 * sectors + tests) * columns) * steps;
    work.rounds = steps / Real(p.unroll) / 2;
  }
  const double values = Real(ElementsOf(s.nest.out.shape()));
  const double stored = std::max(1.0, kSector / Real(p.shares[0].threads * p.shares[0].own));
  // The second-level cache delivers four times as much as memory.
  work.bytes = whole + 4 * values * parts * stored + blocks * rounds * (p.shared ? delivered : fetched);
  GpuCost cost(s.limits);
  cost.Add(work);
  const double storing = Real(s.Storing());
  if (p.padded) {
    const double padded = Real(ElementsOf(s.nest.source.shape()));
    cost.Add({.threads = padded, .block = storing, .operations = 8, .bytes = 8 * padded});
  }
  if (p.divided) {
    // The parts may still be in the second-level cache.
    cost.Add(
        {.threads = values, .block = storing, .operations = 4 * parts, .rounds = 2, .bytes = values * (parts + 4)});
  }
  return cost.Estimate();
}

}  // namespace hone::sketch

// The estimate of the rule `sums`: cycles of one core with two multiply-adds and two loads each cycle, and four cycles
// until a sum can be added to again. Memory: walking the loops from the inside, each loop reads what it has read before
// from the cache that holds everything that its body touches.
#include <algorithm>
#include <cmath>

#include "base/integers.h"
#include "search/space/rules.h"
#include "sketch/sum_tiles.h"
#include "target/caches.h"

namespace hone::sketch {
namespace {

constexpr double kTaskCycles = 500, kTileCycles = 20, kRoundCycles = 0.15;
constexpr double kHidden = 0.35;  // share of reads from beyond the first-level cache that arithmetic does not hide
constexpr double kEarly = 0.85;   // share of waiting for constants that remains with software prefetch

// Two multiply-adds of pairs and two additions take as many of three ports; each vector or broadcast value takes three
// operations to become pairs.
constexpr double kPairs = 4.0 / 3;

double D(int64_t x) { return static_cast<double>(x); }

// The time for work on two kinds of ports: that of the busier one, but where both are equally busy, a fifth more.
double Together(double a, double b) { return std::sqrt(std::hypot(a * a, b * b)); }

struct Loop {
  size_t axis;
  int64_t count;
};

// All loops outside of a tile's step, outermost first.
std::vector<Loop> LoopsOf(const SumLoops& l, const SumPoint& p) {
  std::vector<Loop> loops;
  const auto add_others = [&] {
    for (size_t axis : l.others) loops.push_back({axis, l.Extent(axis)});
  };
  if (p.others_apart) add_others();
  loops.push_back({l.block_axis(), p.RowParts(l)});
  loops.push_back({l.vectors, p.VectorParts(l)});
  if (!p.others_apart) add_others();
  const int64_t block_tiles = CeilDiv(CeilDiv(l.Extent(l.block_axis()), p.BlockTile(l)), p.RowParts(l));
  const Loop vectors{l.vectors, CeilDiv(CeilDiv(l.VectorCount(), p.vectors), p.VectorParts(l))};
  std::vector<Loop> rows = {{l.block_axis(), block_tiles}};
  if (l.outer_rows) rows.push_back({l.rows, CeilDiv(l.Extent(l.rows), p.rows)});
  const ptrdiff_t before = p.order == TileOrder::kRowsInside      ? 0
                           : p.order == TileOrder::kVectorsInside ? std::ssize(rows)
                                                                  : 1;
  rows.insert(rows.begin() + before, vectors);
  loops.insert(loops.end(), rows.begin(), rows.end());
  const auto add = [&](size_t axis) { loops.push_back({axis, l.Extent(axis)}); };
  const bool first_outside = !p.window_outside && l.channels.size() > 1;
  if (first_outside) add(l.channels[0]);
  for (size_t axis : l.window) add(axis);
  for (size_t i = first_outside ? 1 : 0; i < l.channels.size(); ++i) add(l.channels[i]);
  return loops;
}

// Cycles of waiting for a vector in another page. Rows at multiples of a page share places in the caches.
double FarCycles(const SumLoops& l) {
  constexpr int64_t kPage = 4096;
  return l.FarStride() % kPage == 0 ? 60 : l.FarStride() >= kPage ? 20 : 3;
}

struct Memory {
  double again = 0, first = 0;  // cycles
};

Memory MemoryOf(const SumLoops& l, const SumPoint& p) {
  const std::vector<Loop> loops = LoopsOf(l, p);
  double rounds = 1;
  for (const Loop& loop : loops) rounds *= D(loop.count);
  std::vector<int64_t> cover = TileCover(l, p);
  const std::vector<int64_t> extents = l.nest.Extents();
  const auto early = [&](const SumRead& read) { return read.constant && p.prefetch ? kEarly : 1; };
  std::vector<double> bytes(l.nest.reads.size());
  const auto measure = [&] {
    double all = 0;
    for (size_t r = 0; r < bytes.size(); ++r) {
      all += bytes[r] = D(l.nest.reads[r].bytes()) * l.nest.reads[r].Elements(cover);
    }
    return all;
  };
  Memory memory;
  double inside = measure();
  for (size_t i = loops.size(); i-- > 0;) {
    const Loop& loop = loops[i];
    if (loop.count == 1) continue;
    rounds /= D(loop.count);
    cover[loop.axis] = std::min(cover[loop.axis] * loop.count, extents[loop.axis]);
    const std::vector<double> before = bytes;
    const double outside = measure();
    for (size_t r = 0; r < bytes.size(); ++r) {
      const double repeated = std::max(D(loop.count) * before[r] - bytes[r], 0.0);
      memory.again += kHidden * early(l.nest.reads[r]) * kCaches.Read(rounds * repeated, inside);
    }
    inside = outside;
  }
  for (size_t r = 0; r < bytes.size(); ++r) memory.first += early(l.nest.reads[r]) * bytes[r] / kCaches.l3_rate;
  return memory;
}

// A copy waits for several vectors at a time.
double PanelCycles(const SumLoops& l, const SumPoint& p) {
  const double panels = D(p.RowParts(l) * CeilDiv(l.VectorCount(), p.vectors)) * D(l.OtherTasks());
  return panels * D(p.vectors * l.nest.Steps()) * (2 + FarCycles(l) / 6);
}

}  // namespace

std::vector<int64_t> TileCover(const SumLoops& l, const SumPoint& p) {
  std::vector<int64_t> cover(l.nest.axes.size(), 1);
  cover[l.nest.last()] = std::min(l.lanes, l.Extent(l.nest.last()));
  cover[l.rows] = p.rows;
  if (l.outer_rows) cover[*l.outer_rows] = p.outer_rows;
  cover[l.vectors] = std::min(p.vectors * l.VectorWidth(), l.Extent(l.vectors));
  return cover;
}

double BroadcastsOf(const SumLoops& l, const SumPoint& p) {
  std::vector<int64_t> cover = TileCover(l, p);
  double taps = 1;
  if (p.taps) cover[l.window.back()] = l.Extent(l.window.back()), taps = D(l.Extent(l.window.back()));
  double elements = 0;
  for (const SumRead& read : l.nest.reads) {
    if (!read.Uses(l.nest.last())) elements += read.Elements(cover) / taps;
  }
  return elements;
}

double ImbalanceOf(const SumLoops& l, const SumPoint& p) {
  const int64_t rows = l.Extent(l.block_axis()), vectors = l.VectorCount();
  const double size = D(CeilDiv(rows, p.RowParts(l)) * CeilDiv(vectors, p.VectorParts(l)));
  const double others = p.others_apart ? D(l.OtherTasks()) : 1;
  return search::Imbalance(p.Tasks(l), size, others * D(rows * vectors), l.threads);
}

double TileCycles(const SumLoops& l, const SumPoint& p) {
  const auto pieces = [](int64_t extent, int64_t piece) {
    return std::vector<std::pair<int64_t, int64_t>>{{piece, extent / piece}, {extent % piece, extent % piece != 0}};
  };
  const double far = l.far && !p.panel ? FarCycles(l) : 0;
  double cycles = 0;
  for (const auto& [rows, a] : pieces(l.Extent(l.rows), p.rows)) {
    for (const auto& [outer, b] : pieces(l.outer_rows ? l.Extent(*l.outer_rows) : 1, p.outer_rows)) {
      for (const auto& [vectors, c] : pieces(l.VectorCount(), p.vectors)) {
        if (a * b * c == 0) continue;
        SumPoint part = p;
        part.rows = rows, part.outer_rows = outer, part.vectors = vectors;
        double streams = 0;
        for (const SumRead& read : l.nest.reads) streams += read.Uses(l.nest.last()) ? D(vectors) : 0;
        const double sums = D(rows * outer * vectors), loads = streams + BroadcastsOf(l, part);
        // Constants come from the second-level cache at half a vector a cycle.
        const double product = l.pairs ? kPairs * sums + D(vectors) + BroadcastsOf(l, part) : sums / 2;
        const double busy = Together(product, loads / 2);
        const double step = std::max({busy, 4.0, 2 * D(vectors)}) + far * D(vectors);
        // Pairs also need a register for a mask or an intermediate value.
        const double broadcasts = l.by_element && BroadcastsOf(l, part) > 0 ? D(rows * outer) : 1;
        const double factors = D(l.factor_registers) * (D(vectors) + broadcasts) + (l.pairs ? 1 : 0);
        const double spilled = std::max(0.0, sums + factors - l.registers);
        cycles += D(a * b * c) * (step + 0.3 + spilled);
      }
    }
  }
  return cycles * D(l.Steps()) * D(l.OtherTasks());
}

double CopyBytes(const SumLoops& l, const SumPoint& p) {
  std::vector<int64_t> cover = l.nest.Extents();
  if (p.copy_in_task) {
    const size_t block = l.block_axis();
    cover[block] = CeilDiv(cover[block], p.RowParts(l));
    cover[l.vectors] = std::min(cover[l.vectors], p.block_vectors * p.vectors * l.VectorWidth());  // with groups
    if (p.others_apart) {
      for (size_t axis : l.others) cover[axis] = 1;
    }
  }
  double bytes = 0;
  for (const SumRead& read : l.nest.reads) {
    if (read.tensor.node() != l.nest.source.node()) continue;
    bytes = std::max(bytes, D(read.bytes()) * read.Elements(cover));
  }
  return bytes;
}

// A vector costs a load and a store, and more if all of it lies in memory between.
double CopyCycles(const SumLoops& l, const SumPoint& p) {
  if (!l.nest.source.defined()) return 0;
  const double vectors = CopyBytes(l, p) / D(l.nest.source.type().bytes() * l.lanes);
  return vectors * (p.copy_in_task ? 2 * D(p.Tasks(l)) : 5);
}

double IdealCycles(const SumLoops& l) {
  return D(l.OtherTasks()) * D(l.Extent(l.rows)) * D(l.outer_rows ? l.Extent(*l.outer_rows) : 1) * D(l.VectorCount()) *
         D(l.Steps()) * (l.pairs ? kPairs : 0.5);
}

std::vector<double> SumCost(const SumLoops& l, const SumPoint& p) {
  const double steps = TileCycles(l, p), copies = CopyCycles(l, p) + (p.panel ? PanelCycles(l, p) : 0),
               imbalance = ImbalanceOf(l, p);
  const Memory memory = MemoryOf(l, p);
  const double tiles = D(l.OtherTasks()) * D(CeilDiv(l.Extent(l.rows), p.rows)) *
                       D(l.outer_rows ? CeilDiv(l.Extent(*l.outer_rows), p.outer_rows) : 1) *
                       D(CeilDiv(l.VectorCount(), p.vectors));
  const double rounds = D(l.Steps()) / D(p.unroll * (p.taps ? l.Extent(l.window.back()) : 1));
  const double loops = tiles * (kTileCycles + 1.5 * D(p.rows * p.outer_rows * p.vectors) + kRoundCycles * rounds) +
                       D(p.Tasks(l)) * kTaskCycles;
  const double cycles = (steps + memory.again + memory.first + copies + loops) * imbalance / l.threads;
  const double ideal = IdealCycles(l);
  const auto share = [&](double part) { return std::log1p(part / ideal); };
  return {std::log(cycles), share(steps), share(memory.again), share(memory.first),
          share(copies),    share(loops), std::log(imbalance)};
}

}  // namespace hone::sketch

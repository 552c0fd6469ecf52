#include "op/conv2d_winograd_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "op/knobs.h"
#include "op/shapes.h"

namespace hone::op {
namespace {

using search::Knob;
using search::Space;
using Rejection = std::optional<std::string>;

constexpr int64_t kScratchBytes = 7 << 18;  // what a core keeps near: v and m of a task
constexpr int64_t kUnrolledFmas = 256;      // compile time grows with them, speed does not

// Tiles of a task: all rows of an image, or some such that all tasks are of one size, or an even part of one row.
std::vector<int64_t> Blocks(int64_t rows, int64_t columns) {
  std::vector<int64_t> values;
  for (int64_t v : {4, 3, 2}) {
    if (columns % v == 0 && columns / v >= 7) values.push_back(columns / v);
  }
  for (int64_t v : {1, 2, 3, 4, 5, 7, 8}) {
    if (v < rows && rows % v == 0) values.push_back(v * columns);
  }
  values.push_back(rows * columns);
  return values;
}

std::vector<int64_t> OcBlocks(const WinogradLayer& l) {
  int64_t t = l.threads;
  return PartsFor(l.oc_blocks, {1, t, 2 * t, 4 * t});
}

std::vector<int64_t> OcvValues(const WinogradLayer& l) {
  std::vector<int64_t> values;
  for (int64_t v : {1, 2, 4}) {
    if (l.oc_blocks % v == 0) values.push_back(v);
  }
  return values;
}

double TaskImbalance(const WinogradLayer& l, const WinogradPoint& p) {
  int64_t tiles = l.TileRows(p.m) * l.TileColumns(p.m);
  int64_t tasks = l.s.n * CeilDiv(l.oc_blocks, p.oc_block) * CeilDiv(tiles, p.block);
  return Imbalance(tasks, static_cast<double>(p.oc_block * p.block), static_cast<double>(l.s.n * l.oc_blocks * tiles),
                   l.threads);
}

// The input's transforms against the products, in time: one of alpha^2 elements costs about what 4 FMAs do, and is done
// again for each block of output channels.
double TransformShare(const WinogradLayer& l, int64_t oc_block) {
  return 4.0 / static_cast<double>(oc_block * l.lanes);
}

// Are they cheap enough? Channels may always be split among the threads once.
bool TransformsFit(const WinogradLayer& l, int64_t oc_block) {
  return TransformShare(l, oc_block) <= 0.07 || oc_block * l.threads >= l.oc_blocks;
}

// The least imbalance of all tasks of this size of tile.
double BestImbalance(const WinogradLayer& l, int64_t m, int64_t ocv) {
  double best = l.threads;
  for (int64_t oc : OcBlocks(l)) {
    for (int64_t block : Blocks(l.TileRows(m), l.TileColumns(m))) {
      if (oc % ocv != 0 || l.oc_blocks % oc != 0 || !TransformsFit(l, oc)) continue;
      WinogradPoint p{m, false, ocv, 1, oc, block, 1, 0};
      best = std::min(best, TaskImbalance(l, p));
    }
  }
  return best;
}

int64_t ScratchBytes(const WinogradLayer& l, const WinogradPoint& p) {
  int64_t channels = l.ic_blocks + (p.by_channel ? p.ocv : p.oc_block);
  return p.alpha() * p.alpha() * p.block * channels * l.lanes * 4;
}

void AddRules(const WinogradLayer& l, Space* space) {
  auto add = [&](const char* name, std::function<Rejection(const WinogradPoint&)> rule) {
    space->AddRule({name, [rule = std::move(rule)](const Config& c) { return rule(WinogradPoint::Of(c)); }});
  };
  add("oc block", [l](const WinogradPoint& p) -> Rejection {
    if (p.oc_block % p.ocv == 0 && l.oc_blocks % p.oc_block == 0) return {};
    return fmt::format("{} blocks do not come out even in tasks of {} by ocv={}", l.oc_blocks, p.oc_block, p.ocv);
  });
  add("block", [l](const WinogradPoint& p) -> Rejection {
    int64_t rows = l.TileRows(p.m), columns = l.TileColumns(p.m);
    std::vector<int64_t> blocks = Blocks(rows, columns);
    if (std::find(blocks.begin(), blocks.end(), p.block) != blocks.end()) return {};
    return fmt::format("{} x {} tiles do not come out even in tasks of {}", rows, columns, p.block);
  });
  add("registers", [l](const WinogradPoint& p) -> Rejection {
    int64_t need = p.ocv * p.tiles + p.ocv + 1;
    if (need <= l.registers) return {};
    return fmt::format("{} x {} accumulators need {} of {} registers", p.ocv, p.tiles, need, l.registers);
  });
  add("tiles", [l](const WinogradPoint& p) -> Rejection {
    int64_t count = p.block, even = CeilDiv(count, CeilDiv(count, p.tiles));
    if (p.tiles == even) return {};
    return fmt::format("{} tiles a task come out more evenly in {} than in {}", count, even, p.tiles);
  });
  add("register tile", [l](const WinogradPoint& p) -> Rejection {
    int64_t most = std::min(p.block, (l.registers - 1) / p.ocv - 1);
    if (3 * p.tiles >= 2 * most || p.ocv * p.tiles >= l.registers / 2) return {};
    return fmt::format("{} tiles are too few, {} are possible", p.tiles, most);
  });
  add("code size", [](const WinogradPoint& p) -> Rejection {
    int64_t fmas = p.ocv * p.tiles * p.unroll_ic;
    if (fmas <= kUnrolledFmas) return {};
    return fmt::format("{} unrolled multiply-adds, at most {}", fmas, kUnrolledFmas);
  });
  add("parallel", [l](const WinogradPoint& p) -> Rejection {
    double imbalance = TaskImbalance(l, p), limit = std::max(1.25, BestImbalance(l, p.m, p.ocv) * 1.02);
    if (imbalance <= limit) return {};
    return fmt::format("the busiest of {} threads would work {:.2f} times the average", l.threads, imbalance);
  });
  add("form", [](const WinogradPoint& p) -> Rejection {
    if (p.by_channel || p.oc_block > p.ocv) return {};
    return std::string("one register tile of channels a task: the same as oc_xi");
  });
  add("scratch", [l](const WinogradPoint& p) -> Rejection {
    int64_t bytes = ScratchBytes(l, p);
    if (bytes <= kScratchBytes) return {};
    return fmt::format("{} KB of scratch for each thread, at most {}", bytes >> 10, kScratchBytes >> 10);
  });
  add("transforms", [l](const WinogradPoint& p) -> Rejection {
    if (TransformsFit(l, p.oc_block)) return {};
    return fmt::format("the input's transforms would cost {:.0f} % of the work", 100 * TransformShare(l, p.oc_block));
  });
}

}  // namespace

WinogradLayer WinogradLayer::Of(const Workload& workload, const Target& target) {
  WinogradLayer l;
  l.s = Conv2dShape::Of(workload);
  l.lanes = target.FloatLanes();
  l.threads = std::max(target.threads, 1);
  l.registers = target.vector_registers;
  l.ic_blocks = CeilDiv(l.s.c, l.lanes);
  l.oc_blocks = CeilDiv(l.s.o, l.lanes);
  return l;
}

int64_t WinogradLayer::TileRows(int64_t m) const { return CeilDiv(s.oh, m); }
int64_t WinogradLayer::TileColumns(int64_t m) const { return CeilDiv(s.ow, m); }

double WinogradLayer::Work(int64_t m) const {
  double products = static_cast<double>(TileRows(m) * TileColumns(m) * (m + 2) * (m + 2));
  return products / static_cast<double>(s.oh * s.ow * 9);
}

std::vector<int64_t> WinogradLayer::Sizes() const {
  std::vector<int64_t> sizes;
  for (int64_t m : {2, 4, 6}) {
    if (Work(m) <= 0.9) sizes.push_back(m);
  }
  return sizes;
}

WinogradPoint WinogradPoint::Of(const Config& c) {
  return {c.Number("m"),        c.Word("form") == "oc_xi", c.Number("ocv"),       c.Number("tiles"),
          c.Number("oc_block"), c.Number("block"),         c.Number("unroll_ic"), c.Number("prefetch")};
}

Space WinogradSpace(const WinogradLayer& l) {
  Space space("conv2d_winograd");
  std::set<int64_t> blocks, tiles;
  for (int64_t m : l.Sizes()) {
    for (int64_t block : Blocks(l.TileRows(m), l.TileColumns(m))) {
      blocks.insert(block);
      for (int64_t t : EvenParts(block, 1, l.registers - 4)) {
        if (t >= 4 || t == block) tiles.insert(t);
      }
    }
  }
  space.Add(Knob::Choice("m", l.Sizes()));
  space.Add(Knob::Words("form", {"xi_oc", "oc_xi"}));
  space.Add(Knob::Choice("ocv", OcvValues(l)));
  space.Add(Knob::Choice("tiles", {tiles.begin(), tiles.end()}));
  space.Add(Knob::Choice("oc_block", OcBlocks(l)));
  space.Add(Knob::Choice("block", {blocks.begin(), blocks.end()}));
  space.Add(Knob::Choice("unroll_ic", {4, 8}));
  bool far = l.oc_blocks * l.ic_blocks * l.lanes * l.lanes * 4 * 16 >= 1 << 18;
  space.Add(Knob::Choice("prefetch", far ? std::vector<int64_t>{0, 4096} : std::vector<int64_t>{0}));
  AddRules(l, &space);
  return space;
}

Result<Config> WinogradDefault(const Space& space, const WinogradLayer& l) {
  int64_t m = l.Sizes().front();
  for (int64_t size : l.Sizes()) {
    if (size <= 4 && l.Work(size) < l.Work(m)) m = size;
  }
  int64_t columns = l.TileColumns(m), all = l.TileRows(m) * columns;
  bool by_channel = all <= 64 && l.oc_blocks >= 2 * l.threads;
  HONE_ASSIGN_OR_RETURN(Config config, PointOf(space, {{"m", m},
                                                       {"form", by_channel ? "oc_xi" : "xi_oc"},
                                                       {"ocv", OcvValues(l).size() > 1 ? int64_t{2} : int64_t{1}},
                                                       {"tiles", space.knobs()[3].value(0).numbers[0]},
                                                       {"oc_block", OcBlocks(l)[by_channel ? 1 : 0]},
                                                       {"block", by_channel ? all : columns},
                                                       {"unroll_ic", int64_t{4}},
                                                       {"prefetch", int64_t{0}}}));
  return LegalNear(space, config);
}

}  // namespace hone::op

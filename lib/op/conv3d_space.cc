#include "op/conv3d_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "op/knobs.h"
#include "op/shapes.h"

namespace hone::op {
namespace {

using search::Knob;
using search::Space;
using Rejection = std::optional<std::string>;

constexpr int64_t kL2Bytes = 1 << 20;
constexpr int64_t kUnrolledFmas = 640;

int64_t Rows(const Layer3d& l) { return l.s.out(1); }
int64_t Columns(const Layer3d& l) { return l.s.out(2); }

std::vector<int64_t> OcvValues(const Layer3d& l) {
  std::vector<int64_t> values;
  for (int64_t v : {1, 2, 3, 4}) {
    if (l.oc_blocks % v == 0 || (v == 2 && l.oc_blocks >= 5)) values.push_back(v);
  }
  return values;
}

std::vector<int64_t> TileOhValues(const Layer3d& l) {
  std::vector<int64_t> values = {1};
  if (Columns(l) > 14) return values;
  for (int64_t v : {2, 4, 7}) {
    if (v <= Rows(l) && v * std::min<int64_t>(Columns(l), 4) <= l.registers - 4) values.push_back(v);
  }
  return values;
}

std::vector<int64_t> BlockValues(const Layer3d& l, int64_t extent) {
  const int64_t t = std::max(l.threads, 1);
  return PartsFor(extent, {1, t, 2 * t, 4 * t, 8 * t});
}

bool Fits(int64_t extent, int64_t block, int64_t tile) {
  return block == extent || (block % tile == 0 && (extent % block == 0 || tile == 1));
}

double TaskImbalance(const Layer3d& l, int64_t oc_block, int64_t row_block) {
  const int64_t images = l.s.n * l.s.out(0);
  const int64_t tasks = images * CeilDiv(l.oc_blocks, oc_block) * CeilDiv(Rows(l), row_block);
  return Imbalance(tasks, static_cast<double>(oc_block * row_block),
                   static_cast<double>(images * l.oc_blocks * Rows(l)), l.threads);
}

struct Tile {
  int64_t ocv, oh, ow;
  int64_t accumulators() const { return ocv * oh * ow; }
  int64_t registers() const { return accumulators() + ocv + 1; }
};

double BestImbalance(const Layer3d& l, const Tile& t) {
  double best = l.threads;
  for (int64_t oc : BlockValues(l, l.oc_blocks)) {
    for (int64_t rows : BlockValues(l, Rows(l))) {
      if (Fits(l.oc_blocks, oc, t.ocv) && Fits(Rows(l), rows, t.oh)) best = std::min(best, TaskImbalance(l, oc, rows));
    }
  }
  return best;
}

template <typename Visit>
void ForTiles(const Layer3d& l, const Visit& visit) {
  for (int64_t ocv : OcvValues(l)) {
    for (int64_t oh : TileOhValues(l)) {
      for (int64_t ow : EvenParts(Columns(l), 1, l.registers - 4)) {
        if (Tile t{ocv, oh, ow}; t.registers() <= l.registers) visit(t);
      }
    }
  }
}

// Rules are relative to what the layer allows, so that every layer has a legal point.
struct Reach {
  double imbalance = 1.25;
  int64_t accumulators = 1;
};
Reach ReachOf(const Layer3d& l) {
  Reach reach;
  double best = l.threads;
  ForTiles(l, [&](const Tile& t) { best = std::min(best, BestImbalance(l, t)); });
  reach.imbalance = std::max(reach.imbalance, best * 1.02);
  ForTiles(l, [&](const Tile& t) {
    if (BestImbalance(l, t) <= reach.imbalance) reach.accumulators = std::max(reach.accumulators, t.accumulators());
  });
  return reach;
}

// Copying into the padded input against the work, in time: a copied vector costs about what 8 FMAs do.
double PadShare(const Layer3d& l, const Point3d& p) {
  const double images = static_cast<double>(l.s.n * l.s.out(0));
  const double tasks = static_cast<double>(CeilDiv(l.oc_blocks, p.oc_block) * CeilDiv(Rows(l), p.row_block));
  const double vectors = tasks * static_cast<double>(l.PadElements(p.row_block)) / static_cast<double>(l.lanes);
  const double work = static_cast<double>(l.oc_blocks * Rows(l) * Columns(l)) *
                      static_cast<double>(l.ic_blocks * l.ic_lanes * l.s.taps());
  return 8 * images * vectors / (images * work);
}

std::vector<int64_t> UnrollValues(const Layer3d& l) {
  std::vector<int64_t> values;
  for (int64_t v : {1, 2, 3, 4, 8, 16}) {
    if (l.ic_lanes % v == 0) values.push_back(v);
  }
  return values;
}

void AddRules(const Layer3d& l, Space* space) {
  auto add = [&](const char* name, std::function<Rejection(const Point3d&)> rule) {
    space->AddRule({name, [rule = std::move(rule)](const Config& c) { return rule(Point3d::Of(c)); }});
  };
  const Reach reach = ReachOf(l);
  const int64_t least = std::min<int64_t>(l.registers * 3 / 8, reach.accumulators);
  add("registers", [l](const Point3d& p) -> Rejection {
    const Tile t{p.ocv, p.tile_oh, p.tile_ow};
    if (t.registers() <= l.registers) return {};
    return fmt::format("{} accumulators need {} of {} registers", t.accumulators(), t.registers(), l.registers);
  });
  add("register tile", [least](const Point3d& p) -> Rejection {
    const Tile t{p.ocv, p.tile_oh, p.tile_ow};
    if (t.accumulators() >= least) return {};
    return fmt::format("{} accumulators are too few, at least {}", t.accumulators(), least);
  });
  add("code size", [](const Point3d& p) -> Rejection {
    const int64_t fmas = p.ocv * p.tile_oh * p.tile_ow * p.unroll_ic;
    if (fmas <= kUnrolledFmas) return {};
    return fmt::format("{} unrolled multiply-adds, at most {}", fmas, kUnrolledFmas);
  });
  add("blocks", [l](const Point3d& p) -> Rejection {
    if (!Fits(l.oc_blocks, p.oc_block, p.ocv)) return std::string("tiles do not come out even in the task's channels");
    if (!Fits(Rows(l), p.row_block, p.tile_oh)) return std::string("tiles do not come out even in the task's rows");
    return {};
  });
  add("parallel", [l, limit = reach.imbalance](const Point3d& p) -> Rejection {
    const double imbalance = TaskImbalance(l, p.oc_block, p.row_block);
    if (imbalance <= limit) return {};
    return fmt::format("the busiest of {} threads would work {:.2f} times the average", l.threads, imbalance);
  });
  add("inner", [](const Point3d& p) -> Rejection {
    if (!p.rows_outer || (p.oc_block > p.ocv && p.row_block > p.tile_oh)) return {};
    return std::string("only one tile a task in one direction: rows_oc is the same as oc_rows");
  });
  add("pad", [l](const Point3d& p) -> Rejection {
    if (p.pad != "task") return {};
    const int64_t bytes = l.PadElements(p.row_block) * 4;
    if (bytes > 4 * kL2Bytes) return fmt::format("{} KB of padded input for each thread", bytes >> 10);
    const double share = PadShare(l, p);
    if (share > 0.15) return fmt::format("copying the padded input would cost {:.0f} % of the work", 100 * share);
    return {};
  });
}

// Cycles of the layer's tiles on a core with two FMA and two load ports, partial tiles included.
double TileCycles(const Layer3d& l, const Tile& t) {
  auto step = [](int64_t ocv, int64_t pixels) {
    return std::max({static_cast<double>(ocv * pixels) / 2, static_cast<double>(ocv + pixels) / 2, 4.0,
                     2.0 * static_cast<double>(ocv)}) +
           0.3;
  };
  auto parts = [](int64_t extent, int64_t tile) {
    std::vector<std::pair<int64_t, int64_t>> r = {{tile, extent / tile}};
    if (extent % tile) r.push_back({extent % tile, 1});
    return r;
  };
  double cycles = 0;
  for (auto [ocv, ocs] : parts(l.oc_blocks, t.ocv)) {
    for (auto [oh, rows] : parts(Rows(l), t.oh)) {
      for (auto [ow, columns] : parts(Columns(l), t.ow)) {
        cycles += static_cast<double>(ocs * rows * columns) * step(ocv, oh * ow);
      }
    }
  }
  return cycles;
}

}  // namespace

Layer3d Layer3d::Of(const Workload& workload, const Target& target) {
  Layer3d l;
  l.s = Conv3dShape::Of(workload);
  l.lanes = target.FloatLanes();
  l.registers = target.vector_registers;
  l.threads = std::max(target.threads, 1);
  l.ic_blocks = l.s.plain_input ? 1 : CeilDiv(l.s.c, l.lanes);
  l.ic_lanes = l.s.plain_input ? l.s.c : l.lanes;
  l.oc_blocks = CeilDiv(l.s.o, l.lanes);
  l.pad = l.s.NeedsPad();
  return l;
}

int64_t Layer3d::PadElements(int64_t rows) const {
  const int64_t depth = (s.k(0) - 1) * s.d(0) + 1, height = (rows - 1) * s.s(1) + (s.k(1) - 1) * s.d(1) + 1;
  return ic_blocks * ic_lanes * depth * height * s.reach(2);
}

Point3d Point3d::Of(const Config& c) {
  return {c.Number("ocv"),       c.Number("tile_oh"),   c.Number("tile_ow"),
          c.Number("oc_block"),  c.Number("row_block"), c.Word("inner") == "rows_oc",
          c.Number("unroll_ic"), c.Number("prefetch"),  c.Word("pad")};
}

Space Space3d(const Layer3d& l) {
  Space space("conv3d_direct");
  space.Add(Knob::Choice("ocv", OcvValues(l)));
  space.Add(Knob::Choice("tile_oh", TileOhValues(l)));
  space.Add(Knob::Choice("tile_ow", EvenParts(Columns(l), 1, l.registers - 4)));
  space.Add(Knob::Choice("oc_block", BlockValues(l, l.oc_blocks)));
  space.Add(Knob::Choice("row_block", BlockValues(l, Rows(l))));
  space.Add(Knob::Words("inner", {"oc_rows", "rows_oc"}));
  space.Add(Knob::Choice("unroll_ic", UnrollValues(l)));
  const bool far = l.WeightBytes(l.oc_blocks) >= kL2Bytes / 8;
  space.Add(Knob::Choice("prefetch", far ? std::vector<int64_t>{0, 1024, 4096} : std::vector<int64_t>{0}));
  space.Add(Knob::Words("pad", l.pad ? std::vector<std::string>{"task", "root"} : std::vector<std::string>{"none"}));
  AddRules(l, &space);
  return space;
}

Result<Config> Default3d(const Space& space, const Layer3d& l) {
  Tile best{1, 1, 1};
  const Reach reach = ReachOf(l);
  double best_cycles = INFINITY;
  ForTiles(l, [&](const Tile& t) {
    if (BestImbalance(l, t) > reach.imbalance) return;
    if (double cycles = TileCycles(l, t); cycles < best_cycles) best = t, best_cycles = cycles;
  });
  const bool prefer_rows = l.WeightBytes(l.oc_blocks) <= kL2Bytes;
  int64_t oc_block = l.oc_blocks, row_block = Rows(l);
  double best_score = INFINITY;
  for (int64_t oc : BlockValues(l, l.oc_blocks)) {
    for (int64_t rows : BlockValues(l, Rows(l))) {
      if (!Fits(l.oc_blocks, oc, best.ocv) || !Fits(Rows(l), rows, best.oh)) continue;
      double score = TaskImbalance(l, oc, rows);
      if (prefer_rows ? oc < l.oc_blocks : rows < Rows(l)) score += 0.05;
      score += 1e-3 * static_cast<double>(CeilDiv(l.oc_blocks, oc) * CeilDiv(Rows(l), rows));
      if (l.PadElements(rows) * 4 > kL2Bytes) score += 0.02;
      if (score < best_score) best_score = score, oc_block = oc, row_block = rows;
    }
  }
  int64_t unroll = 1;
  for (int64_t u : UnrollValues(l)) {
    if (u <= 4) unroll = u;
  }
  HONE_ASSIGN_OR_RETURN(Config config,
                        PointOf(space, {{"ocv", best.ocv},
                                        {"tile_oh", best.oh},
                                        {"tile_ow", best.ow},
                                        {"oc_block", oc_block},
                                        {"row_block", row_block},
                                        {"inner", "oc_rows"},
                                        {"unroll_ic", unroll},
                                        {"prefetch", int64_t{l.WeightBytes(l.oc_blocks) > kL2Bytes ? 4096 : 0}},
                                        {"pad", l.pad ? "task" : "none"}}));
  return LegalNear(space, config);
}

}  // namespace hone::op

#include "op/conv/conv_direct_space.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "op/estimate/parts.h"
#include "op/knobs.h"
#include "op/shapes.h"

namespace hone::op {
namespace {

// Bytes that are assumed to stay near a core; targets do not specify cache sizes, and these fit the cores of the last
// ten years.
constexpr int64_t kL2Bytes = 1 << 20;
constexpr double kMostCycles = 1.15;    // estimated, relative to the best tile's
constexpr int64_t kUnrolledFmas = 640;  // compile time grows with them, speed does not (reference: unroll by 4 to 16)

struct Tile {
  int64_t ocv, oh, ow;
  int64_t pixels() const { return oh * ow; }
  int64_t accumulators() const { return ocv * pixels(); }
  int64_t registers() const { return accumulators() + ocv + 1; }
};

std::vector<int64_t> OcvValues(const DirectLayer& l) {
  std::vector<int64_t> values;
  for (int64_t v : {1, 2, 3, 4}) {
    bool divides = l.group_oc_blocks % v == 0;
    // A short last tile costs little if there are many, but the weights of one tile must belong to one group.
    bool tail = l.s.groups == 1 && v == 2 && l.oc_blocks >= 5;
    if (divides || tail) values.push_back(v);
  }
  return values;
}

// A tile of a whole row skips columns in padding, so it may leave fewer registers for weights and data.
std::vector<int64_t> TileOwValues(const DirectLayer& l) {
  return EvenParts(l.s.ow, l.registers - (l.MaySkip() ? 2 : 4));
}

std::vector<int64_t> TileOhValues(const DirectLayer& l) {
  std::vector<int64_t> values = {1};
  if (l.s.ow > 14) return values;
  for (int64_t v : {2, 4, 7}) {
    if (v <= l.s.oh && v * std::min<int64_t>(l.s.ow, 4) <= l.registers - 4) values.push_back(v);
  }
  return values;
}

// All tiles that fit the registers.
std::vector<Tile> Tiles(const DirectLayer& l) {
  std::vector<Tile> tiles;
  for (int64_t ocv : OcvValues(l)) {
    for (int64_t oh : TileOhValues(l)) {
      for (int64_t ow : TileOwValues(l)) tiles.push_back({ocv, oh, ow});
    }
  }
  std::erase_if(tiles, [&](const Tile& t) { return t.registers() > l.registers; });
  return tiles;
}

std::vector<int64_t> BlockValues(const DirectLayer& l, int64_t extent) {
  int64_t t = std::max(l.threads, 1);
  return PartsFor(extent, {1, t, 2 * t, 4 * t, 8 * t});
}

int64_t Tasks(const DirectLayer& l, int64_t oc_block, int64_t row_block, int64_t planes) {
  return l.planes() / planes * CeilDiv(l.oc_blocks, oc_block) * CeilDiv(l.s.oh, row_block);
}

double TaskImbalance(const DirectLayer& l, int64_t oc_block, int64_t row_block, int64_t planes = 1) {
  return Imbalance(Tasks(l, oc_block, row_block, planes), static_cast<double>(oc_block * row_block * planes),
                   static_cast<double>(l.planes() * l.oc_blocks * l.s.oh), l.threads);
}

// Possible numbers of planes per task: parts of one image's depths, or whole images, dividing evenly.
std::vector<int64_t> PlaneValues(const DirectLayer& l) {
  const int64_t all = l.planes(), depths = l.depth.out;
  std::vector<int64_t> values;
  for (int64_t v : {int64_t{1}, int64_t{2}, int64_t{4}, int64_t{8}, CeilDiv(all, std::max(l.threads, 1)), all}) {
    const bool even = v <= depths ? depths % v == 0 : v % depths == 0 && l.s.n % (v / depths) == 0;
    if (even && (values.empty() || v > values.back())) values.push_back(v);
  }
  return values;
}

// Weights near a core are found again anyway, however few pixels use them at a time.
bool NearWeights(const DirectLayer& l) { return l.WeightBytes(l.oc_blocks) < kL2Bytes / 8; }

// Tiles must divide every task evenly: a short tile in the last task alone would need a test at run time, and its
// accumulators would live in memory. A single block of everything may end in a short tile, as then all tasks do.
bool BlockFits(int64_t extent, int64_t block, int64_t tile) {
  return block == extent || (block % tile == 0 && (extent % block == 0 || tile == 1));
}
bool BlocksFit(const DirectLayer& l, const Tile& t, int64_t oc_block, int64_t row_block) {
  return BlockFits(l.oc_blocks, oc_block, t.ocv) && BlockFits(l.s.oh, row_block, t.oh);
}

double BestImbalance(const DirectLayer& l, const Tile& t) {
  double best = l.threads;
  for (int64_t oc : BlockValues(l, l.oc_blocks)) {
    for (int64_t rows : BlockValues(l, l.s.oh)) {
      if (BlocksFit(l, t, oc, rows)) best = std::min(best, TaskImbalance(l, oc, rows));
    }
  }
  return best;
}

// The limits of small layers: the smallest imbalance of any tile, and the accumulators of the largest tile that reaches
// it. Rules are relative to these, so that every layer has a legal point.
struct Reachable {
  double imbalance = 1.25;
  int64_t accumulators = 1;
};

Reachable ReachableOf(const DirectLayer& l) {
  std::vector<std::pair<double, int64_t>> tiles;
  double best = l.threads;
  for (const Tile& t : Tiles(l)) {
    tiles.push_back({BestImbalance(l, t), t.accumulators()});
    best = std::min(best, tiles.back().first);
  }
  Reachable reach;
  reach.imbalance = std::max(reach.imbalance, best * 1.02);
  for (auto [imbalance, accumulators] : tiles) {
    if (imbalance <= reach.imbalance) reach.accumulators = std::max(reach.accumulators, accumulators);
  }
  return reach;
}

// Time for copying into the padded input relative to the work: copying a vector costs as much as 8 FMAs.
double PadShare(const DirectLayer& l, const DirectPoint& p) {
  double tasks = static_cast<double>(Tasks(l, p.oc_block, p.row_block, p.planes));
  double vectors = tasks * static_cast<double>(l.PadElements(p.row_block, p.planes)) / static_cast<double>(l.lanes);
  return 8 * vectors / l.FmaVectors();
}

std::vector<int64_t> IcBlockValues(const DirectLayer& l) {
  std::vector<int64_t> values = {1};
  if (l.taps() == 1) return values;  // without a window there is nothing to be inside of
  if (l.ic_blocks > 1) values.push_back(l.ic_blocks);
  return values;
}

// Other data to fetch ahead than weights. A pixel's next block of input channels is far from the current one, out of
// reach of hardware prefetchers; a window's rows are in the cache already, because the row above used them.
std::vector<std::string> FetchValues(const DirectLayer& l) {
  if (l.taps() > 1 && !l.s.plain_input) return {"none"};
  return {"none", "tile"};
}

std::vector<int64_t> UnrollValues(const DirectLayer& l) { return DivisorsAmong(l.ic_lanes, {1, 3, 4}); }

// Cycles of the whole layer with this tile on a core with two FMA and two load ports, including partial tiles, but
// without the taps that pad=skip skips.
double TileCycles(const DirectLayer& l, const Tile& t) {
  auto step = [&](int64_t ocv, int64_t pixels) {
    double fma = static_cast<double>(ocv * pixels) / 2, loads = static_cast<double>(ocv + pixels) / 2;
    // 4: latency of an FMA; 2 * ocv: weights arrive from the second-level cache at about 32 bytes per cycle.
    return std::max({fma, loads, 4.0, 2.0 * static_cast<double>(ocv)}) + 0.3;
  };
  double cycles = 0;
  for (auto [ocv, ocs] : Pieces(l.oc_blocks, t.ocv)) {
    for (auto [oh, rows] : Pieces(l.s.oh, t.oh)) {
      for (auto [ow, columns] : Pieces(l.s.ow, t.ow)) {
        cycles += static_cast<double>(ocs * rows * columns) * step(ocv, oh * ow);
      }
    }
  }
  if (l.MaySkip() && t.oh == 1) cycles *= l.ShareInside(t.ow);
  return cycles;
}

void AddRules(const DirectLayer& l, Space* space) {
  auto add = [&](const char* name, std::function<Rejection(const DirectPoint&)> rule) {
    space->AddRule({name, [rule = std::move(rule)](const Config& c) { return rule(DirectPoint::Of(c)); }});
  };
  add("registers", [l](const DirectPoint& p) -> Rejection {
    Tile t{p.ocv, p.tile_oh, p.tile_ow};
    int64_t need = t.registers();
    // Columns that several taps read are loaded once if the taps are unrolled side by side, and stay in registers.
    if (p.unroll_kw && l.s.sw < l.s.kw * l.s.dw) {
      need += p.tile_oh * ((p.tile_ow - 1) * l.s.sw + (l.s.kw - 1) * l.s.dw + 1) - 1;
    }
    if (need <= l.registers) return {};
    return fmt::format("{} x {} accumulators{} need {} of {} registers", t.ocv, t.pixels(),
                       p.unroll_kw ? " with kw unrolled" : "", need, l.registers);
  });
  Reachable reach = ReachableOf(l);
  // Few, wide tiles suit a small layer badly: it may also use smaller ones, which gives it a choice.
  bool small = l.planes() * l.oc_blocks * l.s.oh * l.s.ow < int64_t{64} * l.registers * l.threads;
  int64_t least = std::min<int64_t>(small ? l.registers * 3 / 8 : l.registers / 2, reach.accumulators);
  add("register tile", [least](const DirectPoint& p) {
    Tile t{p.ocv, p.tile_oh, p.tile_ow};
    return Unless(t.accumulators() >= least, "{} accumulators are too few, at least {}", t.accumulators(), least);
  });
  double fewest = INFINITY;
  for (const Tile& t : Tiles(l)) {
    if (t.accumulators() < least || BestImbalance(l, t) > reach.imbalance) continue;
    fewest = std::min(fewest, TileCycles(l, t));
  }
  add("cycles", [l, fewest](const DirectPoint& p) {
    double cycles = TileCycles(l, {p.ocv, p.tile_oh, p.tile_ow});
    return Unless(cycles <= kMostCycles * fewest, "this tile takes {:.2f} times the cycles of the best one",
                  cycles / fewest);
  });
  add("code size", [l](const DirectPoint& p) {
    int64_t fmas = p.ocv * p.tile_oh * p.tile_ow * p.unroll_ic * (p.unroll_kw ? l.s.kw : 1);
    return Unless(fmas <= kUnrolledFmas, "{} unrolled multiply-adds, at most {}", fmas, kUnrolledFmas);
  });
  add("oc block", [l](const DirectPoint& p) {
    return Unless(BlockFits(l.oc_blocks, p.oc_block, p.ocv),
                  "tiles of ocv={} do not come out even in tasks of {} of {} blocks", p.ocv, p.oc_block, l.oc_blocks);
  });
  add("row block", [l](const DirectPoint& p) {
    return Unless(BlockFits(l.s.oh, p.row_block, p.tile_oh),
                  "tiles of tile_oh={} do not come out even in tasks of {} of {} rows", p.tile_oh, p.row_block, l.s.oh);
  });
  add("parallel", [l, limit = reach.imbalance](const DirectPoint& p) {
    return TooUneven(TaskImbalance(l, p.oc_block, p.row_block, p.planes), limit, l.threads);
  });
  add("inner", [l](const DirectPoint& p) {
    return Unless(!p.rows_outer || (p.oc_block > p.ocv && p.row_block > p.tile_oh),
                  "only one tile a task in one direction: rows_oc is the same as oc_rows");
  });
  if (l.planes() > 1) {
    add("planes", [l](const DirectPoint& p) {
      return Unless(p.planes == 1 || p.row_block == l.s.oh, "a task with several planes has all their rows");
    });
  }
  add("weights cache", [l](const DirectPoint& p) {
    int64_t bytes = l.WeightBytes(p.oc_block);
    return Unless(!p.rows_outer || bytes <= kL2Bytes / 2, "each row would read {} KB of weights", bytes >> 10);
  });
  add("pad", [l](const DirectPoint& p) -> Rejection {
    if (p.pad == "skip") return Unless(p.tile_oh == 1, "the rows of a tile meet the border at different taps");
    if (p.pad != "task") return {};
    int64_t bytes = l.PadElements(p.row_block, p.planes) * 4;
    if (bytes > (p.planes > 1 ? 4 : 1) * kL2Bytes)
      return fmt::format("{} KB of padded input for each thread", bytes >> 10);
    double share = PadShare(l, p);
    if (share > 0.08) return fmt::format("copying the padded input would cost {:.0f} % of the work", 100 * share);
    return {};
  });
}

// The pixels of a 1x1 convolution may be divided into rows freely: the longest row that leaves each thread at least two
// rows, if any row of at least 12 pixels does; else one row of all pixels.
int64_t FlatRow(int64_t pixels, int threads) {
  for (int64_t row = pixels / (int64_t{2} * threads); row >= 12; --row) {
    if (pixels % row == 0) return row;
  }
  return pixels;
}

// The share of (output, tap) pairs along an axis that lie inside the input.
double InsideShare(const semantics::Window& window, size_t axis) {
  int64_t inside = 0;
  for (int64_t tap = 0; tap < window.kernel[axis]; ++tap) {
    const semantics::Window::Range outputs = window.InsideOf(axis, tap);
    inside += outputs.end - outputs.begin;
  }
  return static_cast<double>(inside) / static_cast<double>(window.kernel[axis] * window.out[axis]);
}

}  // namespace

int64_t DirectLayer::MergedGroups(const Conv2dShape& s, int64_t lanes) {
  constexpr int64_t kMost = 16;  // about the speed factor between plain loops and a register tile
  const int64_t og = s.o / s.groups;
  for (int64_t m = 1; m <= std::min(s.groups, kMost) && !s.plain_input; ++m) {
    if (s.groups % m == 0 && m * s.cg % lanes == 0 && m * og % lanes == 0) return m;
  }
  return s.groups <= kMost ? s.groups : 0;
}

DirectLayer DirectLayer::Of(const Workload& workload, const Target& target, bool merge) {
  DirectLayer l;
  static_cast<ConvVolume&>(l) = ConvVolume::Of(workload);
  l.lanes = target.ChannelBlock();
  l.threads = std::max(target.threads, 1);
  l.registers = target.vector_registers;
  Conv2dShape& s = l.s;
  l.pad = l.NeedsPad();
  const semantics::Window window = *semantics::WindowOf(workload);
  for (size_t i = 0; i < window.rank(); ++i) {
    (i + 1 < window.rank() ? l.inside_rows : l.inside_columns) *= InsideShare(window, i);
  }
  l.raw_cg = s.cg, l.raw_og = s.o / s.groups;
  l.merged = merge ? std::max<int64_t>(MergedGroups(s, l.lanes), 1) : 1;
  s.cg *= l.merged, s.groups /= l.merged;
  const int64_t pixels = l.depth.in * s.h * s.w;
  const bool whole = l.depth.in == l.depth.out && s.h == s.oh && s.w == s.ow;
  if (l.taps() == 1 && s.sh == 1 && s.sw == 1 && whole && !l.pad && pixels > s.w) {
    s.ow = FlatRow(pixels, s.n >= l.threads ? 1 : l.threads);
    s.oh = pixels / s.ow;
    s.h = s.oh, s.w = s.ow;
    l.depth = {};
  }
  l.ic_blocks = s.plain_input ? 1 : CeilDiv(s.cg, l.lanes);
  l.ic_lanes = s.plain_input ? s.cg : l.lanes;
  l.oc_blocks = CeilDiv(s.o, l.lanes);
  l.group_oc_blocks = s.groups == 1 ? l.oc_blocks : l.oc_blocks / s.groups;
  return l;
}

int64_t DirectLayer::WeightBytes(int64_t oc) const { return oc * lanes * ic_blocks * ic_lanes * taps() * 4; }

int64_t DirectLayer::PadElements(int64_t rows, int64_t planes) const {
  int64_t channels = s.groups * ic_blocks * ic_lanes;
  const int64_t depths = std::min(planes, depth.out);
  return planes / depths * channels * depth.reach(depths) * ((rows - 1) * s.sh + (s.kh - 1) * s.dh + 1) * s.pw();
}

double DirectLayer::FmaVectors() const {
  return static_cast<double>(planes() * oc_blocks * s.oh) * static_cast<double>(s.ow * ic_blocks * ic_lanes * taps());
}

DirectPoint DirectPoint::Of(const Config& c) {
  const std::string& prefetch = c.Word("prefetch");
  int64_t near = prefetch == "none" ? 0 : 4096;
  const bool has_planes = !c.values.empty() && c.values.back().name == "planes";
  return {c.Number("ocv"),
          c.Number("tile_oh"),
          c.Number("tile_ow"),
          c.Number("oc_block"),
          c.Number("row_block"),
          c.Word("inner") == "rows_oc",
          c.Number("ic_block"),
          c.Number("unroll_ic"),
          c.Number("unroll_kw") == 1,
          near,
          prefetch == "tile",
          c.Word("pad"),
          c.Word("fetch"),
          has_planes ? c.Number("planes") : 1};
}

Space DirectLayer::MakeSpace(const char* name) const {
  const DirectLayer& l = *this;
  Space space(name);
  space.Add(Knob::Choice("ocv", OcvValues(l)));
  space.Add(Knob::Choice("tile_oh", TileOhValues(l)));
  space.Add(Knob::Choice("tile_ow", TileOwValues(l)));
  space.Add(Knob::Choice("oc_block", BlockValues(l, l.oc_blocks)));
  space.Add(Knob::Choice("row_block", BlockValues(l, l.s.oh)));
  space.Add(Knob::Words("inner", {"oc_rows", "rows_oc"}));
  space.Add(Knob::Choice("ic_block", IcBlockValues(l)));
  space.Add(Knob::Choice("unroll_ic", UnrollValues(l)));
  space.Add(Knob::Choice("unroll_kw", l.s.kw > 1 ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{0}));
  bool far = !NearWeights(l);  // near weights need no software prefetch
  space.Add(Knob::Words("prefetch",
                        far ? std::vector<std::string>{"none", "4096", "tile"} : std::vector<std::string>{"none"}));
  std::vector<std::string> pad = {"none"};
  if (l.pad) pad = l.s.groups > 1 ? std::vector<std::string>{"root"} : std::vector<std::string>{"task", "root"};
  if (l.pad && l.MaySkip()) pad.insert(pad.begin(), "skip");
  space.Add(Knob::Words("pad", pad));
  space.Add(Knob::Words("fetch", FetchValues(l)));
  if (l.planes() > 1) space.Add(Knob::Choice("planes", NearWeights(l) ? std::vector<int64_t>{1} : PlaneValues(l)));
  AddRules(l, &space);
  return space;
}

Result<Config> DirectLayer::Default(const Space& space) const {
  const DirectLayer& l = *this;
  Tile best{1, 1, 1};
  Reachable reach = ReachableOf(l);
  double best_cycles = INFINITY;
  for (const Tile& t : Tiles(l)) {
    if (BestImbalance(l, t) > reach.imbalance) continue;
    if (double cycles = TileCycles(l, t); cycles < best_cycles) best = t, best_cycles = cycles;
  }
  // Split rows among the threads if all weights fit near each core, else output channels.
  bool prefer_rows = l.WeightBytes(l.oc_blocks) <= kL2Bytes;
  int64_t oc_block = l.oc_blocks, row_block = l.s.oh;
  double best_score = INFINITY;
  for (int64_t oc : BlockValues(l, l.oc_blocks)) {
    for (int64_t rows : BlockValues(l, l.s.oh)) {
      if (!BlocksFit(l, best, oc, rows)) continue;
      double score = TaskImbalance(l, oc, rows);
      if (prefer_rows ? oc < l.oc_blocks : rows < l.s.oh) score += 0.05;
      score += 1e-3 * static_cast<double>(CeilDiv(l.oc_blocks, oc) * CeilDiv(l.s.oh, rows));  // few, large tasks
      if (score < best_score) best_score = score, oc_block = oc, row_block = rows;
    }
  }
  // Weights that fit into a second-level cache stay there while plane after plane uses them.
  const bool stays = l.WeightBytes(l.oc_blocks) <= kL2Bytes && l.planes() > int64_t{2} * l.threads;
  // As many planes as have their input in reach, if weights would otherwise come from beyond a second-level cache.
  int64_t planes = 1;
  for (int64_t v : PlaneValues(l)) {
    const bool pays = l.WeightBytes(l.oc_blocks) > kL2Bytes / 2 && row_block == l.s.oh;
    const int64_t input = l.PadElements(l.s.oh, v) / l.s.groups * 4;
    if (pays && input <= 4 * kL2Bytes && TaskImbalance(l, oc_block, row_block, v) <= reach.imbalance) planes = v;
  }
  return LegalNear(space, {{"planes", planes},
                           {"ocv", best.ocv},
                           {"tile_oh", best.oh},
                           {"tile_ow", best.ow},
                           {"oc_block", oc_block},
                           {"row_block", row_block},
                           {"inner", "oc_rows"},
                           {"ic_block", int64_t{1}},
                           {"unroll_ic", UnrollValues(l).back()},
                           {"unroll_kw", int64_t{0}},
                           {"prefetch", NearWeights(l) || stays ? "none" : "tile"},
                           {"pad", !l.pad           ? "none"
                                   : l.MaySkip()    ? "skip"
                                   : l.s.groups > 1 ? "root"
                                                    : "task"},
                           {"fetch", FetchValues(l).back()}});
}

}  // namespace hone::op

#include "op/conv/conv2d_winograd_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "op/knobs.h"
#include "op/shapes.h"

namespace hone::op {
namespace {

constexpr int64_t kScratchBytes = 4 << 20;  // v and m of a task; the estimate says what more than a core keeps costs
constexpr double kWorthLessExact = 1.1;
constexpr int64_t kMostTaps = 10;  // limit of a phase's taps, both axes together
constexpr double kSlower = 1.5;    // points whose estimated time is longer by this factor are not worth a trial

// Tiles of a task: even parts of all tiles, for a few numbers of tasks, chosen so that few tiles lie outside the image.
// A task of less than a row must divide the row evenly, as the padded input is otherwise made in whole rows.
std::vector<int64_t> Blocks(const WinogradLayer& l, int64_t m) {
  const WinogradTiles k = l.Tiles(m);
  std::set<int64_t> values = {k.count};
  auto add = [&](int64_t block) {
    const int64_t extra = RoundUp(k.count, block) - k.count;
    const bool part_of_row = block < k.columns;
    if (block < std::min<int64_t>(k.count, 6) || (part_of_row && (k.columns % block != 0 || extra != 0))) return;
    if (extra * 25 <= k.count) values.insert(block);
  };
  const int64_t t = l.threads;
  for (int64_t parts : {t, 2 * t, 3 * t, 4 * t, 6 * t, 8 * t, 12 * t, 16 * t, 24 * t, 32 * t, 64 * t}) {
    if (parts < k.count) add(CeilDiv(k.count, parts));
  }
  for (int64_t rows : {1, 2, 4}) add(rows * k.columns);
  for (int64_t parts : {2, 3, 4}) add(CeilDiv(k.columns, parts));
  return {values.begin(), values.end()};
}

std::vector<int64_t> OcBlocks(const WinogradLayer& l) {
  std::vector<int64_t> values;
  for (int64_t part : PartsFor(l.oc_blocks, {1, l.threads, int64_t{2} * l.threads, int64_t{4} * l.threads})) {
    if (l.oc_blocks % part == 0) values.push_back(part);
  }
  return values;
}

std::vector<int64_t> OcvValues(const WinogradLayer& l) {
  if (l.oc_blocks % 4 == 0) return {2, 4};
  if (l.oc_blocks % 2 == 0) return {1, 2};
  for (int64_t v : {3, 5}) {
    if (l.oc_blocks % v == 0) return {1, v};
  }
  return {1};
}

// Register tiles that divide `block` tiles evenly: the largest, and the next smaller one.
std::vector<int64_t> TileChoices(const WinogradLayer& l, int64_t block, int64_t ocv) {
  const int64_t most = std::max<int64_t>((l.registers - 1) / ocv - 1, 1), parts = CeilDiv(block, most);
  const int64_t largest = CeilDiv(block, parts), next = CeilDiv(block, parts + 1);
  if (next == largest || 3 * next < 2 * std::min(most, block)) return {largest};
  return {next, largest};
}

// Weights that stay near a core need no prefetch. With a stride, elements skip phases, so "far" would not know which to
// fetch.
std::vector<std::string> PrefetchWords(const WinogradLayer& l) {
  if (l.oc_blocks * l.ic_blocks * l.lanes * l.lanes * 4 * 16 < 1 << 18) return {"none"};
  return l.Tiles(2).strided() ? std::vector<std::string>{"none", "near"} : std::vector<std::string>{"near", "far"};
}

double TaskImbalance(const WinogradLayer& l, const WinogradPoint& p) {
  const int64_t tiles = l.Tiles(p.m).count;
  const int64_t tasks = (l.oc_blocks / p.oc_block) * CeilDiv(tiles, p.block);
  return Imbalance(tasks, static_cast<double>(p.oc_block * p.block), static_cast<double>(l.oc_blocks * tiles),
                   l.threads);
}

int64_t ScratchBytes(const WinogradLayer& l, const WinogradPoint& p) {
  const WinogradTiles k = l.Tiles(p.m);
  const int64_t channels = l.ic_blocks * k.sh * k.sw + (p.by_channel ? p.ocv : p.oc_block);
  return k.ah * k.aw * p.block * channels * l.lanes * 4;
}

// Calls `visit` with each sensible combination.
void ForEachPoint(const WinogradLayer& l, int64_t m, const std::function<void(const WinogradPoint&)>& visit) {
  const std::vector<int64_t> blocks = Blocks(l, m);
  for (int64_t oc_block : OcBlocks(l)) {
    for (int64_t ocv : OcvValues(l)) {
      if (oc_block % ocv != 0) continue;
      for (int64_t block : blocks) {
        for (int64_t tiles : TileChoices(l, block, ocv)) {
          for (bool by_channel : {true, false}) {
            if (!by_channel && oc_block <= ocv) continue;
            visit({m, by_channel, ocv, tiles, oc_block, block, WinogradPrefetch::kNone});
          }
        }
      }
    }
  }
}

// The best values that each m reaches: rules are relative to these, so that every layer has legal points.
struct Reach {
  double imbalance = INFINITY, cycles = INFINITY;
  int64_t scratch = INT64_MAX;
};

std::map<int64_t, Reach> ReachOf(const WinogradLayer& l) {
  std::map<int64_t, Reach> all;
  for (int64_t m : l.Sizes()) {
    Reach& reach = all[m];
    ForEachPoint(l, m, [&](const WinogradPoint& p) { reach.scratch = std::min(reach.scratch, ScratchBytes(l, p)); });
    reach.scratch = std::max(reach.scratch, kScratchBytes);
    ForEachPoint(l, m, [&](const WinogradPoint& p) {
      if (ScratchBytes(l, p) <= reach.scratch) reach.imbalance = std::min(reach.imbalance, TaskImbalance(l, p));
    });
    reach.imbalance = std::max(1.25, reach.imbalance * 1.02);
    ForEachPoint(l, m, [&](const WinogradPoint& p) {
      if (ScratchBytes(l, p) > reach.scratch || TaskImbalance(l, p) > reach.imbalance) return;
      reach.cycles = std::min(reach.cycles, WinogradCycles(l, p));
    });
  }
  return all;
}

void AddRules(const WinogradLayer& l, Space* space) {
  auto add = [&](const char* name, std::function<Rejection(const WinogradPoint&)> rule) {
    space->AddRule({name, [rule = std::move(rule)](const Config& c) { return rule(WinogradPoint::Of(c)); }});
  };
  std::map<int64_t, std::vector<int64_t>> blocks;
  for (int64_t m : l.Sizes()) blocks[m] = Blocks(l, m);
  add("block", [l, blocks](const WinogradPoint& p) {
    const std::vector<int64_t>& legal = blocks.at(p.m);
    if (std::find(legal.begin(), legal.end(), p.block) != legal.end()) return Rejection();
    return Rejection(fmt::format("tasks of {} do not divide {} tiles evenly", p.block, l.Tiles(p.m).count));
  });
  add("oc block", [](const WinogradPoint& p) {
    return Unless(p.oc_block % p.ocv == 0, "tasks of {} blocks do not come out even by ocv={}", p.oc_block, p.ocv);
  });
  add("tiles", [l](const WinogradPoint& p) {
    const std::vector<int64_t> choices = TileChoices(l, p.block, p.ocv);
    return Unless(std::find(choices.begin(), choices.end(), p.tiles) != choices.end(),
                  "{} tiles a task and ocv={} take {} in the registers", p.block, p.ocv, fmt::join(choices, ", "));
  });
  add("form", [](const WinogradPoint& p) {
    return Unless(p.by_channel || p.oc_block > p.ocv, "one register tile of channels a task: the same as oc_xi");
  });
  add("prefetch", [l](const WinogradPoint& p) {
    return Unless(p.prefetch != WinogradPrefetch::kFar || p.by_channel || p.oc_block == l.oc_blocks,
                  "the weights of a task of {} of {} blocks are not one stream", p.oc_block, l.oc_blocks);
  });
  const std::map<int64_t, Reach> reach = ReachOf(l);
  add("scratch", [l, reach](const WinogradPoint& p) {
    const int64_t bytes = ScratchBytes(l, p), limit = reach.at(p.m).scratch;
    return Unless(bytes <= limit, "{} KB of scratch for each thread, at most {}", bytes >> 10, limit >> 10);
  });
  add("parallel", [l, reach](const WinogradPoint& p) {
    return TooUneven(TaskImbalance(l, p), reach.at(p.m).imbalance, l.threads);
  });
  add("estimate", [l, reach](const WinogradPoint& p) {
    const double slower = WinogradCycles(l, p) / reach.at(p.m).cycles;
    return Unless(slower <= kSlower, "estimated {:.1f} times slower than other points of m={}", slower, p.m);
  });
}

}  // namespace

WinogradLayer WinogradLayer::Of(const Workload& workload, const Target& target) {
  WinogradLayer l;
  l.s = Conv2dShape::Of(workload);
  l.lanes = target.ChannelBlock();
  l.threads = std::max(target.threads, 1);
  l.registers = target.vector_registers;
  l.ic_blocks = CeilDiv(l.s.c, l.lanes);
  l.oc_blocks = CeilDiv(l.s.o, l.lanes);
  return l;
}

WinogradTiles WinogradLayer::Tiles(int64_t m) const {
  WinogradTiles k;
  auto axis = [m](int64_t taps, int64_t stride, int64_t* mx, int64_t* r, int64_t* a, int64_t* phases, int64_t* full) {
    *mx = taps > 1 ? m : 1;
    *phases = taps > 1 ? stride : 1;
    *r = CeilDiv(taps, *phases);
    *full = taps % *phases == 0 ? *phases : taps % *phases;
    *a = *mx + *r - 1;
  };
  axis(s.kh, s.sh, &k.mh, &k.rh, &k.ah, &k.sh, &k.full_h);
  axis(s.kw, s.sw, &k.mw, &k.rw, &k.aw, &k.sw, &k.full_w);
  k.rows = CeilDiv(s.oh, k.mh), k.columns = CeilDiv(s.ow, k.mw);
  k.count = s.n * k.rows * k.columns;
  return k;
}

bool WinogradLayer::Ragged(int64_t m) const {
  const WinogradTiles k = Tiles(m);
  return s.oh % k.mh != 0 || s.ow % k.mw != 0;
}

int64_t WinogradLayer::Height(int64_t m) const {
  const WinogradTiles k = Tiles(m);
  return ((k.rows - 1) * k.mh + k.ah) * k.sh;
}

int64_t WinogradLayer::Width(int64_t m) const {
  const WinogradTiles k = Tiles(m);
  return ((k.columns - 1) * k.mw + k.aw) * k.sw;
}

double WinogradLayer::Work(int64_t m) const {
  const WinogradTiles k = Tiles(m);
  return static_cast<double>(k.count * k.Products()) / static_cast<double>(s.n * s.oh * s.ow * s.kh * s.kw);
}

double WinogradLayer::Error(int64_t m) const {
  const WinogradTiles k = Tiles(m);
  return WinogradError({k.mh, s.kh, k.sh}, {k.mw, s.kw, k.sw}, s.c);
}

bool WinogradLayer::Computes(int64_t m) const {
  const WinogradTiles one = Tiles(1);
  const int64_t r = std::max(one.rh, one.rw);
  if (r < 2 || r > 7 || m < 2 || m > 6) return false;
  // With more than ten elements, or more than eight in two dimensions, single precision is not accurate enough. It
  // is not for long windows on both axes either: F(2x2, 7x7) has fifteen times the error of F(2x2, 3x3).
  const bool exact = one.both() ? m + r - 1 <= 8 && one.rh + one.rw <= kMostTaps : m + r - 1 <= 10;
  const bool whole_windows = m % pool == 0;  // each tile contains whole windows of the following pool
  // Long sums are not accurate enough either, and sums over a stride's phases are four times as long: F(4x4) is
  // accurate enough for 7x7 with stride 2 up to about 250 channels, for 3x3 with stride 1 up to about 8000.
  return exact && whole_windows && Error(m) <= WinogradErrorBound(m);
}

std::vector<int64_t> WinogradLayer::Sizes() const {
  const WinogradTiles one = Tiles(1);
  const int64_t r = std::max(one.rh, one.rw);
  // 13 or 14 outputs need three tiles of 5, but four of 4.
  const bool fits = r == 3 && Work(5) < 0.95 * std::min(Work(4), Work(6));
  std::vector<int64_t> sizes;
  for (int64_t m : {2, 3, 4, 5, 6}) {
    const bool useful = m == 3 ? r == 7 : m == 5 ? fits : m == 6 ? r == 3 : true;
    if (useful && Computes(m) && Work(m) <= 0.9) sizes.push_back(m);
  }
  return sizes;
}

double WinogradErrorBound(int64_t m) { return m <= 2 ? 2e-5 : m <= 4 ? 1e-4 : 3e-4; }

WinogradPoint WinogradPoint::Of(const Config& c) {
  const std::string& prefetch = c.Word("prefetch");
  return {c.Number("m"),
          c.Word("form") == "oc_xi",
          c.Number("ocv"),
          c.Number("tiles"),
          c.Number("oc_block"),
          c.Number("block"),
          prefetch == "far"    ? WinogradPrefetch::kFar
          : prefetch == "near" ? WinogradPrefetch::kNear
                               : WinogradPrefetch::kNone};
}

Space WinogradSpace(const WinogradLayer& l, const char* name) {
  Space space(name);
  std::set<int64_t> blocks, tiles;
  for (int64_t m : l.Sizes()) {
    for (int64_t block : Blocks(l, m)) {
      blocks.insert(block);
      for (int64_t ocv : OcvValues(l)) {
        for (int64_t t : TileChoices(l, block, ocv)) tiles.insert(t);
      }
    }
  }
  space.Add(Knob::Choice("m", l.Sizes()));
  space.Add(Knob::Words("form", {"xi_oc", "oc_xi"}));
  space.Add(Knob::Choice("ocv", OcvValues(l)));
  space.Add(Knob::Choice("tiles", {tiles.begin(), tiles.end()}));
  space.Add(Knob::Choice("oc_block", OcBlocks(l)));
  space.Add(Knob::Choice("block", {blocks.begin(), blocks.end()}));
  space.Add(Knob::Words("prefetch", PrefetchWords(l)));
  AddRules(l, &space);
  return space;
}

Result<Config> WinogradDefault(const Space& space, const WinogradLayer& l) {
  std::optional<WinogradPoint> best;
  double least = INFINITY;
  const std::map<int64_t, Reach> all = ReachOf(l);
  for (const auto& [m, reach] : all) {
    ForEachPoint(l, m, [&, r = reach](const WinogradPoint& p) {
      if (ScratchBytes(l, p) > r.scratch || TaskImbalance(l, p) > r.imbalance) return;
      // At about the same speed, prefer the more accurate one: m is ascending.
      const double cycles = WinogradCycles(l, p), gain = best && best->m < m ? kWorthLessExact : 1;
      if (cycles * gain < least) best = p, least = cycles;
    });
  }
  if (!best) return Status::Invalid("conv2d_winograd: no point");
  return LegalNear(space, {{"m", best->m},
                           {"form", best->by_channel ? "oc_xi" : "xi_oc"},
                           {"ocv", best->ocv},
                           {"tiles", best->tiles},
                           {"oc_block", best->oc_block},
                           {"block", best->block},
                           {"prefetch", PrefetchWords(l).back()}});
}

}  // namespace hone::op

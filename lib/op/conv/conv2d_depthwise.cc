#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "op/conv/conv2d_te.h"
#include "op/conv/conv_direct.h"
#include "op/defined_operator.h"
#include "op/epilogue.h"
#include "op/estimate/parts.h"
#include "op/knobs.h"
#include "op/layer_template.h"
#include "op/shapes.h"
#include "op/steps.h"

namespace hone::op {
namespace {

constexpr int64_t kUnrolledDepthwise = 640;
constexpr int64_t kUnrolledGrouped = 1024;  // limit for also unrolling the channels of a group

struct LaneLayer {
  Conv2dShape s;
  int64_t lanes = 16, blocks = 1;
  int threads = 1, registers = 32;
  bool pad = false;

  static LaneLayer Of(const Workload& workload, const Target& target);
  Space MakeSpace(const char* name) const;
  Result<Config> Default(const Space& space) const;
  Candidate Build(const Workload& workload, const Target& target, const Config& config) const;
};

LaneLayer LaneLayer::Of(const Workload& workload, const Target& target) {
  LaneLayer l;
  l.s = Conv2dShape::Of(workload);
  l.lanes = target.ChannelBlock();
  l.blocks = CeilDiv(l.s.c, l.lanes);
  l.threads = std::max(target.threads, 1);
  l.registers = target.vector_registers;
  l.pad = l.s.pt > 0 || l.s.pl > 0 || l.s.ph() > l.s.h || l.s.pw() > l.s.w;
  return l;
}

struct LanePoint {
  int64_t tile_oh, tile_ow, row_block;
  std::string unroll, pad;
};

LanePoint LanePointOf(const Config& c) {
  return {c.Number("tile_oh"), c.Number("tile_ow"), c.Number("row_block"), c.Word("unroll"), c.Word("pad")};
}

std::vector<int64_t> TileOwValues(const LaneLayer& l) { return EvenParts(l.s.ow, std::min(l.registers / 2, 14)); }
std::vector<int64_t> RowValues(const LaneLayer& l) {
  int64_t t = l.threads;
  return PartsFor(l.s.oh, {1, t, 2 * t, 4 * t, 8 * t});
}

double TaskImbalance(const LaneLayer& l, int64_t rows) {
  int64_t tasks = l.s.n * l.blocks * CeilDiv(l.s.oh, rows);
  return Imbalance(tasks, static_cast<double>(rows), static_cast<double>(l.s.n * l.blocks * l.s.oh), l.threads);
}

Space LaneLayer::MakeSpace(const char* name) const {
  const LaneLayer& l = *this;
  Space space(name);
  std::vector<int64_t> rows = {1};
  if (l.s.oh > 1) rows.push_back(2);
  space.Add(Knob::Choice("tile_oh", rows));
  space.Add(Knob::Choice("tile_ow", TileOwValues(l)));
  space.Add(Knob::Choice("row_block", RowValues(l)));
  space.Add(Knob::Words("unroll", {"kw", "window"}));
  space.Add(Knob::Words("pad", l.pad ? std::vector<std::string>{"border", "copy"} : std::vector<std::string>{"none"}));
  auto add = [&](const char* name, std::function<Rejection(const LanePoint&)> rule) {
    space.AddRule({name, [rule = std::move(rule)](const Config& c) { return rule(LanePointOf(c)); }});
  };
  add("registers", [l](const LanePoint& p) -> Rejection {
    const int64_t accumulators = p.tile_oh * p.tile_ow;
    int64_t need = accumulators + 2;
    // Taps share the columns whose lanes were spread over their groups.
    if (l.s.cg > 1) need += (p.tile_ow - 1) * l.s.sw + (l.s.kw - 1) * l.s.dw;
    if (need <= l.registers || accumulators == 1) return {};
    return fmt::format("{} accumulators need {} of {} registers", accumulators, need, l.registers);
  });
  int64_t most = std::min<int64_t>(TileOwValues(l).front(), l.registers / 2);  // one row: two are not always legal
  int64_t least = l.s.cg > 1 ? 1 : std::min<int64_t>(4, most);
  add("register tile", [least](const LanePoint& p) {
    return Unless(p.tile_oh * p.tile_ow >= least, "{} accumulators are too few, at least {}", p.tile_oh * p.tile_ow,
                  least);
  });
  add("code size", [l](const LanePoint& p) -> Rejection {
    int64_t taps = p.unroll == "kw" ? l.s.kw : l.s.kw * l.s.kh;
    int64_t copies = 1;  // copies of the tile's code: inside, and at each unrolled border
    if (p.pad == "border" && p.tile_ow < l.s.ow) copies += 2;
    if (p.pad == "border" && p.unroll == "window") copies *= 3;
    int64_t fmas = p.tile_oh * p.tile_ow * taps * copies * l.s.cg;
    const int64_t limit = l.s.cg > 1 ? kUnrolledGrouped : kUnrolledDepthwise;
    if (fmas <= limit || (p.tile_oh * p.tile_ow == 1 && p.unroll == "kw")) return {};
    return fmt::format("{} unrolled multiply-adds, at most {}", fmas, limit);
  });
  add("row block", [l](const LanePoint& p) -> Rejection {
    if (p.row_block == l.s.oh || p.tile_oh == 1) return {};
    if (p.row_block % p.tile_oh == 0 && l.s.oh % p.row_block == 0) return {};
    return fmt::format("tiles of tile_oh={} do not come out even in tasks of {} of {} rows", p.tile_oh, p.row_block,
                       l.s.oh);
  });
  add("border", [l](const LanePoint& p) -> Rejection {
    if (p.pad != "border") return {};
    if (p.unroll == "kw" && p.tile_oh > 1) return std::string("the rows of a tile meet the border in different rounds");
    if (p.unroll == "window" && p.row_block < l.s.oh) return std::string("tasks meet the border in different rows");
    return {};
  });
  double best = l.threads;
  for (int64_t r : RowValues(l)) best = std::min(best, TaskImbalance(l, r));
  double limit = std::max(1.25, best * 1.02);
  add("parallel",
      [l, limit](const LanePoint& p) { return TooUneven(TaskImbalance(l, p.row_block), limit, l.threads); });
  return space;
}

std::vector<Step> Steps(const LaneLayer& l, const LanePoint& p) {
  const bool grouped = l.s.cg > 1;
  std::vector<Step> steps = {
      Relayout(WholeBlocksName("weight", l.s.o, l.s.cg, l.blocks * l.lanes, l.s.cg),
               {fmt::format("d0/{}", l.lanes), "d2", "d1", "d3", fmt::format("d0%{}", l.lanes)}, "weight.packed"),
      Split("out", "oh", {p.row_block}, {"oh.b", "oh.r"}),
      Split("out", "oh.r", {p.tile_oh}, {"oh.o", "oh.i"}),
      Split("out", "ow", {p.tile_ow}, {"ow.o", "ow.i"}),
      Reorder("out", {"n", "co", "oh.b", "oh.o", "ow.o", "oh.i", "ow.i", "ci"}),
      Fuse("out", {"n", "co", "oh.b"}, "task"),
      Parallel("out", "task"),
      Vectorize("out", "ci"),
      Unroll("out", "oh.i"),
      Unroll("out", "ow.i"),
      ComputeAt("acc", "out", "ow.o"),
      SetScope("acc", "register"),
      Reorder("acc", grouped ? std::vector<std::string>{"n", "co", "kh", "ic", "kw", "oh", "ow", "ci"}
                             : std::vector<std::string>{"n", "co", "kh", "kw", "oh", "ow", "ci"}),
      Vectorize("acc", "ci"),
      Unroll("acc", "oh"),
      Unroll("acc", "ow"),
      Unroll("acc", "kw"),
  };
  if (grouped) steps.push_back(Unroll("acc", "ic"));
  if (p.unroll == "window") steps.push_back(Unroll("acc", "kh"));
  if (p.pad == "copy") {
    Append(&steps, {ComputeAt("pad", "out", "task"), Vectorize("pad", "ci")});
  }
  return steps;
}

// The widest tile whose accumulators and columns fit the registers.
int64_t GroupedWidth(const LaneLayer& l) {
  for (int64_t width : TileOwValues(l)) {
    if (width + 2 + (width - 1) * l.s.sw + (l.s.kw - 1) * l.s.dw <= l.registers) return width;
  }
  return 1;
}

// The widest even tile: fewest loads and weights per pixel. Splits rows only if there are too few channels.
Result<Config> LaneLayer::Default(const Space& space) const {
  int64_t rows = s.oh;
  double best = 1e9;
  for (int64_t r : RowValues(*this)) {
    double score = TaskImbalance(*this, r) + 0.01 * static_cast<double>(CeilDiv(s.oh, r));
    if (score < best) best = score, rows = r;
  }
  return LegalNear(space, {{"tile_oh", int64_t{1}},
                           {"tile_ow", s.cg > 1 ? GroupedWidth(*this) : TileOwValues(*this).front()},
                           {"row_block", rows},
                           {"unroll", "kw"},
                           {"pad", pad ? "border" : "none"}});
}

Candidate LaneLayer::Build(const Workload&, const Target&, const Config& config) const {
  const LanePoint p = LanePointOf(config);
  return {{"lanes", {{"pad", p.pad == "copy" ? 1 : 0}}}, Steps(*this, p)};
}

}  // namespace

const Template& Conv2dDepthwise() {
  static const LayerTemplate<LaneLayer> t("conv2d_depthwise", 2, &DepthwiseEstimate());
  return t;
}

const Template& Conv2dGroupedLanes() {
  static const LayerTemplate<LaneLayer> t("conv2d_grouped_lanes", 1, nullptr);
  return t;
}

Result<Computation> ComputeLanes(const Workload& workload, const Target& target, const Algorithm& algorithm) {
  const LaneLayer l = LaneLayer::Of(workload, target);
  const Conv2dShape& s = l.s;
  const bool depthwise = s.depthwise() && !s.plain_input, grouped = s.cg > 1;
  const int64_t copy = algorithm.Number("pad", 0);
  if ((!depthwise && !GroupedLanesApplies(s, l.lanes)) || copy < 0 || copy > (l.pad ? 1 : 0)) {
    return NotComputedBy(algorithm, workload);
  }
  const int lanes = static_cast<int>(l.lanes);
  Tensor data = te::Placeholder("data", {s.n, l.blocks, s.h, s.w, l.lanes});
  Tensor raw = te::Placeholder("weight", workload.inputs[1].shape);
  const Tensor weight = WholeBlocks(raw, l.blocks * l.lanes, s.cg);
  std::vector<int64_t> shape = {s.n, l.blocks, s.oh, s.ow, l.lanes};
  EpilogueTensors epilogue = MakeEpilogueTensors(workload, shape, s.o, lanes);
  Tensor source = copy == 1 ? MakePad(data, {s.pt, s.pl}, {s.ph(), s.pw()}) : data;
  ir::IterVar kh = te::ReduceAxis(s.kh, "kh"), kw = te::ReduceAxis(s.kw, "kw"), ic = te::ReduceAxis(s.cg, "ic");
  std::vector<std::string> axes = {"n", "co", "oh", "ow", "ci"};
  Tensor acc = te::Compute("acc", shape, axes, [&](const Vars& x) {
    Expr y = x[2] * s.sh + kh.var * s.dh, column = x[3] * s.sw + kw.var * s.dw;
    Expr inside;
    if (l.pad && copy == 0) {
      y = y - s.pt, column = column - s.pl;
      inside =
          BothOf(WithinExtent(y, -s.pt, s.ph() - 1 - s.pt, s.h), WithinExtent(column, -s.pl, s.pw() - 1 - s.pl, s.w));
    }
    const Expr lane = grouped ? x[4] / s.cg * s.cg + ic.var : Expr(x[4]), channel = grouped ? Expr(ic.var) : Expr(0);
    const Expr product = source(x[0], x[1], y, column, lane) * weight(x[1] * l.lanes + x[4], channel, kh.var, kw.var);
    return te::Sum(ZeroOutside(inside, product),
                   grouped ? std::vector<ir::IterVar>{kh, ic, kw} : std::vector<ir::IterVar>{kh, kw});
  });
  Tensor out = te::Compute("out", shape, axes, [&](const Vars& x) {
    return BlockedEpilogue(workload, epilogue, acc(std::vector<Expr>(x.begin(), x.end())), x, s.o, lanes);
  });
  return Computation{epilogue.After({data, raw}), {out}};
}

bool GroupedLanesApplies(const Conv2dShape& s, int64_t lanes) {
  const int64_t og = s.o / s.groups;
  return s.groups > 1 && !s.plain_input && s.cg > 1 && s.cg == og && lanes % s.cg == 0 && s.cg < lanes;
}

}  // namespace hone::op

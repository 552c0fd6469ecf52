#include "op/conv2d_winograd.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/check.h"
#include "op/conv2d_te.h"
#include "op/conv2d_winograd_space.h"
#include "op/cook_toom.h"
#include "op/cook_toom_te.h"
#include "op/epilogue.h"
#include "op/shapes.h"

namespace hone::op {
namespace {

using ir::Expr;
using ir::Var;
using te::Tensor;

constexpr int64_t kTaps = 3;

// [tile of output channels][ic] of [ocv * lanes] for each (i, j), or the same with (i, j) after the tile.
Tensor PackWeight(const WinogradLayer& l, const WinogradPoint& p, const CookToom& t, const Tensor& raw) {
  int64_t width = p.ocv * l.lanes, tiles = CeilDiv(l.oc_blocks, p.ocv), ic = l.ic_blocks * l.lanes, alpha = p.alpha();
  std::vector<int64_t> shape = {alpha, alpha, tiles, ic, width};
  std::vector<std::string> axes = {"i", "j", "t", "ic", "v"};
  size_t i = 0, j = 1, tile = 2;
  if (p.by_channel) {
    shape = {tiles, alpha, alpha, ic, width};
    axes = {"t", "i", "j", "ic", "v"};
    tile = 0, i = 1, j = 2;
  }
  return te::ComputeConstant("weight.packed", shape, axes, [&](const std::vector<Var>& x) {
    Expr sum;
    for (int64_t a = 0; a < kTaps; ++a) {
      Expr row;
      for (int64_t b = 0; b < kTaps; ++b) {
        Expr tap = ReadOrZero(raw, {x[tile] * width + x[4], x[3], Expr(a), Expr(b)}, {tiles * width, ic, kTaps, kTaps});
        Expr product = ir::MakeCast(DType::Float(64), tap) * PickEntry(t.g, x[j], static_cast<size_t>(b));
        row = row.defined() ? row + product : product;
      }
      Expr product = row * PickEntry(t.g, x[i], static_cast<size_t>(a));
      sum = sum.defined() ? sum + product : product;
    }
    return ir::MakeCast(DType::Float(32), sum);
  });
}

// The layer's computations, in order.
struct Stages {
  Tensor pad, vrow, v, acc, m, mrow, tile, out;  // pad, tile: only where needed
};

class Builder {
 public:
  Builder(const WinogradLayer& l, const WinogradPoint& p, const CookToom& t)
      : l_(l), s_(l.s), p_(p), t_(t), rows_(l.TileRows(p.m)), columns_(l.TileColumns(p.m)), count_(rows_ * columns_) {}

  bool ragged() const { return s_.oh % p_.m != 0 || s_.ow % p_.m != 0; }

  void Input(const Tensor& data, Stages* r) const {
    int64_t height = rows_ * p_.m + 2, width = columns_ * p_.m + 2, alpha = p_.alpha();
    bool pad = s_.pt > 0 || s_.pl > 0 || height > s_.h || width > s_.w;
    if (pad) r->pad = MakePad(data, s_.pt, s_.pl, height, width);
    Tensor source = pad ? r->pad : data;
    r->vrow = te::Compute(
        "vrow", {alpha, alpha, s_.n, l_.ic_blocks, count_, l_.lanes}, {"b", "i", "n", "co", "t", "ci"},
        [&](const std::vector<Var>& x) {
          std::vector<Expr> column;
          for (int64_t a = 0; a < alpha; ++a) {
            column.push_back(source(x[2], x[3], x[4] / columns_ * p_.m + a, x[4] % columns_ * p_.m + x[0], x[5]));
          }
          return Pick(x[1], ApplyMatrix(t_.bt, column));
        });
    r->v = te::Compute("v", {alpha, alpha, s_.n, l_.ic_blocks, count_, l_.lanes}, {"i", "j", "n", "co", "t", "ci"},
                       [&](const std::vector<Var>& x) {
                         std::vector<Expr> row;
                         for (int64_t b = 0; b < alpha; ++b)
                           row.push_back(r->vrow(Expr(b), x[0], x[2], x[3], x[4], x[5]));
                         return Pick(x[1], ApplyMatrix(t_.bt, row));
                       });
  }

  void Product(const Tensor& packed, Stages* r) const {
    int64_t alpha = p_.alpha();
    std::vector<int64_t> shape = {alpha, alpha, s_.n, l_.oc_blocks, count_, l_.lanes};
    std::vector<std::string> axes = {"i", "j", "n", "co", "t", "ci"};
    ir::IterVar io = te::ReduceAxis(l_.ic_blocks, "io"), ii = te::ReduceAxis(l_.lanes, "ii");
    r->acc = te::Compute("acc", shape, axes, [&](const std::vector<Var>& x) {
      Expr tile = x[3] / p_.ocv, ic = io.var * l_.lanes + ii.var, lane = x[3] % p_.ocv * l_.lanes + x[5];
      Expr weight = p_.by_channel ? packed(tile, x[0], x[1], ic, lane) : packed(x[0], x[1], tile, ic, lane);
      return te::Sum(r->v(x[0], x[1], x[2], io.var, x[4], ii.var) * weight, {io, ii});
    });
    r->m = te::Compute("m", shape, axes,
                       [&](const std::vector<Var>& x) { return r->acc(std::vector<Expr>(x.begin(), x.end())); });
  }

  void Output(const std::function<Expr(Expr, const std::vector<Var>&)>& epilogue, Stages* r) const {
    int64_t alpha = p_.alpha();
    r->mrow = te::Compute("mrow", {alpha, p_.m, s_.n, l_.oc_blocks, count_, l_.lanes}, {"j", "y", "n", "co", "t", "ci"},
                          [&](const std::vector<Var>& x) {
                            std::vector<Expr> column;
                            for (int64_t i = 0; i < alpha; ++i) {
                              column.push_back(r->m(Expr(i), x[0], x[2], x[3], x[4], x[5]));
                            }
                            return Pick(x[1], ApplyMatrix(t_.at, column));
                          });
    auto pixel = [&](Expr n, Expr co, Expr t, Expr y, Expr x, Expr ci) {
      std::vector<Expr> row;
      for (int64_t j = 0; j < alpha; ++j) row.push_back(r->mrow(Expr(j), y, n, co, t, ci));
      return Pick(x, ApplyMatrix(t_.at, row));
    };
    if (ragged()) {
      r->tile =
          te::Compute("tile", {s_.n, l_.oc_blocks, count_, p_.m, p_.m, l_.lanes}, {"n", "co", "t", "y", "x", "ci"},
                      [&](const std::vector<Var>& x) { return pixel(x[0], x[1], x[2], x[3], x[4], x[5]); });
    }
    r->out = te::Compute("out", {s_.n, l_.oc_blocks, s_.oh, s_.ow, l_.lanes}, {"n", "oco", "oh", "ow", "oci"},
                         [&](const std::vector<Var>& x) {
                           Expr t = x[2] / p_.m * columns_ + x[3] / p_.m, y = x[2] % p_.m, xx = x[3] % p_.m;
                           Expr value =
                               ragged() ? r->tile(x[0], x[1], t, y, xx, x[4]) : pixel(x[0], x[1], t, y, xx, x[4]);
                           return epilogue(std::move(value), x);
                         });
  }

  std::vector<Step> Steps(const Stages& r) const {
    std::vector<Step> steps = {
        Split("out", "oh", {p_.m}, {"ty", "y"}),
        Split("out", "ow", {p_.m}, {"tx", "x"}),
        Split("out", "ty", {std::max<int64_t>(p_.block / columns_, 1)}, {"ty.b", "ty.i"}),
        Split("out", "tx", {std::min(p_.block, columns_)}, {"tx.b", "tx.i"}),
        Split("out", "oco", {p_.oc_block}, {"oco.b", "oco.r"}),
        Split("out", "oco.r", {p_.ocv}, {"oco.o", "oco.i"}),
        Reorder("out", {"n", "ty.b", "tx.b", "oco.b", "oco.o", "ty.i", "tx.i", "oco.i", "y", "x", "oci"}),
        Fuse("out", {"n", "ty.b", "tx.b", "oco.b"}, "task"),
        Parallel("out", "task"),
        Vectorize("out", "oci"),
    };
    auto add = [&](Step step) { steps.push_back(std::move(step)); };
    if (r.tile.defined()) {  // incomplete tiles: all of a tile is made, and what exists of it is stored
      add(Fuse("out", {"y", "x"}, "yx"));
      add(Unroll("out", "yx"));
      add(ComputeAt("tile", "out", "oco.i"));
      add(SetScope("tile", "register"));
      add(Vectorize("tile", "ci"));
    }
    for (const char* axis : {"y", "x"}) add(Unroll(r.tile.defined() ? "tile" : "out", axis));
    add(ComputeAt("mrow", "out", "oco.i"));
    add(SetScope("mrow", "register"));
    for (const char* axis : {"j", "y"}) add(Unroll("mrow", axis));
    add(Vectorize("mrow", "ci"));

    add(ComputeAt("m", "out", p_.by_channel ? "oco.o" : "task"));
    add(AlignElements("m"));
    add(Split("m", "co", {p_.ocv}, {"co.o", "co.i"}));
    add(Split("m", "t", {p_.tiles}, {"t.o", "t.i"}));
    add(Reorder("m", {"i", "j", "n", "co.o", "t.o", "t.i", "co.i", "ci"}));
    add(Vectorize("m", "ci"));
    for (const char* axis : {"t.i", "co.i"}) add(Unroll("m", axis));
    add(ComputeAt("acc", "m", "t.o"));
    add(SetScope("acc", "register"));
    add(Split("acc", "ii", {p_.unroll_ic}, {"ii.o", "ii.i"}));
    add(Reorder("acc", {"i", "j", "n", "io", "ii.o", "ii.i", "t", "co", "ci"}));
    add(Vectorize("acc", "ci"));
    for (const char* axis : {"ii.i", "t", "co"}) add(Unroll("acc", axis));
    if (p_.prefetch > 0) add(Prefetch("acc", "weight.packed", "ii.o", p_.prefetch));

    add(ComputeAt("v", "out", "task"));
    add(AlignElements("v"));
    add(Reorder("v", {"n", "co", "t", "i", "j", "ci"}));
    add(Vectorize("v", "ci"));
    for (const char* axis : {"i", "j"}) add(Unroll("v", axis));
    add(ComputeAt("vrow", "v", "t"));
    add(SetScope("vrow", "register"));
    for (const char* axis : {"b", "i"}) add(Unroll("vrow", axis));
    add(Vectorize("vrow", "ci"));
    if (r.pad.defined()) {
      add(ComputeAt("pad", "v", "co"));
      add(Vectorize("pad", "ci"));
    }
    return steps;
  }

 private:
  // An odd number of vectors from one transformed element to the next.
  Step AlignElements(const char* stage) const {
    Step step;
    step.kind = StepKind::kStorageAlign;
    step.stage = stage;
    step.axes = {"j"};
    step.values = {2 * l_.lanes, l_.lanes};
    return step;
  }

  const WinogradLayer& l_;
  const Conv2dShape& s_;
  const WinogradPoint& p_;
  const CookToom& t_;
  int64_t rows_, columns_, count_;
};

class Conv2dWinogradTemplate final : public Template {
 public:
  const char* name() const override { return "conv2d_winograd"; }
  int version() const override { return 1; }

  Result<search::Space> MakeSpace(const Workload& workload, const Target& target) const override {
    return WinogradSpace(WinogradLayer::Of(workload, target));
  }

  Result<Config> Default(const search::Space& space, const Workload& workload, const Target& target) const override {
    return WinogradDefault(space, WinogradLayer::Of(workload, target));
  }

  void Limit(const Numerics& numerics, search::Space* space) const override {
    if (numerics.winograd >= 6) return;
    space->AddRule({"numerics", [cap = numerics.winograd](const Config& c) -> std::optional<std::string> {
                      if (c.Number("m") <= cap) return {};
                      return cap < 2 ? std::string("winograd is off")
                                     : fmt::format("F({0}x{0}) is less exact than F({1}x{1})", c.Number("m"), cap);
                    }});
  }

  Result<Instance> Instantiate(const Workload& workload, const Target& target, const Config& config) const override {
    WinogradLayer l = WinogradLayer::Of(workload, target);
    WinogradPoint p = WinogradPoint::Of(config);
    const Conv2dShape& s = l.s;
    HONE_ASSIGN_OR_RETURN(CookToom t,
                          MakeCookToom(static_cast<int>(p.m), kTaps, GoodPoints(static_cast<int>(p.alpha()))));
    Builder builder(l, p, t);
    Tensor data = te::Placeholder("data", {s.n, l.ic_blocks, s.h, s.w, l.lanes});
    Tensor raw = te::Placeholder("weight", workload.inputs[1].shape);
    EpilogueTensors epilogue =
        MakeEpilogueTensors(workload, {s.n, l.oc_blocks, s.oh, s.ow, l.lanes}, s.o, static_cast<int>(l.lanes));
    Tensor packed = PackWeight(l, p, t, raw);
    Stages stages;
    builder.Input(data, &stages);
    builder.Product(packed, &stages);
    builder.Output(
        [&](Expr value, const std::vector<Var>& at) {
          return BlockedEpilogue(workload, epilogue, std::move(value), at, s.o, static_cast<int>(l.lanes));
        },
        &stages);
    Instance instance;
    instance.outputs = {stages.out};
    instance.args = {data, packed};
    instance.args.insert(instance.args.end(), epilogue.read.begin(), epilogue.read.end());
    instance.args.push_back(stages.out);
    instance.placeholders = {data, raw};
    instance.placeholders.insert(instance.placeholders.end(), epilogue.placeholders.begin(),
                                 epilogue.placeholders.end());
    instance.steps = builder.Steps(stages);
    instance.arithmetic = std::min(1.0, l.Work(p.m));
    instance.rounding = p.m == 2 ? 2e-5 : p.m == 4 ? 1e-4 : 3e-4;
    return instance;
  }
};

}  // namespace

bool WinogradApplies(const Workload& workload, const Target& target) {
  Conv2dShape s = Conv2dShape::Of(workload);
  bool fits = s.kh == 3 && s.kw == 3 && s.sh == 1 && s.sw == 1 && s.dh == 1 && s.dw == 1 && s.groups == 1;
  return fits && !s.plain_input && !WinogradLayer::Of(workload, target).Sizes().empty();
}

const Template& Conv2dWinograd() {
  static const Conv2dWinogradTemplate t;
  return t;
}

}  // namespace hone::op

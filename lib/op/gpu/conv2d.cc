#include "op/gpu/conv2d.h"

#include <algorithm>

#include "op/conv/conv2d_te.h"
#include "op/defined_operator.h"
#include "op/epilogue.h"
#include "op/gpu/conv_tiles.h"
#include "op/gpu/template.h"
#include "op/shapes.h"
#include "op/steps.h"

namespace hone::op {
namespace {

// Parts 1 to 3 of a split in four: virtual threads, threads, inside.
struct AxisTile {
  int64_t v, t, i;
  int64_t whole() const { return v * t * i; }
  int64_t own() const { return v * i; }
};
AxisTile AxisTileOf(const Config& config, const char* knob) {
  const std::vector<int64_t>& parts = config.Sizes(knob);
  return {parts[1], parts[2], parts[3]};
}

// The extent of input along one axis that a block's tile of outputs needs.
int64_t TileReach(int64_t outputs, int64_t stride, int64_t window, int64_t dilation) {
  return (outputs - 1) * stride + (window - 1) * dilation + 1;
}

GpuUse UseOfTiles(const Conv2dShape& s, const AxisTile& f, const AxisTile& y, const AxisTile& x) {
  GpuUse use;
  use.threads[0] = x.t, use.threads[1] = y.t, use.threads[2] = f.t;
  use.blocks[0] = CeilDiv(s.ow, x.whole());
  use.blocks[1] = CeilDiv(s.oh, y.whole());
  use.blocks[2] = CeilDiv(s.o, f.whole()) * s.n;
  use.vthreads = f.v * y.v * x.v;
  return use;
}

// Stages: "pad", with the extent that windows reach, if there is padding; "conv", the sums; "out".
Computation MakeGpuConv2d(const Workload& w) {
  const Conv2dShape s = Conv2dShape::Of(w);
  const Tensor data = te::Placeholder("data", {s.n, s.c, s.h, s.w});
  const Tensor weight = te::Placeholder("weight", {s.o, s.cg, s.kh, s.kw});
  const Tensor input = s.padded() ? MakePad(data, {s.pt, s.pl}, {s.ph(), s.pw()}) : data;
  const ir::IterVar rc = te::ReduceAxis(s.cg, "rc"), ry = te::ReduceAxis(s.kh, "ry"), rx = te::ReduceAxis(s.kw, "rx");
  const std::vector<int64_t> shape = {s.n, s.o, s.oh, s.ow};
  const Tensor conv = te::Compute("conv", shape, {"n", "f", "y", "x"}, [&](const Vars& x) {
    Expr channel = rc.var;
    if (s.depthwise()) {
      channel = x[1];
    } else if (s.groups > 1) {
      channel = x[1] / (s.o / s.groups) * s.cg + rc.var;
    }
    return te::Sum(input(x[0], channel, x[2] * s.sh + ry.var * s.dh, x[3] * s.sw + rx.var * s.dw) *
                       weight(x[1], s.depthwise() ? Expr(0) : Expr(rc.var), ry.var, rx.var),
                   s.depthwise() ? std::vector<ir::IterVar>{ry, rx} : std::vector<ir::IterVar>{rc, ry, rx});
  });
  const EpilogueTensors epilogue = MakeEpilogueTensors(w, shape, s.o, 0);
  const Tensor out = te::Compute("out", shape, {"n", "f", "y", "x"}, [&](const Vars& x) {
    return PlainEpilogue(w, epilogue, conv(x[0], x[1], x[2], x[3]), x);
  });
  return {epilogue.After({data, weight}), {out}};
}

// ---- Direct: the inputs of a reduction step go through shared memory, sums stay in registers.

// The number of iterations of a step's reduction that the unroll knobs leave in a row, up to 8: innermost loops first.
int64_t RoundsInARow(int64_t own, const Config& config) {
  const int64_t most = std::min(config.Number("auto_unroll_max_step"), search::kMostUnrolled);
  int64_t rounds = 1;
  for (const char* knob : {"tile_rx", "tile_ry", "tile_rc"}) {
    const int64_t more = rounds * config.Sizes(knob)[1];
    if (more * own > most) break;
    rounds = more;
  }
  return std::min<int64_t>(rounds, 8);
}

GpuUseOf DirectUse(const Workload& w) {
  return [s = Conv2dShape::Of(w)](const Config& config) {
    const AxisTile f = AxisTileOf(config, "tile_f"), y = AxisTileOf(config, "tile_y"), x = AxisTileOf(config, "tile_x");
    const int64_t rc = config.Sizes("tile_rc")[1], ry = config.Sizes("tile_ry")[1], rx = config.Sizes("tile_rx")[1];
    GpuUse use = UseOfTiles(s, f, y, x);
    const int64_t input = TileReach(y.whole(), s.sh, ry, s.dh) * TileReach(x.whole(), s.sw, rx, s.dw);
    use.shared_bytes = 4 * rc * (input + f.whole() * ry * rx);
    const int64_t pixels = y.own() * x.own();
    // Fitted like TileRegisters; windows overlap, so fewer operands are in registers at a time.
    const int64_t few = std::min(f.own(), pixels), many = std::max(f.own(), pixels);
    const int64_t sums = f.own() * pixels;
    use.registers =
        RoundUp(5 * sums / 4 + 3 * few / 2 + many + 2 * RoundsInARow(sums, config) + 20 + kOtherRegisters, 8);
    use.reuse = TileReuse(f.own(), pixels);
    return use;
  };
}

// Blocks, virtual threads and threads of "out", inside which the sums are computed.
void MapOutput(const Config& config, std::vector<Step>* steps) {
  for (const char* axis : {"f", "y", "x"}) {
    steps->push_back(SplitFour("out", axis, config.Sizes(std::string("tile_") + axis)));
  }
  Append(steps,
         {Reorder("out", {"n", "f.b", "y.b", "x.b", "f.v", "y.v", "x.v", "f.t", "y.t", "x.t", "f.i", "y.i", "x.i"}),
          Fuse("out", {"n", "f.b"}, "nf.b")});
  for (const auto& [axis, place] :
       {std::pair("nf.b", "blockIdx.z"), std::pair("y.b", "blockIdx.y"), std::pair("x.b", "blockIdx.x"),
        std::pair("f.v", "vthread"), std::pair("y.v", "vthread"), std::pair("x.v", "vthread"),
        std::pair("f.t", "threadIdx.z"), std::pair("y.t", "threadIdx.y"), std::pair("x.t", "threadIdx.x")}) {
    steps->push_back(Bind("out", axis, place));
  }
}

// The sums in registers over `order` of their loops; inputs go through shared memory and are fetched at loop `at` of
// `where`.
Candidate BuildTiled(const Workload& w, const Config& config, const GpuUse& use,
                     const std::vector<std::string>& reduced, const std::vector<std::string>& order,
                     const std::string& where, const std::string& at) {
  const bool padded = Conv2dShape::Of(w).padded();
  Candidate candidate;
  std::vector<Step>& steps = candidate.steps;
  MapOutput(config, &steps);
  Append(&steps, {ComputeAt("conv", "out", "x.t"), SetScope("conv", "register")});
  for (const std::string& r : reduced) {
    steps.push_back(Split("conv", r, {config.Sizes("tile_" + r)[1]}, {r + ".o", r + ".i"}));
  }
  std::vector<std::string> loops = order;
  for (const char* axis : {"n", "f", "y", "x"}) loops.emplace_back(axis);
  Append(&steps, {Reorder("conv", loops), CacheRead(padded ? "pad" : "data", "shared", {"conv"}, "input.shared"),
                  CacheRead("weight", "shared", {"conv"}, "weight.shared")});
  if (padded) steps.push_back(Inline("pad"));
  Append(&steps, {ComputeAt("input.shared", where, at), ComputeAt("weight.shared", where, at)});
  const std::vector<std::string> dimensions = {"d0", "d1", "d2", "d3"};
  FetchTogether("input.shared", padded ? std::vector<std::string>{"n", "c", "ih", "iw"} : dimensions, use.threads, 1,
                &steps);
  FetchTogether("weight.shared", dimensions, use.threads, 1, &steps);
  AddUnrollNotes("conv", order[0], config, &steps);
  return candidate;
}

Result<Candidate> DirectBuild(const Workload& w, const Target&, const Config& config) {
  return BuildTiled(w, config, DirectUse(w)(config), {"rc", "ry", "rx"},
                    {"rc.o", "ry.o", "rx.o", "rc.i", "ry.i", "rx.i"}, "conv", "rx.o");
}

// ---- Depthwise: a block's part of the input and its filters, fetched once.

GpuUseOf DepthwiseUse(const Workload& w) {
  return [s = Conv2dShape::Of(w)](const Config& config) {
    const AxisTile f = AxisTileOf(config, "tile_f"), y = AxisTileOf(config, "tile_y"), x = AxisTileOf(config, "tile_x");
    GpuUse use = UseOfTiles(s, f, y, x);
    const int64_t input = TileReach(y.whole(), s.sh, s.kh, s.dh) * TileReach(x.whole(), s.sw, s.kw, s.dw);
    use.shared_bytes = 4 * f.whole() * (input + s.kh * s.kw);
    const int64_t pixels = y.own() * x.own();
    // Fitted: values read for a sum wait beside it.
    use.registers = RoundUp(f.own() * (3 * pixels / 2 + 4) + 24 + kOtherRegisters, 8);
    use.reuse = TileReuse(1, pixels);
    return use;
  };
}

Result<Candidate> DepthwiseBuild(const Workload& w, const Target&, const Config& config) {
  return BuildTiled(w, config, DepthwiseUse(w)(config), {}, {"ry", "rx"}, "out", "x.b");
}

std::vector<int64_t> Divisors(int64_t extent) {
  std::vector<int64_t> divisors;
  for (int64_t d = 1; d <= extent; ++d) {
    if (extent % d == 0) divisors.push_back(d);
  }
  return divisors;
}

// Whether there is a block of at least a warp, from factors of the extents, whose inputs fit.
bool DepthwiseFits(const Conv2dShape& s, const DeviceLimits& limits) {
  for (int64_t f : Divisors(s.o)) {
    for (int64_t y : Divisors(s.oh)) {
      for (int64_t x : Divisors(s.ow)) {
        GpuUse use = UseOfTiles(s, {1, f, 1}, {1, y, 1}, {1, x, 1});
        use.shared_bytes = 4 * f * (TileReach(y, s.sh, s.kh, s.dh) * TileReach(x, s.sw, s.kw, s.dw) + s.kh * s.kw);
        if (!search::ExceedsDevice(use, limits)) return true;
      }
    }
  }
  return false;
}

// "conv2d_nchw.cuda", one group; "depthwise_conv2d_nchw.cuda".
const Template& GpuConv2dDirect() {
  static const GpuTemplate t({"conv2d_nchw.cuda", 3, nullptr, DirectUse, DirectBuild, {"tile_x", "tile_y", "tile_f"}});
  return t;
}
const Template& GpuConv2dDepthwise() {
  static const GpuTemplate t(
      {"depthwise_conv2d_nchw.cuda", 3, nullptr, DepthwiseUse, DepthwiseBuild, {"tile_x", "tile_y", "tile_f"}});
  return t;
}

}  // namespace

Result<Computation> ComputeGpuDirect(const Workload& w, const Target&, const Algorithm&) { return MakeGpuConv2d(w); }

std::vector<const Template*> GpuConv2dTemplates(const Workload& w, const Target& target) {
  const Conv2dShape s = Conv2dShape::Of(w);
  // Too few values for a block of one warp.
  const int64_t most = std::min<int64_t>(s.o, 32) * std::min<int64_t>(s.oh * s.ow, 32);
  if (s.groups == 1 && most < target.limits.warp_size) return {};
  if (s.groups == 1) {
    std::vector<const Template*> templates = {&GpuConv2dGemm(), &GpuConv2dDirect()};
    if (GpuWinogradApplies(s)) {
      templates.insert(templates.end(), {&GpuConv2dWinograd(), &GpuConv2dWinogradAutoTvm()});
    }
    if (GpuConv2dTensorApplies(s, target)) templates.push_back(&GpuConv2dTensor());
    return templates;
  }
  std::vector<const Template*> templates = GpuConvTilesTemplates(w, target);
  if (s.depthwise() && DepthwiseFits(s, target.limits)) templates.insert(templates.begin(), &GpuConv2dDepthwise());
  return templates;
}

std::vector<const Template*> AllGpuConv2dTemplates() {
  return {&GpuConv2dGemm(),   &GpuConv2dDirect(),    &GpuConv2dWinograd(), &GpuConv2dWinogradAutoTvm(),
          &GpuConv2dTensor(), &GpuConv2dDepthwise(), &GpuConvTiles()};
}

}  // namespace hone::op

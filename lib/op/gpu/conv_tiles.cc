#include "op/gpu/conv_tiles.h"

#include <algorithm>

#include "op/conv/conv2d_te.h"
#include "op/conv/conv_volume.h"
#include "op/defined_operator.h"
#include "op/epilogue.h"
#include "op/gpu/template.h"
#include "op/shapes.h"

namespace hone::op {
namespace {

int64_t Pixels(const ConvVolume& v) { return v.depth.out * v.s.oh * v.s.ow; }

// Stages "sums" [n, f, p] over c, kd, kh, kw, where p runs over all pixels of the output, and "out" with the epilogue.
Computation MakePixels(const Workload& w) {
  const ConvVolume v = ConvVolume::Of(w);
  const Conv2dShape& s = v.s;
  const DepthAxis& z = v.depth;
  const Tensor data = te::Placeholder("data", {s.n, s.c, z.in, s.h, s.w});
  const Tensor weight = te::Placeholder("weight", {s.o, s.cg, z.taps, s.kh, s.kw});
  const ir::IterVar c = te::ReduceAxis(s.cg, "c"), kd = te::ReduceAxis(z.taps, "kd");
  const ir::IterVar kh = te::ReduceAxis(s.kh, "kh"), kw = te::ReduceAxis(s.kw, "kw");
  const std::vector<int64_t> shape = {s.n, s.o, Pixels(v)};
  const Tensor sums = te::Compute("sums", shape, {"n", "f", "p"}, [&](const Vars& x) {
    const int64_t plane = s.oh * s.ow;
    const std::vector<Expr> at = {x[2] / plane * z.stride + kd.var * z.dilation - z.before,
                                  x[2] % plane / s.ow * s.sh + kh.var * s.dh - s.pt,
                                  x[2] % s.ow * s.sw + kw.var * s.dw - s.pl};
    Expr inside = WithinExtent(at[0], -z.before, z.reach(z.out) - 1 - z.before, z.in);
    inside = WithinExtent(at[1], -s.pt, s.ph() - 1 - s.pt, s.h, inside);
    inside = WithinExtent(at[2], -s.pl, s.pw() - 1 - s.pl, s.w, inside);
    const Expr channel = s.groups == 1 ? Expr(c.var) : x[1] / (s.o / s.groups) * s.cg + c.var;
    const Expr product = data(x[0], channel, at[0], at[1], at[2]) * weight(x[1], c.var, kd.var, kh.var, kw.var);
    return te::Sum(ZeroOutside(inside, product), {c, kd, kh, kw});
  });
  const EpilogueTensors epilogue = MakeEpilogueTensors(w, shape, s.o, 0);
  const Tensor out = te::Compute("out", shape, {"n", "f", "p"},
                                 [&](const Vars& x) { return PlainEpilogue(w, epilogue, sums(x[0], x[1], x[2]), x); });
  return {epilogue.After({data, weight}), {out}};
}

Result<Space> TileKnobs(const Workload& w, const Target&) {
  const ConvVolume v = ConvVolume::Of(w);
  Space space("conv_gpu_tiles");
  const auto upto = [](int64_t extent, std::vector<int64_t> values) {
    std::erase_if(values, [&](int64_t x) { return x > 1 && x >= 2 * extent; });
    return values;
  };
  space.Add(search::Knob::Choice("threads", {32, 64, 128, 256}));
  space.Add(search::Knob::Choice("filters", upto(v.s.o, {1, 2, 4, 8, 16})));
  space.Add(search::Knob::Choice("pixels", {1, 2, 4}));
  space.Add(search::Knob::Choice("auto_unroll_max_step", {0, 64, 256}));
  return space;
}

GpuUseOf TileUse(const Workload& w) {
  return [v = ConvVolume::Of(w)](const Config& config) {
    const int64_t filters = config.Number("filters"), pixels = config.Number("pixels");
    GpuUse use;
    use.threads[0] = std::min(config.Number("threads"), Pixels(v));
    use.blocks[0] = CeilDiv(Pixels(v), config.Number("threads") * pixels);
    use.blocks[1] = CeilDiv(v.s.o, filters) * v.s.n;
    // Each filter's weights need an address; fitted like TileRegisters.
    use.registers = RoundUp(filters * pixels + 5 * filters + pixels + kOtherRegisters + 12, 8);
    use.reuse = TileReuse(filters, pixels);
    return use;
  };
}

Result<Candidate> TileBuild(const Workload&, const Target&, const Config& config) {
  Candidate candidate{{"pixels", {}}, {}};
  candidate.steps = {Split("out", "f", {config.Number("filters")}, {"f.b", "f.i"}),
                     // Each thread's pixels are one block of threads apart.
                     Split("out", "p", {config.Number("pixels"), config.Number("threads")}, {"p.b", "p.i", "p.t"}),
                     Reorder("out", {"n", "f.b", "p.b", "p.t", "f.i", "p.i"}), Fuse("out", {"n", "f.b"}, "nf.b"),
                     Bind("out", "nf.b", "blockIdx.y"), Bind("out", "p.b", "blockIdx.x"),
                     Bind("out", "p.t", "threadIdx.x"), Unroll("out", "f.i"), Unroll("out", "p.i"),
                     ComputeAt("sums", "out", "p.t"), SetScope("sums", "register"),
                     Reorder("sums", {"c", "kd", "kh", "kw", "n", "f", "p"})};
  const int64_t most = config.Number("auto_unroll_max_step");
  if (most > 0) candidate.steps.push_back(PragmaStep("sums", "c", "auto_unroll_max_step", most));
  return candidate;
}

}  // namespace

Result<Computation> ComputeGpuPixels(const Workload& w, const Target&, const Algorithm&) { return MakePixels(w); }

const Template& GpuConvTiles() {
  static const GpuTemplate t({"conv_gpu_tiles", 2, TileKnobs, TileUse, TileBuild});
  return t;
}

std::vector<const Template*> GpuConvTilesTemplates(const Workload& w, const Target& target) {
  if (Pixels(ConvVolume::Of(w)) < target.limits.warp_size) return {};
  return {&GpuConvTiles()};
}

}  // namespace hone::op

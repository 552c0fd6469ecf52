#include "op/gpu/conv2d_gemm_te.h"

#include "op/conv/conv2d_te.h"
#include "op/defined_operator.h"
#include "op/epilogue.h"
#include "op/gpu/conv2d.h"
#include "op/gpu/template.h"
#include "op/numerics.h"
#include "op/shapes.h"
#include "op/steps.h"

namespace hone::op {

static Tensor Windows(const Conv2dShape& s, const Tensor& data, int64_t depth, int64_t pixels) {
  const int64_t window = s.kh * s.kw;
  return te::Compute("windows", {s.n, depth, pixels}, {"n", "k", "p"}, [&](const Vars& x) {
    const Expr row = x[2] / s.ow * s.sh + x[1] % window / s.kw * s.dh - s.pt;
    const Expr column = x[2] % s.ow * s.sw + x[1] % s.kw * s.dw - s.pl;
    Expr inside;
    if (depth > s.cg * window) inside = x[1] < s.cg * window;
    if (pixels > s.oh * s.ow) inside = BothOf(inside, x[2] < s.oh * s.ow);
    inside = WithinExtent(row, -s.pt, s.ph() - 1 - s.pt, s.h, inside);
    inside = WithinExtent(column, -s.pl, s.pw() - 1 - s.pl, s.w, inside);
    return ZeroOutside(inside, data(x[0], x[1] / window, row, column));
  });
}

int64_t GpuGemmShape::part(int64_t parts, int64_t step) const { return RoundUp(CeilDiv(depth(), parts), step); }

Result<Computation> ComputeGpuGemm(const Workload& w, const Target&, const Algorithm& algorithm) {
  const GpuGemmShape shape(w);
  const Conv2dShape& s = shape.s;
  const bool tf32 = algorithm.name == kTf32Gemm;
  const int64_t rounds = shape.depth(), part = algorithm.Number("k", 0), parts = algorithm.Number("parts", 0);
  if (s.groups != 1 || parts < 1 || parts > rounds || !CoversExtent(algorithm, "k", CeilDiv(rounds, parts)) ||
      (tf32 && !(CoversExtent(algorithm, "filters", s.o) && CoversExtent(algorithm, "pixels", shape.pixels())))) {
    return NotComputedBy(algorithm, w);
  }
  const int64_t filters = algorithm.Number("filters", s.o), pixels = algorithm.Number("pixels", shape.pixels());
  const Tensor data = te::Placeholder("data", {s.n, s.c, s.h, s.w});
  const Tensor weight = te::Placeholder("weight", {s.o, rounds});
  const auto factor = [&](const Expr& x) { return tf32 ? ir::MakeCall(x.type(), ir::Intrinsic::kTf32, {x}) : x; };
  const std::vector<int64_t> shape_of_all = {filters, part * parts};
  const Tensor weights = te::ComputeConstant("weight.whole", shape_of_all, {"f", "k"}, [&](const Vars& x) {
    return factor(te::ReadOrZero(weight, {x[0], x[1]}, shape_of_all));
  });
  const Tensor windows = Windows(s, data, part * parts, pixels);
  const ir::IterVar k = te::ReduceAxis(part, "k");
  const bool split = parts > 1;
  std::vector<int64_t> sums_shape = {s.n, filters, pixels};
  std::vector<std::string> names = {"n", "f", "p"};
  if (split) sums_shape.insert(sums_shape.begin(), parts), names.insert(names.begin(), "s");
  // The same name with and without parts, so that the steps are the same.
  const Tensor sums = te::Compute("sums", sums_shape, names, [&](const Vars& x) {
    const size_t at = split ? 1 : 0;
    const Expr index = split ? x[0] * part + k.var : Expr(k.var);
    return te::Sum(factor(windows(x[at], index, x[at + 2])) * weights(x[at + 1], index), {k});
  });
  Tensor whole = sums;
  const std::vector<int64_t> out_shape = {s.n, s.o, shape.pixels()};
  if (split) {
    const ir::IterVar r = te::ReduceAxis(parts, "r");
    whole = te::Compute("whole", out_shape, {"n", "f", "p"},
                        [&](const Vars& x) { return te::Sum(sums(r.var, x[0], x[1], x[2]), {r}); });
  }
  const EpilogueTensors epilogue = MakeEpilogueTensors(w, out_shape, s.o, 0);
  const Tensor out = te::Compute("out", out_shape, {"n", "f", "p"},
                                 [&](const Vars& x) { return PlainEpilogue(w, epilogue, whole(x[0], x[1], x[2]), x); });
  return Computation{epilogue.After({data, weight}), {out}, tf32 ? kTf32Arithmetic : 1, tf32 ? kTf32Rounding : 0};
}

std::string SeparateParts(const GpuGemmStages& gemm, std::vector<Step>* steps) {
  if (!gemm.split) return "n";
  Append(steps, {CacheWrite("sums", "register", gemm.acc), Fuse("out", {"n", "f", "p"}, "all"),
                 Split("out", "all", {128}, {"all.b", "all.t"}), Bind("out", "all.b", "blockIdx.x"),
                 Bind("out", "all.t", "threadIdx.x"), ComputeAt("whole", "out", "all.t"), SetScope("whole", "register"),
                 Fuse(gemm.stored, {"s", "n"}, "sn")});
  return "sn";
}

void FetchFactors(const GpuGemmStages& gemm, const std::vector<int64_t>& k, const int64_t (&threads)[3],
                  const DeviceLimits& limits, int64_t stages, std::vector<Step>* steps) {
  const std::string& acc = gemm.acc;
  steps->push_back(ComputeAt(acc, gemm.stored, "p.t"));
  if (!gemm.split) steps->push_back(SetScope(acc, "register"));
  std::vector<std::string> order = {"k.o", "k.i"};
  std::vector<int64_t> factors = {k[0]};
  if (k.size() > 1) {
    order.emplace_back("k.m");
    factors = {k[0] / k[1], k[1]};
  }
  steps->push_back(Split(acc, "k", factors, order));
  if (gemm.split) order.emplace_back("s");
  for (const char* axis : {"n", "f", "p"}) order.emplace_back(axis);
  steps->push_back(Reorder(acc, order));
  FetchWeights({"weight", acc, threads, stages}, "weight.whole", {"d1"}, 0, gemm.filters,
               limits.vector_bytes >= 4 * kFilterVector, steps);
  FetchShared({"windows", acc, threads, stages}, "windows", {"n", "k", "p"}, 1, steps);
  steps->push_back(Inline("windows"));
}

}  // namespace hone::op

// Winograd on GPUs, for square windows at stride 1: three kernels, as in AutoTVM's template, with the tile as a knob;
// and that template itself.
//   v [i, j, c, t]   the input's tiles transformed: a thread per tile and channel, all in registers
//   m [i, j, f, t]   a product of matrices for each of the (m + r - 1)^2 positions i, j
//   out              a thread per tile of an output channel: transformed back in registers, the epilogue, stored
// Weights [i, j, c, f] are transformed when they are packed.

#include <algorithm>

#include "op/conv/conv2d_te.h"
#include "op/conv/cook_toom_te.h"
#include "op/conv/winograd_layer.h"
#include "op/defined_operator.h"
#include "op/epilogue.h"
#include "op/gpu/conv2d.h"
#include "op/gpu/template.h"
#include "op/numerics.h"
#include "op/shapes.h"
#include "op/steps.h"

namespace hone::op {
namespace {

constexpr int64_t kTransformThreads = 128;  // per transforming block

// The tiles of outputs for one m.
struct Tiling {
  int64_t m, a, rows, columns, count;  // a = m + r - 1; count: for all images
  Tiling(const Conv2dShape& s, int64_t m)
      : m(m), a(m + s.kh - 1), rows(CeilDiv(s.oh, m)), columns(CeilDiv(s.ow, m)), count(s.n * rows * columns) {}
};

std::vector<int64_t> Sizes(const Conv2dShape& s) {
  std::vector<int64_t> sizes;
  for (int64_t m : {2, 4, 6}) {
    if (m + s.kh - 1 <= 8) sizes.push_back(m);
  }
  return sizes;
}

// A point of either template: the shares of blocks, virtual threads, threads and inner loops for filters and tiles, and
// the rows of the reduction per step.
struct Product {
  int64_t m;
  std::vector<int64_t> f, t;
  int64_t k;
  bool twice;
  int64_t unroll;  // iterations of the reduction in a row; 0: as AutoTVM's knobs say
};

Product OwnPoint(const Config& c) {
  return {c.Number("m"),     c.Sizes("tile_f"), c.Sizes("tile_t"), c.Number("tile_k"), c.Number("double_buffer") != 0,
          c.Number("unroll")};
}

int64_t AutoTvmTile(const Conv2dShape& s) { return s.h % 8 == 0 ? 4 : 2; }

Product AutoTvmPoint(const Conv2dShape& s, const Config& c) {
  return {AutoTvmTile(s), c.Sizes("tile_y"), c.Sizes("tile_x"), c.Sizes("tile_rc")[1], false, 0};
}

Result<Space> WinogradKnobs(const Workload& w, const Target&) {
  const Conv2dShape s = Conv2dShape::Of(w);
  Space space("conv2d_gpu_winograd");
  const auto split = [](const char* name, int64_t extent) {
    return search::Knob::SplitOf(name, ProductShares(extent, {1, 2}, 128));
  };
  space.Add(search::Knob::Choice("m", Sizes(s)));
  space.Add(split("tile_f", s.o));
  space.Add(split("tile_t", Tiling(s, 2).count));
  space.Add(search::Knob::Choice("tile_k", ProductRounds(s.cg)));
  space.Add(search::Knob::Choice("double_buffer", {0, 1}));
  AddUnrollKnob("tile_k", &space);
  return space;
}

GpuUse UseOf(const Conv2dShape& s, const Product& p) {
  const Tiling tiling(s, p.m);
  const int64_t fs = p.f[1] * p.f[2] * p.f[3], ts = p.t[1] * p.t[2] * p.t[3];
  GpuUse use;
  use.threads[0] = std::min(p.t[2], CeilDiv(tiling.count, p.t[3]));
  use.threads[1] = std::min(p.f[2], CeilDiv(s.o, p.f[3]));
  use.blocks[0] = CeilDiv(tiling.count, ts), use.blocks[1] = CeilDiv(s.o, fs), use.blocks[2] = tiling.a * tiling.a;
  use.vthreads = p.f[1] * p.t[1];
  use.shared_bytes = 4 * p.k * (fs + ts) * (p.twice ? 2 : 1);
  const int64_t own_f = p.f[1] * p.f[3], own_t = p.t[1] * p.t[3];
  const int64_t waiting = p.twice ? CeilDiv(p.k * (fs + ts), use.Threads()) : 0;
  // The compiler unrolls AutoTVM's loops and loads some values ahead.
  use.registers = p.unroll > 0 ? TileRegisters(own_f, own_t, p.unroll, waiting) : TileRegisters(own_f, own_t, 4, 12);
  // The transforms hold a tile, and a part of it twice.
  use.other_registers = RoundUp(tiling.a * tiling.a * 3 / 2 + 16, 8);
  use.body = own_f * own_t * std::max<int64_t>(p.unroll, 1);
  use.reuse = TileReuse(own_f, own_t);
  return use;
}
GpuUseOf WinogradUse(const Workload& w) {
  return [s = Conv2dShape::Of(w)](const Config& config) { return UseOf(s, OwnPoint(config)); };
}
GpuUseOf AutoTvmUse(const Workload& w) {
  return [s = Conv2dShape::Of(w)](const Config& config) { return UseOf(s, AutoTvmPoint(s, config)); };
}

// The threads of a kernel in which each computes a whole tile.
void ThreadATile(const std::string& stage, const std::vector<std::string>& axes, std::vector<Step>* steps) {
  Append(steps, {Fuse(stage, axes, "all"), Split(stage, "all", {kTransformThreads}, {"all.b", "all.t"}),
                 Bind(stage, "all.b", "blockIdx.x"), Bind(stage, "all.t", "threadIdx.x")});
}

void InRegisters(const std::string& stage, const std::string& reader, const std::vector<std::string>& loops,
                 std::vector<Step>* steps) {
  Append(steps, {ComputeAt(stage, reader, "all.t"), SetScope(stage, "register")});
  for (const std::string& loop : loops) steps->push_back(Unroll(stage, loop));
}

Result<Candidate> BuildOf(const Workload& w, const Target& target, const Config& config, const Product& p) {
  const Conv2dShape s = Conv2dShape::Of(w);
  const Tiling k(s, p.m);
  Candidate candidate{{"winograd", {{"m", k.m}}}, {}};
  std::vector<Step>& steps = candidate.steps;
  steps.push_back(CacheWrite("m", "register", "m.acc"));
  // The input.
  steps.push_back(Reorder("v", {"c", "t", "i", "j"}));
  ThreadATile("v", {"c", "t"}, &steps);
  Append(&steps, {Unroll("v", "i"), Unroll("v", "j")});
  InRegisters("vrow", "v", {"i", "b"}, &steps);
  InRegisters("patch", "v", {"a", "b"}, &steps);
  // The product.
  steps.push_back(Fuse("m", {"i", "j"}, "ij"));
  MapProduct("m", "ij", "f", p.f, "t", p.t, &steps);
  Append(&steps, {Unroll("m", "f.i"), Unroll("m", "t.i"), ComputeAt("m.acc", "m", "t.t"),
                  Split("m.acc", "k", {p.k}, {"k.o", "k.i"}), Reorder("m.acc", {"k.o", "k.i", "i", "j", "f", "t"})});
  const GpuUse use = UseOf(s, p);
  const bool vectors = p.f[1] * p.f[2] * p.f[3] % kFilterVector == 0 && target.limits.vector_bytes >= 4 * kFilterVector;
  const int64_t stages = p.twice ? 2 : 1;
  FetchWeights({"weight", "m.acc", use.threads, stages}, "weight.transformed", {"d0", "d1", "d2"}, 3, s.o, vectors,
               &steps);
  FetchShared({"v", "m.acc", use.threads, stages}, "v", {"i", "j", "c", "t"}, 1, &steps);
  if (p.unroll > 0) {
    steps.push_back(UnrollRounds("m.acc", "k.i", config));
  } else {
    AddUnrollNotes("m.acc", "k.o", config, &steps);
  }
  // The output.
  Append(&steps, {Split("out", "y", {k.m}, {"y.o", "y.i"}), Split("out", "x", {k.m}, {"x.o", "x.i"}),
                  Reorder("out", {"n", "f", "y.o", "x.o", "y.i", "x.i"})});
  ThreadATile("out", {"n", "f", "y.o", "x.o"}, &steps);
  Append(&steps, {Unroll("out", "y.i"), Unroll("out", "x.i")});
  InRegisters("mrow", "out", {"y", "j"}, &steps);
  return candidate;
}

Result<Candidate> WinogradBuild(const Workload& w, const Target& target, const Config& config) {
  return BuildOf(w, target, config, OwnPoint(config));
}
Result<Candidate> AutoTvmBuild(const Workload& w, const Target& target, const Config& config) {
  return BuildOf(w, target, config, AutoTvmPoint(Conv2dShape::Of(w), config));
}

// AutoTVM's tile follows from the shape: no knob sets it.
void AutoTvmLimit(const Workload& w, const Numerics& numerics, Space* space) {
  const int64_t m = AutoTvmTile(Conv2dShape::Of(w));
  LimitWinograd(
      numerics, [m](const Config&) { return m; }, space);
}

void WinogradLimit(const Workload&, const Numerics& numerics, Space* space) {
  LimitWinograd(
      numerics, [](const Config& c) { return c.Number("m"); }, space);
}

}  // namespace

bool GpuWinogradApplies(const Conv2dShape& s) {
  const bool plain = s.groups == 1 && s.sh == 1 && s.sw == 1 && s.dh == 1 && s.dw == 1;
  return plain && s.kh == s.kw && (s.kh == 3 || s.kh == 5) && s.oh >= 2 && s.ow >= 2;
}

Result<Computation> ComputeGpuWinograd(const Workload& w, const Target&, const Algorithm& algorithm) {
  const Conv2dShape s = Conv2dShape::Of(w);
  const std::vector<int64_t> sizes = Sizes(s);
  const int64_t size = algorithm.Number("m", 0);
  if (!GpuWinogradApplies(s) || std::find(sizes.begin(), sizes.end(), size) == sizes.end()) {
    return NotComputedBy(algorithm, w);
  }
  const Tiling k(s, size);
  HONE_ASSIGN_OR_RETURN(const CookToom ct,
                        MakeCookToom(static_cast<int>(k.m), static_cast<int>(s.kh), GoodPoints(static_cast<int>(k.a))));
  const Tensor data = te::Placeholder("data", {s.n, s.c, s.h, s.w});
  const Tensor weight = te::Placeholder("weight", {s.o, s.c, s.kh, s.kw});
  const Tensor transformed =
      te::ComputeConstant("weight.transformed", {k.a, k.a, s.c, s.o}, {"i", "j", "c", "f"}, [&](const Vars& x) {
        Expr sum;
        for (int64_t p = 0; p < s.kh; ++p) {
          for (int64_t q = 0; q < s.kw; ++q) {
            const Expr tap = ir::MakeCast(DType::Float(64), weight(x[3], x[2], Expr(p), Expr(q)));
            const Expr product =
                tap * PickEntry(ct.g, x[0], static_cast<size_t>(p)) * PickEntry(ct.g, x[1], static_cast<size_t>(q));
            sum = sum.defined() ? sum + product : product;
          }
        }
        return ir::MakeCast(DType::Float(32), sum);
      });
  const Tensor patch = te::Compute("patch", {s.c, k.count, k.a, k.a}, {"c", "t", "a", "b"}, [&](const Vars& x) {
    const Expr row = x[1] / k.columns % k.rows * k.m + x[2] - s.pt, column = x[1] % k.columns * k.m + x[3] - s.pl;
    Expr inside = WithinExtent(row, -s.pt, (k.rows - 1) * k.m + k.a - 1 - s.pt, s.h);
    inside = WithinExtent(column, -s.pl, (k.columns - 1) * k.m + k.a - 1 - s.pl, s.w, inside);
    return ZeroOutside(inside, data(x[1] / (k.rows * k.columns), x[0], row, column));
  });
  const Tensor vrow = te::Compute("vrow", {s.c, k.count, k.a, k.a}, {"c", "t", "i", "b"}, [&](const Vars& x) {
    return TransformedAt(x[2], ct.bt, [&](const Expr& a) { return patch(x[0], x[1], a, x[3]); });
  });
  const Tensor v = te::Compute("v", {k.a, k.a, s.c, k.count}, {"i", "j", "c", "t"}, [&](const Vars& x) {
    return TransformedAt(x[1], ct.bt, [&](const Expr& b) { return vrow(x[2], x[3], x[0], b); });
  });
  const ir::IterVar c = te::ReduceAxis(s.c, "k");
  const Tensor m = te::Compute("m", {k.a, k.a, s.o, k.count}, {"i", "j", "f", "t"}, [&](const Vars& x) {
    return te::Sum(v(x[0], x[1], c.var, x[3]) * transformed(x[0], x[1], c.var, x[2]), {c});
  });
  const Tensor mrow = te::Compute("mrow", {s.o, k.count, k.m, k.a}, {"f", "t", "y", "j"}, [&](const Vars& x) {
    return TransformedAt(x[2], ct.at, [&](const Expr& i) { return m(i, x[3], x[0], x[1]); });
  });
  const EpilogueTensors epilogue = MakeEpilogueTensors(w, {s.n, s.o, s.oh, s.ow}, s.o, 0);
  const Tensor out = te::Compute("out", {s.n, s.o, s.oh, s.ow}, {"n", "f", "y", "x"}, [&](const Vars& x) {
    const Expr t = (x[0] * k.rows + x[2] / k.m) * k.columns + x[3] / k.m;
    const Expr value = TransformedAt(x[3] % k.m, ct.at, [&](const Expr& j) { return mrow(x[1], t, x[2] % k.m, j); });
    return PlainEpilogue(w, epilogue, value, x);
  });
  const double tiles = static_cast<double>(k.count * k.a * k.a);
  return Computation{epilogue.After({data, weight}),
                     {out},
                     std::min(1.0, tiles / static_cast<double>(s.n * s.oh * s.ow * s.kh * s.kw)),
                     WinogradErrorBound(k.a - 2)};  // of the 3 x 3 form with as many points
}

const Template& GpuConv2dWinograd() {
  static const GpuTemplate t(
      {"conv2d_gpu_winograd", 4, WinogradKnobs, WinogradUse, WinogradBuild, {"tile_t", "tile_f"}, 2, WinogradLimit});
  return t;
}

const Template& GpuConv2dWinogradAutoTvm() {
  static const GpuTemplate t(
      {"conv2d_nchw_winograd.cuda", 3, nullptr, AutoTvmUse, AutoTvmBuild, {"tile_x", "tile_y"}, 2, AutoTvmLimit});
  return t;
}

}  // namespace hone::op

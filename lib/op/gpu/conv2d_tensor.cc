// Implicit GEMM (op/gpu/conv2d_gemm_te.h) by products of warps: a warp has `rows` x 16 filters and `columns` x 8
// pixels, a block warps_f x warps_p warps. Threads along x are 4 pairs of neighbouring pixels, along y 8 filters of
// each warp, as lower/tensorize.cc requires. Whole tiles are computed, but only existing elements are stored.
#include <fmt/format.h>

#include <optional>

#include "op/gpu/conv2d.h"
#include "op/gpu/conv2d_gemm_te.h"
#include "op/gpu/template.h"
#include "op/knobs.h"
#include "op/numerics.h"
#include "op/shapes.h"
#include "op/steps.h"
#include "target/cuda_arch.h"

namespace hone::op {
namespace {

constexpr int64_t kFragmentRows = 16, kFragmentColumns = 8, kFragmentDepth = 8;  // of one product

struct TensorPoint {
  int64_t rows, columns, warps_f, warps_p, k, parts, stages;
  int64_t f() const { return kFragmentRows * rows * warps_f; }
  int64_t p() const { return kFragmentColumns * columns * warps_p; }
};

TensorPoint TensorPointOf(const Config& c) {
  return {c.Number("rows"),   c.Number("columns"), c.Number("warps_f"), c.Number("warps_p"),
          c.Number("tile_k"), c.Number("split_k"), c.Number("stages")};
}

Result<Space> TensorKnobs(const Workload& w, const Target&) {
  const GpuGemmShape g(w);
  Space space("conv2d_gpu_tensor");
  const auto choice = [&](const char* name, const std::vector<int64_t>& values, int64_t limit) {
    std::vector<int64_t> kept;
    for (int64_t v : values) {
      if (v <= limit || kept.empty()) kept.push_back(v);
    }
    space.Add(search::Knob::Choice(name, kept));
  };
  choice("rows", {1, 2, 4}, g.s.o / kFragmentRows);
  choice("columns", {1, 2, 4, 6, 8}, g.pixels() / kFragmentColumns);
  choice("warps_f", {1, 2, 4}, g.s.o / kFragmentRows);
  choice("warps_p", {1, 2, 4}, g.pixels() / kFragmentColumns);
  choice("tile_k", {8, 16, 32}, RoundUp(g.depth(), kFragmentDepth));
  choice("split_k", {1, 2, 4, 8}, g.depth() / 64);
  choice("stages", {1, 2, 3, 4}, 4);
  choice("unroll", {1, 2, 4}, 4);
  space.AddRule({"tile", [f = g.s.o, p = g.pixels()](const Config& config) -> std::optional<std::string> {
                   const TensorPoint at = TensorPointOf(config);
                   if (at.f() > f) return fmt::format("{} filters of {}", at.f(), f);
                   if (at.p() > p) return fmt::format("{} pixels of {}", at.p(), p);
                   return {};
                 }});
  space.AddRule({"unroll", [](const Config& config) {
                   const int64_t at_once = config.Number("unroll"), all = config.Number("tile_k") / kFragmentDepth;
                   return Unless(at_once <= all, "{} of {} products", at_once, all);
                 }});
  return space;
}

// A row of a shared tile: 8 more than a multiple of 32, so that a warp's simultaneous reads, 8 neighbours of 4 rows,
// are in 32 different banks.
int64_t Stride(int64_t extent) { return RoundUp(extent - kFragmentDepth, 32) + kFragmentDepth; }

GpuUseOf TensorUse(const Workload& w) {
  return [g = GpuGemmShape(w)](const Config& config) {
    const TensorPoint p = TensorPointOf(config);
    GpuUse use;
    use.threads[0] = 4;
    use.threads[1] = 8 * p.warps_f;
    use.threads[2] = p.warps_p;
    use.blocks[0] = CeilDiv(g.pixels(), p.p());
    use.blocks[1] = CeilDiv(g.s.o, p.f());
    use.blocks[2] = g.s.n * p.parts;
    use.vthreads = 2 * p.rows * p.columns;
    use.shared_bytes = 4 * p.k * (Stride(p.f()) + Stride(p.p())) * p.stages;
    // Sums, fragments of both factors, values in flight.
    constexpr int64_t kCopies = 16;
    const int64_t fetched = CeilDiv(p.k * (p.f() + p.p()), use.Threads());
    const int64_t waiting = p.stages == 2 ? fetched : p.stages > 2 ? kCopies : 0;
    use.registers = RoundUp(4 * p.rows * p.columns + 4 * p.rows + 2 * p.columns + waiting + kOtherRegisters, 8);
    use.body = p.rows * p.columns * config.Number("unroll");
    use.reuse = TileReuse(p.rows, p.columns);
    return use;
  };
}

Result<Candidate> TensorBuild(const Workload& w, const Target& target, const Config& config) {
  const GpuGemmShape g(w);
  const TensorPoint p = TensorPointOf(config);
  const GpuGemmStages gemm(p.parts, RoundUp(g.s.o, p.f()));
  Candidate candidate{{kTf32Gemm,
                       {{"k", g.part(p.parts, p.k)},
                        {"parts", p.parts},
                        {"filters", RoundUp(g.s.o, p.f())},
                        {"pixels", RoundUp(g.pixels(), p.p())}}},
                      {}};
  std::vector<Step>& steps = candidate.steps;
  const std::string images = SeparateParts(gemm, &steps), &stored = gemm.stored;
  Append(&steps, {Split(stored, "f", {2 * p.rows, 8 * p.warps_f}, {"f.b", "f.v", "f.t"}),
                  Split(stored, "p", {p.columns, p.warps_p, 4, 2}, {"p.b", "p.v", "p.z", "p.t", "p.i"}),
                  Reorder(stored, {images, "f.b", "p.b", "f.v", "p.v", "p.z", "f.t", "p.t", "p.i"})});
  for (const auto& [axis, place] : {std::pair<std::string, const char*>(images, "blockIdx.z"),
                                    {"f.b", "blockIdx.y"},
                                    {"p.b", "blockIdx.x"},
                                    {"f.v", "vthread"},
                                    {"p.v", "vthread"},
                                    {"p.z", "threadIdx.z"},
                                    {"f.t", "threadIdx.y"},
                                    {"p.t", "threadIdx.x"}}) {
    steps.push_back(Bind(stored, axis, place));
  }
  const bool pairs = (p.parts > 1 || g.pixels() % 2 == 0) && target.limits.vector_bytes >= 8;
  steps.push_back(pairs ? Vectorize(stored, "p.i") : Unroll(stored, "p.i"));
  FetchFactors(gemm, {p.k, kFragmentDepth}, TensorUse(w)(config).threads, target.limits, p.stages, &steps);
  Append(&steps, {AlignStorage("weight.shared", "p0", 32, kFragmentDepth),
                  AlignStorage("windows.shared", "k", 32, kFragmentDepth), UnrollRounds(gemm.acc, "k.i", config)});
  steps.push_back({StepKind::kTensorize, gemm.acc, {"k.m"}, {}, "mma_tf32", {}});
  return candidate;
}

void TensorLimit(const Workload&, const Numerics& numerics, Space* space) { LimitTf32(numerics, space); }

}  // namespace

bool GpuConv2dTensorApplies(const Conv2dShape& s, const Target& target) {
  return s.groups == 1 && s.o >= kFragmentRows && s.oh * s.ow >= kFragmentColumns && HasTensorFloat32(target.cpu);
}

const Template& GpuConv2dTensor() {
  static const GpuTemplate t({"conv2d_gpu_tensor", 2, TensorKnobs, TensorUse, TensorBuild, {}, 2, TensorLimit});
  return t;
}

}  // namespace hone::op

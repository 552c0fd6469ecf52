// Implicit GEMM: sums[f, p] = sum over k of weight[k, f] * window[k, p], where p is a pixel of the output, k an input
// channel and a position in the window; window[k, p] is read from the input when it is fetched and never stored as a
// whole. It goes beyond AutoTVM's direct template: rows of k of any length, weights transposed when they are packed and
// fetched as vectors, fetching for the next steps during the current one, split reduction.
#include <algorithm>

#include "op/gpu/conv2d.h"
#include "op/gpu/conv2d_gemm_te.h"
#include "op/gpu/template.h"
#include "op/shapes.h"
#include "target/cuda_arch.h"

namespace hone::op {
namespace {

constexpr int64_t kPixelVector = 4;  // stored at once

struct GemmPoint {
  int64_t vf, tf, vp, tp;  // virtual threads and threads along channels and pixels; each thread has kOwn side by side
  int64_t own_f, own_p, k, parts;
  int64_t stages;  // copies of the shared tiles: 1, 2 through registers, 3 and 4 by asynchronous copies
  int64_t f() const { return vf * tf * own_f; }
  int64_t p() const { return vp * tp * own_p; }
};

GemmPoint GemmPointOf(const Config& c) {
  const std::vector<int64_t>&f = c.Sizes("tile_f"), &p = c.Sizes("tile_p");
  return {f[1], f[2], p[1], p[2], f[3], p[3], c.Number("tile_k"), c.Number("split_k"), c.Number("stages")};
}

Result<Space> GemmKnobs(const Workload& w, const Target& target) {
  const GpuGemmShape g(w);
  Space space("conv2d_gpu_gemm");
  const auto split = [](const char* name, int64_t extent) {
    return search::Knob::SplitOf(name, ProductShares(extent, {1, 2, 4}, 256));
  };
  space.Add(split("tile_f", g.s.o));
  space.Add(split("tile_p", g.pixels()));
  std::vector<int64_t> parts = {1};
  for (int64_t p : {2, 4, 8}) {
    if (g.depth() >= 64 * p) parts.push_back(p);
  }
  space.Add(search::Knob::Choice("tile_k", ProductRounds(g.depth())));
  space.Add(search::Knob::Choice("split_k", parts));
  space.Add(search::Knob::Choice(
      "stages", HasAsyncCopies(target.cpu) ? std::vector<int64_t>{1, 2, 3, 4} : std::vector<int64_t>{1, 2}));
  AddUnrollKnob("tile_k", &space);
  return space;
}

GpuUseOf GemmUse(const Workload& w) {
  return [g = GpuGemmShape(w)](const Config& config) {
    const GemmPoint p = GemmPointOf(config);
    GpuUse use;
    // A tile larger than the whole extent uses only threads for existing elements.
    use.threads[0] = std::min(p.tp, CeilDiv(g.pixels(), p.own_p));
    use.threads[1] = std::min(p.tf, CeilDiv(g.s.o, p.own_f));
    use.blocks[0] = CeilDiv(g.pixels(), p.p());
    use.blocks[1] = CeilDiv(g.s.o, p.f());
    use.blocks[2] = g.s.n * p.parts;
    use.vthreads = p.vf * p.vp;
    const int64_t fetched = p.k * (p.f() + p.p());
    use.shared_bytes = 4 * fetched * p.stages;
    const int64_t own_f = p.vf * p.own_f, own_p = p.vp * p.own_p;
    // With two stages, values for the next step wait in registers; with more, only addresses do.
    constexpr int64_t kCopies = 32;
    const int64_t waiting = p.stages == 2 ? CeilDiv(fetched, use.Threads()) : p.stages > 2 ? kCopies : 0;
    use.registers = TileRegisters(own_f, own_p, config.Number("unroll"), waiting);
    use.body = own_f * own_p * config.Number("unroll");
    use.reuse = TileReuse(own_f, own_p);
    return use;
  };
}

Result<Candidate> GemmBuild(const Workload& w, const Target& target, const Config& config) {
  const GpuGemmShape g(w);
  const GemmPoint p = GemmPointOf(config);
  const GpuGemmStages gemm(p.parts, g.s.o);
  Candidate candidate{{"gemm", {{"k", g.part(p.parts, p.k)}, {"parts", p.parts}}}, {}};
  std::vector<Step>& steps = candidate.steps;
  const std::string images = SeparateParts(gemm, &steps), &stored = gemm.stored;
  MapProduct(stored, images, "f", config.Sizes("tile_f"), "p", config.Sizes("tile_p"), &steps);
  steps.push_back(Unroll(stored, "f.i"));
  const bool vectors = target.limits.vector_bytes >= 4 * kPixelVector && g.pixels() % kPixelVector == 0;
  steps.push_back(vectors && p.own_p == kPixelVector ? Vectorize(stored, "p.i") : Unroll(stored, "p.i"));
  FetchFactors(gemm, {p.k}, GemmUse(w)(config).threads, target.limits, p.stages, &steps);
  steps.push_back(UnrollRounds(gemm.acc, "k.i", config));
  return candidate;
}

}  // namespace

const Template& GpuConv2dGemm() {
  static const GpuTemplate t({"conv2d_gpu_gemm", 4, GemmKnobs, GemmUse, GemmBuild, {"tile_p", "tile_f"}});
  return t;
}

}  // namespace hone::op

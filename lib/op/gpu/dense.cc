#include "op/gpu/dense.h"

#include <algorithm>
#include <utility>

#include "op/gpu/template.h"
#include "op/shapes.h"
#include "op/steps.h"

namespace hone::op {
namespace {

struct GpuDenseLayer {
  int64_t rows, depth, units;  // data [rows, depth], weight [units, depth]
  explicit GpuDenseLayer(const Workload& w)
      : rows(w.inputs[0].shape[0]), depth(w.inputs[0].shape[1]), units(w.inputs[1].shape[0]) {}
};

// Registers of a thread that sums this many values, each loaded ahead: compilers unroll up to 32 iterations.
int64_t RowRegisters(int64_t depth, int64_t lanes) {
  return RoundUp(2 * std::min<int64_t>(CeilDiv(depth, lanes), 32) + 14, 8);
}

// ---- dense_small_batch.gpu

GpuUseOf SmallUse(const Workload& w) {
  return [l = GpuDenseLayer(w)](const Config& config) {
    GpuUse use;
    use.threads[0] = config.Sizes("tile_k")[1];
    use.blocks[0] = l.units, use.blocks[1] = l.rows;
    use.shared_bytes = 4 * use.threads[0];
    use.registers = RowRegisters(l.depth, use.threads[0]);
    return use;
  };
}

Result<Candidate> SmallBuild(const Workload&, const Target&, const Config& config) {
  return Candidate{{},
                   {Bind("out", "i", "blockIdx.y"), Bind("out", "j", "blockIdx.x"), ComputeAt("sums", "out", "j"),
                    SetScope("sums", "register"), Split("sums", "k", {config.Sizes("tile_k")[1]}, {"k.o", "k.i"}),
                    Reorder("sums", {"i", "j", "k.o", "k.i"}), Bind("sums", "k.i", "threadIdx.x")}};
}

// ---- dense_gpu_rows: like the above, for any depth, and with several outputs per block.

Result<Space> RowsKnobs(const Workload&, const Target&) {
  Space space("dense_gpu_rows");
  space.Add(search::Knob::Choice("lanes", {32, 64, 128, 256}));
  space.Add(search::Knob::Choice("outputs", {1, 2, 4, 8, 16}));
  space.Add(search::Knob::Choice("unroll", {1, 2, 4, 8}));
  return space;
}

GpuUseOf RowsUse(const Workload& w) {
  return [l = GpuDenseLayer(w)](const Config& config) {
    GpuUse use;
    use.threads[0] = config.Number("lanes"), use.threads[1] = config.Number("outputs");
    use.blocks[0] = CeilDiv(l.rows * l.units, use.threads[1]);
    use.shared_bytes = 4 * use.Threads();
    use.registers = RowRegisters(l.depth, use.threads[0]);
    use.reuse = static_cast<double>(config.Number("unroll"));
    return use;
  };
}

Result<Candidate> RowsBuild(const Workload&, const Target&, const Config& config) {
  return Candidate{
      {},
      {Fuse("out", {"i", "j"}, "ij"), Split("out", "ij", {config.Number("outputs")}, {"ij.b", "ij.t"}),
       Bind("out", "ij.b", "blockIdx.x"), Bind("out", "ij.t", "threadIdx.y"), ComputeAt("sums", "out", "ij.t"),
       SetScope("sums", "register"),
       Split("sums", "k", {config.Number("unroll"), config.Number("lanes")}, {"k.o", "k.u", "k.i"}),
       Reorder("sums", {"i", "j", "k.o", "k.u", "k.i"}), Unroll("sums", "k.u"), Bind("sums", "k.i", "threadIdx.x")}};
}

// ---- dense_large_batch.gpu

GpuUseOf LargeUse(const Workload& w) {
  return [l = GpuDenseLayer(w)](const Config& config) {
    const std::vector<int64_t>&x = config.Sizes("tile_x"), &y = config.Sizes("tile_y"), &k = config.Sizes("tile_k");
    GpuUse use;
    use.threads[0] = y[2], use.threads[1] = x[2];
    use.blocks[0] = CeilDiv(l.units, y[1] * y[2] * y[3]), use.blocks[1] = CeilDiv(l.rows, x[1] * x[2] * x[3]);
    use.vthreads = x[1] * y[1];
    const int64_t step = k[1] * k[2];  // two buffers per input
    const int64_t fetched = step * (x[1] * x[2] * x[3] + y[1] * y[2] * y[3]);
    use.shared_bytes = 4 * (2 * fetched);
    const int64_t own_x = x[1] * x[3], own_y = y[1] * y[3];
    // The compiler unrolls the loop over k[1] and loads ahead.
    constexpr int64_t kAhead = 32;
    use.registers = TileRegisters(own_x, own_y, k[2], CeilDiv(fetched, use.Threads()) + kAhead);
    use.reuse = TileReuse(own_x, own_y);
    return use;
  };
}

Result<Candidate> LargeBuild(const Workload& w, const Target&, const Config& config) {
  const std::vector<int64_t>& k = config.Sizes("tile_k");
  std::vector<Step> steps;
  MapProduct("out", "", "i", config.Sizes("tile_x"), "j", config.Sizes("tile_y"), &steps);
  Append(&steps,
         {ComputeAt("sums", "out", "j.t"), SetScope("sums", "register"),
          Split("sums", "k", {k[1], k[2]}, {"k.o", "k.m", "k.i"}), Reorder("sums", {"k.o", "k.m", "k.i", "i", "j"}),
          Unroll("sums", "k.i"), CacheRead("data", "shared", {"sums"}, "data.shared"),
          CacheRead("weight", "shared", {"sums"}, "weight.shared"), ComputeAt("data.shared", "sums", "k.o"),
          ComputeAt("weight.shared", "sums", "k.o")});
  const GpuUse use = LargeUse(w)(config);
  FetchTogether("data.shared", {"d0", "d1"}, use.threads, 1, &steps);
  FetchTogether("weight.shared", {"d0", "d1"}, use.threads, 1, &steps);
  for (const char* stage : {"data.shared", "weight.shared"}) AddStages(stage, 2, &steps);
  return Candidate{{}, std::move(steps)};
}

}  // namespace

std::vector<const Template*> GpuDenseTemplates(const Workload& w) {
  if (GpuDenseLayer(w).rows >= 32) return {&GpuDenseRows(), &GpuDenseLarge()};
  return {&GpuDenseRows(), &GpuDenseSmall()};
}

const Template& GpuDenseSmall() {
  static const GpuTemplate t({"dense_small_batch.gpu", 2, nullptr, SmallUse, SmallBuild, {"tile_k"}, 1});
  return t;
}
const Template& GpuDenseRows() {
  static const GpuTemplate t({"dense_gpu_rows", 2, RowsKnobs, RowsUse, RowsBuild});
  return t;
}
const Template& GpuDenseLarge() {
  static const GpuTemplate t({"dense_large_batch.gpu", 3, nullptr, LargeUse, LargeBuild, {"tile_y", "tile_x"}});
  return t;
}

}  // namespace hone::op

#include "op/gpu/matmul.h"

#include <utility>

#include "op/defined_operator.h"
#include "op/gpu/template.h"
#include "op/shapes.h"

namespace hone::op {
namespace {

struct Products {
  int64_t batch, rows, depth, columns;
  explicit Products(const Workload& w)
      : batch(w.inputs[0].shape[0]),
        rows(w.inputs[0].shape[1]),
        depth(w.inputs[0].shape[2]),
        columns(w.inputs[1].shape[2]) {}
};

GpuUseOf MatmulUse(const Workload& w) {
  return [p = Products(w)](const Config& config) {
    const std::vector<int64_t>&y = config.Sizes("tile_y"), &x = config.Sizes("tile_x");
    GpuUse use;
    use.threads[0] = x[1], use.threads[1] = y[1];
    use.blocks[0] = CeilDiv(p.columns, x[1] * x[2]), use.blocks[1] = CeilDiv(p.rows, y[1] * y[2]);
    use.blocks[2] = p.batch;
    use.shared_bytes = 4 * config.Sizes("tile_k")[1] * (y[1] * y[2] + x[1] * x[2]);
    constexpr int64_t kAhead = 16;  // values loaded ahead
    use.registers = TileRegisters(y[2], x[2], 4, kAhead);
    use.reuse = TileReuse(y[2], x[2]);
    return use;
  };
}

Result<Candidate> MatmulBuild(const Workload& w, const Target&, const Config& config) {
  const std::vector<int64_t>&y = config.Sizes("tile_y"), &x = config.Sizes("tile_x");
  std::vector<Step> steps = {CacheWrite("out", "register", "acc"),
                             Split("out", "i", {y[1], y[2]}, {"i.b", "i.t", "i.i"}),
                             Split("out", "j", {x[1], x[2]}, {"j.b", "j.t", "j.i"}),
                             Reorder("out", {"b", "i.b", "j.b", "i.t", "j.t", "i.i", "j.i"}),
                             Bind("out", "b", "blockIdx.z"),
                             Bind("out", "i.b", "blockIdx.y"),
                             Bind("out", "j.b", "blockIdx.x"),
                             Bind("out", "i.t", "threadIdx.y"),
                             Bind("out", "j.t", "threadIdx.x"),
                             ComputeAt("acc", "out", "j.t"),
                             Split("acc", "k", {config.Sizes("tile_k")[1]}, {"k.o", "k.i"}),
                             Reorder("acc", {"k.o", "k.i", "b", "i", "j"}),
                             CacheRead("data", "shared", {"acc"}, "data.shared"),
                             CacheRead("data1", "shared", {"acc"}, "data1.shared"),
                             ComputeAt("data.shared", "acc", "k.o"),
                             ComputeAt("data1.shared", "acc", "k.o")};
  const GpuUse use = MatmulUse(w)(config);
  for (const char* stage : {"data.shared", "data1.shared"}) {
    FetchTogether(stage, {"d0", "d1", "d2"}, use.threads, 1, &steps);
  }
  AddUnrollNotes("acc", "k.o", config, &steps);
  return Candidate{{"batches", {}}, std::move(steps)};
}

bool HasBatches(const Workload& w) {
  const bool batches = w.inputs[0].shape.size() == 3 && w.inputs[1].shape.size() == 3;
  return batches && w.inputs[0].shape[0] == w.inputs[1].shape[0];
}

}  // namespace

Result<Computation> ComputeGpuBatchMatmul(const Workload& w, const Target&, const Algorithm& algorithm) {
  if (!HasBatches(w)) return NotComputedBy(algorithm, w);
  const Products p(w);
  const Tensor data = te::Placeholder("data", {p.batch, p.rows, p.depth});
  const Tensor data1 = te::Placeholder("data1", {p.batch, p.depth, p.columns});
  const ir::IterVar k = te::ReduceAxis(p.depth, "k");
  const Tensor out = te::Compute("out", {p.batch, p.rows, p.columns}, {"b", "i", "j"}, [&](const Vars& x) {
    return te::Sum(data(x[0], x[1], k.var) * data1(x[0], k.var, x[2]), {k});
  });
  return Computation{{data, data1}, {out}};
}

const Template& GpuBatchMatmul() {
  static const GpuTemplate t({"batch_matmul.cuda", 2, nullptr, MatmulUse, MatmulBuild, {"tile_x", "tile_y"}, 1});
  return t;
}

bool GpuBatchMatmulApplies(const Workload& w, const Target& target) {
  if (!HasBatches(w)) return false;
  const Result<Space> space = GpuBatchMatmul().MakeSpace(w, target);
  Rng rng(1);
  return space.ok() && space->SampleLegal(rng).has_value();
}

}  // namespace hone::op

// The rules for GPUs: where they apply, that all their points are legal kernels, and that these need no more than the
// closed form says. tests/agree checks their values.
#include <fmt/format.h>

#include "common/expect.h"
#include "ir/device_kernels.h"
#include "lower/lower.h"
#include "schedule/schedule.h"
#include "sketch/gpu_rows.h"
#include "sketch/gpu_stages.h"
#include "unit/sketch/dags.h"

namespace hone::sketch {
namespace {

using Vars = std::vector<ir::Var>;
using te::Tensor;

Target Gpu(const std::string& more = "") { return Must(Target::Parse("cuda -arch=sm_80 -multiprocessors=108" + more)); }

Dag Doubled(const std::vector<int64_t>& shape) {
  const Tensor data = te::Placeholder("data", shape);
  std::vector<std::string> axes;
  for (size_t i = 0; i < shape.size(); ++i) axes.push_back(fmt::format("a{}", i));
  return {data, te::Compute("out", shape, axes, [&](const Vars& x) {
            const ir::Expr value = data(std::vector<ir::Expr>(x.begin(), x.end()));
            return value + value;
          })};
}

std::vector<Tensor> ArgsOf(const Dag& dag) {
  std::vector<Tensor> args;
  for (const Tensor& t : te::TopologicalOrder({dag.out})) {
    if (t.node()->kind == te::TensorKind::kPlaceholder) args.push_back(t);
  }
  args.push_back(dag.out);
  return args;
}

// Each legal point lowers to kernels that keep to the limits and to the closed form. Returns the number of points.
int CheckPoints(const Sketch& sketch, const Dag& dag, const Target& target) {
  EXPECT_EQ(SketchText(Must(ParseSketch(SketchText(sketch), "again"))), SketchText(sketch));
  const search::Space space = SpaceOf(sketch);
  int legal = 0;
  for (uint64_t i = 0; i < uint64_t(space.size()); ++i) {
    const Config config = space.At(i);
    if (space.Reject(config)) continue;
    ++legal;
    SCOPED_TRACE(fmt::format("{} for {}", config.Text(), fmt::join(dag.data.shape(), ",")));
    schedule::Schedule schedule = Must(schedule::Schedule::Create({dag.out}));
    Must(schedule.ApplyAll(Must(StepsOf(sketch, config))));
    const ir::Function f = Must(lower::Lower(schedule, ArgsOf(dag), {.name = "f", .gpu = true, .verify = true}));
    const search::GpuUse use = sketch.use(config);
    const ir::DeviceProgram program = Must(ir::SplitKernels(f));
    for (const ir::DeviceKernel& kernel : program.kernels) {
      EXPECT_LE(kernel.block[0] * kernel.block[1] * kernel.block[2], use.Threads());
      EXPECT_LE(kernel.grid[0] * kernel.grid[1] * kernel.grid[2], use.Blocks());
      EXPECT_LE(kernel.shared_bytes, use.shared_bytes + 16 * 4) << "buffers start at multiples of 16 bytes";
      EXPECT_LE(kernel.shared_bytes, target.limits.shared_bytes_per_block + 16 * 4);
    }
    EXPECT_TRUE(std::isfinite(sketch.cost(config).front()));
  }
  EXPECT_GT(legal, 0);
  return legal;
}

TEST(GpuSketches, EachPointIsALegalKernel) {
  for (const Target& target : {Gpu(), Gpu(" -threads=64 -block=64x64x64 -shared=1024 -warp=16")}) {
    for (const Dag& dag : {Softmax(3, 5), Softmax(1, 1), Softmax(12, 197), Softmax(2, 70, 35), Softmax(1, 300, 3)}) {
      CheckPoints(*GpuRowBlocks(dag.out, target), dag, target);
      CheckPoints(GpuStageNests(dag.out, target), dag, target);
    }
    for (const Dag& dag : {Doubled({3, 5}), Doubled({2, 7, 64}), Doubled({1})}) {
      EXPECT_FALSE(GpuRowBlocks(dag.out, target).has_value()) << "no reduction";
      CheckPoints(GpuStageNests(dag.out, target), dag, target);
    }
  }
}

TEST(GpuSketches, DecisionsAreThoseThatAComputationHas) {
  const auto names = [](const Sketch& sketch) {
    std::string all;
    for (const search::Knob& knob : sketch.decisions) all += (all.empty() ? "" : " ") + knob.name();
    return all;
  };
  EXPECT_EQ(names(GpuStageNests(Doubled({3, 64}).out, Gpu())), "threads vector");
  EXPECT_EQ(names(GpuStageNests(Doubled({3, 5}).out, Gpu())), "threads") << "no whole vectors";
  EXPECT_EQ(names(GpuStageNests(Softmax(3, 512).out, Gpu())), "threads vector lanes elements");
  EXPECT_EQ(names(GpuStageNests(Softmax(3, 48).out, Gpu())), "threads vector elements") << "short reductions";
  EXPECT_EQ(names(*GpuRowBlocks(Softmax(3, 512).out, Gpu())), "lanes rows elements");
}

// A stored row must fit into shared memory.
TEST(GpuSketches, SharedMemoryIsALimit) {
  const Sketch sketch = *GpuRowBlocks(Softmax(4, 30000).out, Gpu(" -shared=49152"));
  const search::Space space = SpaceOf(sketch);
  EXPECT_EQ(Must(BestByEstimate(sketch, space)).Word("elements"), "again");
  Config config = space.At(0);
  for (KnobValue& value : config.values) {
    if (value.name == "elements") value.words = {"stored"};
    if (value.name == "lanes") value.numbers = {32};
    if (value.name == "rows") value.numbers = {1};
  }
  EXPECT_THAT(space.Reject(config).value_or(""), HasSubstr("device: shared_memory: 120"));
}

TEST(GpuSketches, TheEstimateKnowsGpus) {
  const auto best = [](const Sketch& sketch) { return Must(BestByEstimate(sketch, SpaceOf(sketch))); };
  EXPECT_EQ(best(GpuStageNests(Doubled({64, 4096, 16}).out, Gpu())).Number("vector"), 4);
  EXPECT_EQ(best(GpuStageNests(Softmax(4, 10000).out, Gpu())).Number("lanes"), 32) << "four threads would be too few";
  EXPECT_GE(best(*GpuRowBlocks(Softmax(4, 10000).out, Gpu())).Number("lanes"), 128);
  EXPECT_LE(best(*GpuRowBlocks(Softmax(100000, 16).out, Gpu())).Number("lanes"), 16);
}

}  // namespace
}  // namespace hone::sketch

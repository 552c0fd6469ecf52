// The rules for GPUs: where they apply, that all their points are legal kernels, and that these need no more than the
// closed form says. tests/agree checks their values.
#include <fmt/format.h>

#include <set>
#include <utility>

#include "common/expect.h"
#include "ir/device_kernels.h"
#include "lower/lower.h"
#include "schedule/schedule.h"
#include "sketch/gpu_rows.h"
#include "sketch/gpu_stages.h"
#include "sketch/gpu_sums.h"
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

// The point lowers to kernels that keep to the limits and to the closed form.
void CheckPoint(const Sketch& sketch, const Config& config, const Dag& dag, const Target& target) {
  SCOPED_TRACE(
      fmt::format("{} for {} to {}", config.Text(), fmt::join(dag.data.shape(), ","), fmt::join(dag.out.shape(), ",")));
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

void CheckAll(const Sketch& sketch, const Dag& dag, const Target& target) {
  EXPECT_EQ(SketchText(Must(ParseSketch(SketchText(sketch), "again"))), SketchText(sketch));
  const search::Space space = SpaceOf(sketch);
  int legal = 0;
  for (uint64_t i = 0; i < uint64_t(space.size()); ++i) {
    const Config config = space.At(i);
    if (space.Reject(config)) continue;
    ++legal;
    CheckPoint(sketch, config, dag, target);
  }
  EXPECT_GT(legal, 0);
}

TEST(GpuSketches, EachPointIsALegalKernel) {
  for (const Target& target : {Gpu(), Gpu(" -threads=64 -block=64x64x64 -shared=1024 -warp=16")}) {
    for (const Dag& dag : {Softmax(3, 5), Softmax(1, 1), Softmax(12, 197), Softmax(2, 70, 35), Softmax(1, 300, 3)}) {
      CheckAll(*GpuRowBlocks(dag.out, target), dag, target);
      CheckAll(GpuStageNests(dag.out, target), dag, target);
    }
    for (const Dag& dag : {Doubled({3, 5}), Doubled({2, 7, 64}), Doubled({1})}) {
      EXPECT_FALSE(GpuRowBlocks(dag.out, target).has_value()) << "no reduction";
      CheckAll(GpuStageNests(dag.out, target), dag, target);
    }
  }
}

// out[b, i, j] = 2 * the sum over k of a[b, i, k] * b[b, k, j].
Dag Products(int64_t batch, int64_t rows, int64_t depth, int64_t columns) {
  const Tensor a = te::Placeholder("a", {batch, rows, depth}), b = te::Placeholder("b", {batch, depth, columns});
  const ir::IterVar k = te::ReduceAxis(depth, "k");
  const Tensor sum = te::Compute("sum", {batch, rows, columns}, {"b", "i", "j"}, [&](const Vars& x) {
    return te::Sum(a(x[0], x[1], k.var) * b(x[0], k.var, x[2]), {k});
  });
  return {a, te::Compute("out", {batch, rows, columns}, {"b", "i", "j"},
                         [&](const Vars& x) { return sum(x[0], x[1], x[2]) + sum(x[0], x[1], x[2]); })};
}

// A 3 x 3 window over [channels, size, size] with a border of zeros.
Dag Convolution(int64_t channels, int64_t filters, int64_t size, int64_t stride) {
  const Tensor data = te::Placeholder("data", {channels, size, size});
  const Tensor weight = te::Placeholder("weight", {filters, channels, 3, 3});
  const Tensor pad = te::Compute("pad", {channels, size + 2, size + 2}, {"c", "h", "w"}, [&](const Vars& x) {
    const ir::Expr inside = x[1] >= 1 && x[1] < ir::Expr(size + 1) && x[2] >= 1 && x[2] < ir::Expr(size + 1);
    return te::IfThenElse(inside, data(x[0], x[1] - 1, x[2] - 1), ir::Imm(DType::Float(32), 0));
  });
  const ir::IterVar c = te::ReduceAxis(channels, "rc"), u = te::ReduceAxis(3, "ry"), v = te::ReduceAxis(3, "rx");
  const int64_t out = (size - 1) / stride + 1;
  return {data, te::Compute("out", {filters, out, out}, {"f", "y", "x"}, [&](const Vars& x) {
            return te::Sum(pad(c.var, x[1] * stride + u.var, x[2] * stride + v.var) * weight(x[0], c.var, u.var, v.var),
                           {c, u, v});
          })};
}

TEST(GpuSketches, PointsOfSumsAreLegalKernels) {
  for (const Target& target : {Gpu(), Gpu(" -threads=64 -block=64x64x64 -shared=4096 -warp=16")}) {
    for (const Dag& dag : {Products(1, 33, 7, 65), Products(3, 64, 48, 32), Products(2, 1, 5, 100),
                           Products(1, 17, 1, 3), Convolution(8, 16, 14, 1), Convolution(3, 5, 13, 2),
                           Convolution(1, 7, 5, 1), Products(1, 20, 256, 24), Convolution(16, 8, 6, 1)}) {
      const Sketch sketch = *GpuSumTiles(dag.out, {}, target);
      EXPECT_EQ(SketchText(Must(ParseSketch(SketchText(sketch), "again"))), SketchText(sketch));
      const search::Space space = SpaceOf(sketch);
      Rng rng(1);
      CheckPoint(sketch, Must(BestByEstimate(sketch, space)), dag, target);
      for (int i = 0; i < 30; ++i) {
        const auto index = space.SampleLegal(rng);
        ASSERT_TRUE(index.has_value());
        CheckPoint(sketch, space.At(*index), dag, target);
      }
    }
  }
}

// Cores leave out illegal combinations only, and drawing reaches each value that some legal point has.
TEST(GpuSketches, DrawingReachesAllLegalValuesOfSums) {
  for (const Dag& dag : {Products(2, 40, 256, 48), Convolution(64, 24, 14, 1)}) {
    Sketch sketch = *GpuSumTiles(dag.out, {}, Gpu());
    const search::Space space = SpaceOf(sketch);
    const std::vector<Core> cores = std::exchange(sketch.cores, {});
    const search::Space uniform = SpaceOf(sketch);
    std::vector<std::set<size_t>> drawn(space.knobs().size()), legal = drawn;
    Rng rng(3);
    const auto collect = [&](const search::Space& from, int points, std::vector<std::set<size_t>>* values) {
      for (int i = 0; i < points; ++i) {
        const auto index = from.SampleLegal(rng);
        ASSERT_TRUE(index.has_value());
        from.VisitDigits(*index, [&](size_t k, size_t digit) { (*values)[k].insert(digit); });
      }
    };
    collect(space, 20000, &drawn);
    collect(uniform, 2000, &legal);
    for (int i = 0; i < 2000; ++i) {
      const Config config = uniform.At(*uniform.SampleLegal(rng));
      for (const Core& core : cores) {
        for (const search::Rule& rule : core.rules)
          EXPECT_EQ(rule.reject(config), search::Rejection()) << config.Text();
      }
    }
    for (size_t k = 0; k < drawn.size(); ++k) {
      for (const size_t digit : legal[k]) {
        EXPECT_EQ(drawn[k].count(digit), 1U) << space.knobs()[k].name() << "=" << space.knobs()[k].value(digit).Text();
      }
    }
  }
}

TEST(GpuSketches, ConstantsAreStoredAsThreadsReadThem) {
  const Dag dag = Convolution(8, 16, 14, 1);
  EXPECT_THAT(SketchText(*GpuSumTiles(dag.out, {"weight"}, Gpu())),
              HasSubstr("relayout weight d1 d2 d3 d0 -> weight.packed\n"));
  EXPECT_THAT(SketchText(*GpuSumTiles(dag.out, {}, Gpu())), Not(HasSubstr("relayout")));
  const Dag product = Products(1, 20, 256, 24);
  EXPECT_THAT(SketchText(*GpuSumTiles(product.out, {"b"}, Gpu())), Not(HasSubstr("relayout")))
      << "columns are neighbours already";
}

TEST(GpuSketches, ALongReductionMayHaveParts) {
  const Dag dag = Products(1, 20, 256, 24);
  const search::Space space = SpaceOf(*GpuSumTiles(dag.out, {}, Gpu()));
  Rng rng(1);
  Config config = space.At(*space.SampleLegal(rng));
  const auto set = [&](const std::string& reduce, int64_t step, int64_t part) {
    for (KnobValue& value : config.values) {
      if (value.name == "reduce") value.words = {reduce};
      if (value.name == "step") value.numbers = {step};
      if (value.name == "part") value.numbers = {part};
    }
    const auto why = space.Reject(config).value_or("");
    return why.starts_with("parts: ") ? why : "";
  };
  EXPECT_EQ(set("whole", 4, 1), "");
  EXPECT_EQ(set("whole", 4, 2), "parts: without parts there is no size of them");
  EXPECT_EQ(set("parts", 8, 16), "") << "two";
  EXPECT_EQ(set("parts", 8, 4), "") << "eight";
  EXPECT_EQ(set("parts", 1, 4), "parts: 4 of 256 are a part") << "64 parts are too many";
  EXPECT_EQ(set("parts", 32, 16), "parts: 512 of 256 are a part");
  const search::Space large = SpaceOf(*GpuSumTiles(Products(1, 8192, 128, 8192).out, {}, Gpu()));
  config = large.At(*large.SampleLegal(rng));
  EXPECT_EQ(config.Word("reduce"), "whole") << "the sums of two parts need 512 MB";
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
  const auto sums = [&](const Dag& dag, const Target& target) { return *GpuSumTiles(dag.out, {}, target); };
  const std::string tile = "threads_x own_x spread_x threads_y own_y spread_y ";
  EXPECT_EQ(names(sums(Products(1, 64, 64, 64), Gpu())), tile + "step unroll stages copy") << "a short reduction";
  EXPECT_EQ(names(sums(Products(1, 64, 128, 64), Gpu())), tile + "step unroll stages copy reduce part");
  const auto stages = [&](const Target& target) {
    for (const search::Knob& knob : sums(Products(1, 64, 64, 64), target).decisions) {
      if (knob.name() == "stages") return knob.size();
    }
    return size_t{0};
  };
  EXPECT_EQ(stages(Gpu()), 4U);
  EXPECT_EQ(stages(Must(Target::Parse("opencl"))), 2U) << "no asynchronous copies";
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
  const Config plain = best(GpuStageNests(Doubled({64, 4096, 16}).out, Gpu()));
  EXPECT_EQ(plain.Number("threads"), 128) << "nothing promises twice the speed of what was measured";
  EXPECT_EQ(plain.Number("vector"), 1);
  EXPECT_EQ(best(GpuStageNests(Softmax(4, 10000).out, Gpu())).Number("lanes"), 32) << "four threads would be too few";
  EXPECT_GE(best(*GpuRowBlocks(Softmax(4, 10000).out, Gpu())).Number("lanes"), 128);
  EXPECT_LE(best(*GpuRowBlocks(Softmax(100000, 16).out, Gpu())).Number("lanes"), 16);
}

}  // namespace
}  // namespace hone::sketch

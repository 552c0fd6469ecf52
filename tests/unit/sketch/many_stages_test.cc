// Long computations: no rule may take time or code that grows with the number of paths through them.
#include "base/rng.h"
#include "common/expect.h"
#include "lower/lower.h"
#include "schedule/schedule.h"
#include "sketch/sketch.h"

namespace hone::sketch {
namespace {

const char* const kTargets[] = {"cpu -threads=2 -vector=32 -features=avx2,fma", "opencl -threads=256"};

// Each stage reads the one before twice, so a value has 2^stages paths to the input. `reduce`: ends with a softmax's
// stages.
te::Tensor Doubling(const te::Tensor& data, int stages, bool reduce) {
  const std::vector<int64_t>& shape = data.shape();
  te::Tensor t = data;
  for (int i = 0; i < stages; ++i) {
    const std::string name = !reduce && i + 1 == stages ? "out" : "t" + std::to_string(i);
    t = te::Compute(name, shape, {"i", "j"}, [&](const std::vector<ir::Var>& x) {
      return t(x[0], x[1]) * t(x[0], x[1]) + ir::Imm(t.type(), 0.5);
    });
  }
  if (!reduce) return t;
  const te::Tensor last = t;
  const ir::IterVar k = te::ReduceAxis(24, "k");
  const te::Tensor sum =
      te::Compute("sum", {4}, {"i"}, [&](const std::vector<ir::Var>& x) { return te::Sum(last(x[0], k.var), {k}); });
  return te::Compute("out", shape, {"i", "j"},
                     [&](const std::vector<ir::Var>& x) { return last(x[0], x[1]) / sum(x[0]); });
}

class ManyStages : public testing::TestWithParam<const char*> {};

TEST_P(ManyStages, EachRuleMakesPointsThatCanBeLowered) {
  const Target target = *Target::Parse(GetParam());
  for (const bool reduce : {false, true}) {
    for (const int stages : {3, 40, 200}) {
      const te::Tensor data = te::Placeholder("data", {4, 24}), out = Doubling(data, stages, reduce);
      const std::vector<Sketch> sketches = MakeSketches({out}, {}, target);
      ASSERT_FALSE(sketches.empty());
      for (const Sketch& sketch : sketches) {
        SCOPED_TRACE(sketch.name + " of " + std::to_string(stages) + " stages");
        const search::Space space = SpaceOf(sketch);
        std::vector<Config> points = {Must(BestByEstimate(sketch, space))};
        Rng rng(1);
        for (int i = 0; i < 8; ++i) points.push_back(space.At(*space.SampleLegal(rng)));
        for (const Config& point : points) {
          schedule::Schedule schedule = Must(schedule::Schedule::Create({out}));
          Must(schedule.ApplyAll(Must(StepsOf(sketch, point))));
          Must(lower::Lower(schedule, {data, out}, {.name = "f", .gpu = target.family() == kGpuFamily}));
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ManyStages, testing::ValuesIn(kTargets));

}  // namespace
}  // namespace hone::sketch

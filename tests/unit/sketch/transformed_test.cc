// The rule `transformed`: where it applies, and that all its points are legal schedules whose sums stay in registers
// and whose transforms stay in a task's scratch.
#include "sketch/transformed.h"

#include <fmt/format.h>

#include "base/rng.h"
#include "common/expect.h"
#include "ir/printer.h"
#include "lower/lower.h"
#include "op/operator.h"
#include "schedule/schedule.h"

namespace hone::sketch {
namespace {

Target Machine(int vector_bytes, int registers, int threads) {
  Target target;
  target.vector_bytes = vector_bytes, target.vector_registers = registers, target.threads = threads;
  return target;
}

struct Definition {
  Definition(const std::string& workload, const Algorithm& algorithm, const Target& target)
      : computation(Must(op::Compute(Must(op::ParseChecked(workload)), target, algorithm))) {}
  std::optional<Sketch> Derive(const Target& target, const std::vector<std::string>& constants = {"weight"}) const {
    return TransformedTiles(computation.outputs[0], constants, target);
  }
  op::Computation computation;
};

std::vector<op::OtherAlgorithm> Others(const std::string& text, const Target& target) {
  const Workload workload = Must(op::ParseChecked(text));
  return Must(op::FindOperator(workload))->OtherAlgorithms(workload, target);
}

TEST(TransformedTiles, AppliesToSumsBetweenTransforms) {
  const Target target = Machine(64, 32, 2);
  const std::string layer = "conv2d(f32[1,64,14,14], f32[32,64,3,3], pad=1,1,1,1) + bias + relu";
  const std::string strided = "conv2d(f32[1,64,14,14], f32[32,64,3,3], stride=2x2, pad=1,1,1,1)";
  const auto applies = [&](const std::string& text, const Algorithm& algorithm) {
    return Definition(text, algorithm, target).Derive(target).has_value();
  };
  EXPECT_TRUE(applies(layer, {"winograd", {{"m", 4}, {"tiles", 16}}}));
  EXPECT_TRUE(applies("conv2d(f32[2,16,5,5], f32[16,16,1,3])", {"winograd", {{"m", 2}, {"tiles", 20}}}));
  EXPECT_FALSE(applies(layer, Algorithm())) << "a sum without transforms";
  EXPECT_TRUE(applies(strided, {"winograd", {{"m", 2}, {"tiles", 16}}}));
  EXPECT_FALSE(applies("softmax(f32[4,64])", Algorithm()));
  EXPECT_FALSE(applies("relu(f32[4,64])", Algorithm()));
}

TEST(TransformedTiles, AlgorithmsHaveNamesThatShapesShare) {
  const Target target = Machine(32, 16, 2);
  const auto names = [&](const std::string& text) {
    std::vector<std::string> names;
    for (const op::OtherAlgorithm& other : Others(text, target)) names.push_back(other.name);
    return names;
  };
  using List = std::vector<std::string>;
  EXPECT_EQ(names("conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1,1,1,1)"), (List{"m2", "m4", "m6"}));
  EXPECT_EQ(names("conv2d(f32[1,64,10,10], f32[64,64,3,3], pad=1,1,1,1)"), (List{"m2", "m4", "m5", "m6"}));
  EXPECT_EQ(names("conv2d(f32[1,64,56,56], f32[64,64,1,1])"), List());
  EXPECT_EQ(names("conv2d(f32[1,64,56,56], f32[64,1,3,3], groups=64)"), List{"lanes"});
  EXPECT_EQ(names("dense(f32[1,64], f32[64,64])"), List());
  // 49 tiles would leave one of two threads idle.
  EXPECT_EQ(Others("conv2d(f32[1,64,28,28], f32[64,64,3,3], pad=1,1,1,1)", target)[1].algorithm.Text(),
            "winograd(m=4, tiles=50)");
}

TEST(TransformedTiles, EachPointIsLegalAndStaysInRegisters) {
  const std::vector<std::string> layers = {
      "conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1,1,1,1) + bias + relu",
      "conv2d(f32[2,17,13,29], f32[67,17,3,3], pad=1,1,1,1) + bias + add + relu",
      "conv2d(f32[1,33,57,7], f32[131,33,5,5], pad=2,2,2,2)",
      "conv2d(f32[3,1,10,10], f32[13,1,3,3])",
      "conv2d(f32[1,64,17,17], f32[40,64,7,1], pad=3,0,3,0) + relu",
      "conv2d(f32[1,24,9,30], f32[1,24,1,3])",
      "conv2d(f32[1,32,29,15], f32[48,32,7,7], stride=2x2, pad=3,3,3,3) + relu",
      "conv2d(f32[1,48,24,12], f32[33,48,3,3], pad=1,1,1,1) + bias -> max_pool2d(f32[1,33,24,12], kernel=2, stride=2)",
      "conv2d(f32[1,48,28,20], f32[33,48,3,3], pad=1,1,1,1) + bias -> hard_swish(f32[1,33,28,20])",
  };
  int64_t points = 0;
  for (const std::string& layer : layers) {
    for (const Target& target : {Machine(64, 32, 2), Machine(32, 16, 3)}) {
      for (const op::OtherAlgorithm& other : Others(layer, target)) {
        const Definition definition(layer, other.algorithm, target);
        const std::vector<Sketch> sketches =
            MakeSketches(definition.computation.outputs, {"weight", "bias"}, target, other.algorithm, other.name);
        ASSERT_EQ(sketches.size(), 1U) << layer << " " << other.name;
        const Sketch& sketch = sketches[0];
        EXPECT_EQ(sketch.name, "transformed_" + other.name);
        EXPECT_EQ(SketchText(Must(ParseSketch(SketchText(sketch), "again"))), SketchText(sketch));
        const search::Space space = SpaceOf(sketch);
        Rng rng(7);
        for (int i = 0; i < 6; ++i) {
          const Config config = i == 0 ? Must(BestByEstimate(sketch, space)) : space.At(space.SampleLegal(rng).value());
          SCOPED_TRACE(layer + " " + config.Text());
          schedule::Schedule schedule = Must(schedule::Schedule::Create(definition.computation.outputs));
          Must(schedule.ApplyAll(Must(StepsOf(sketch, config))));
          const auto arguments = schedule.Arguments(definition.computation.inputs);
          const std::string text = ir::ToString(Must(lower::Lower(schedule, arguments, {.name = "f", .verify = true})));
          EXPECT_THAT(text, testing::ContainsRegex("allocate acc: f32.[0-9]+. register"));
          EXPECT_THAT(text, testing::ContainsRegex("allocate m: f32.[0-9]+. scratch"));
          EXPECT_THAT(text, testing::ContainsRegex("allocate v: f32.[0-9]+. scratch"));
          EXPECT_THAT(text, Not(HasSubstr("workspace")));
          if (layer.find("pool") != layer.npos) {
            EXPECT_THAT(text, testing::ContainsRegex("allocate tile: f32.[0-9]+. register"));
          }
          EXPECT_THAT(text, HasSubstr("weight.transformed.packed"));
          EXPECT_GE(sketch.cost(config).front(), 0);
          ++points;
        }
      }
    }
  }
  EXPECT_GT(points, 100);
}

TEST(TransformedTiles, RulesRejectWhatCannotWork) {
  const Target target = Machine(32, 16, 2);
  const Definition definition("conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1,1,1,1)",
                              {"winograd", {{"m", 4}, {"tiles", 196}}}, target);
  const Sketch sketch = *definition.Derive(target);
  const search::Space space = SpaceOf(sketch);
  const auto why = [&](const std::map<std::string, std::string>& wanted) {
    std::vector<size_t> digits(space.knobs().size());
    for (size_t k = 0; k < digits.size(); ++k) {
      const search::Knob& knob = space.knobs()[k];
      while (digits[k] + 1 < knob.size() && knob.value(digits[k]).Text() != wanted.at(knob.name())) ++digits[k];
    }
    return space.Reject(space.At(space.IndexOf(digits))).value_or("");
  };
  std::map<std::string, std::string> good = {{"rows", "5"},      {"vectors", "2"},     {"block", "14"},
                                             {"channels", "8"},  {"form", "elements"}, {"unroll", "4"},
                                             {"prefetch", "far"}};
  EXPECT_EQ(why(good), "");
  const auto with = [&](const std::string& decision, const std::string& value) {
    auto changed = good;
    changed[decision] = value;
    return why(changed);
  };
  EXPECT_EQ(with("rows", "7"), "shape: needs 17 of 16 registers");
  EXPECT_EQ(with("rows", "6"), "shape: no even part of a task's tiles");
  EXPECT_EQ(with("channels", "1"), "shape: a task's vectors of channels do not come out even");
  EXPECT_EQ(with("channels", "2"), "form: one register tile of channels a task: as `channels`");
  EXPECT_EQ(with("channels", "4"), "prefetch: the constants of a task of 4 of 8 vectors are not one stream");
  EXPECT_THAT(with("rows", "1"), StartsWith("estimate: estimated "));
  good["block"] = "196", good["rows"] = "5";
  EXPECT_THAT(why(good), StartsWith("parallel: the busiest of 2 threads would work 2.00 times the average"));
}

}  // namespace
}  // namespace hone::sketch

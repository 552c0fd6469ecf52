// The rule `windows` for convolutions whose lanes read lanes of one block (depthwise ones and small groups) and for
// pools of bytes.
#include "sketch/windows.h"

#include "base/rng.h"
#include "common/expect.h"
#include "ir/printer.h"
#include "lower/lower.h"
#include "op/operator.h"
#include "schedule/schedule.h"

namespace hone::sketch {
namespace {

constexpr char kDepthwise[] = "conv2d(f32[1,40,14,13], f32[40,1,3,3], pad=1,1,1,1, groups=40) + bias";
constexpr char kGroups[] = "conv2d(f32[1,64,14,14], f32[64,4,3,3], pad=1,1,1,1, groups=16) + bias + relu";

constexpr char kBytes[] = "conv2d(u8[1,40,14,13], i8[40,1,3,3], u8[1], pad=1,1,1,1, groups=40) + bias + requant(u8)";
const std::vector<std::string> kConstants = {"weight", "zero", "bias", "multiplier", "limits"};

Target Avx2() { return Target{.threads = 2, .vector_bytes = 32, .vector_registers = 16}; }

op::Computation Lanes(const char* workload) {
  return Must(op::Compute(Must(op::ParseChecked(workload)), Avx2(), {"lanes", {{"pad", 0}}}));
}

TEST(WindowTiles, LanesOfABlockAreMultipliedByTheirOwnWeights) {
  for (const char* workload : {kDepthwise, kGroups, kBytes}) {
    const op::Computation computation = Lanes(workload);
    const Sketch sketch = *WindowTiles(computation.outputs[0], kConstants, Avx2());
    const search::Space space = SpaceOf(sketch);
    Rng rng(3);
    for (int i = 0; i < 12; ++i) {
      const Config config = i == 0 ? Must(BestByEstimate(sketch, space)) : space.At(space.SampleLegal(rng).value());
      SCOPED_TRACE(std::string(workload) + " " + config.Text());
      schedule::Schedule schedule = Must(schedule::Schedule::Create(computation.outputs));
      Must(schedule.ApplyAll(Must(StepsOf(sketch, config))));
      const auto arguments = schedule.Arguments(computation.inputs);
      const std::string text = ir::ToString(Must(lower::Lower(schedule, arguments, {.name = "f", .verify = true})));
      EXPECT_THAT(text, testing::ContainsRegex("allocate acc: (f32|i32).[0-9]+. register"));
      EXPECT_THAT(text, HasSubstr(".packed[ramp("));
      EXPECT_THAT(text, Not(HasSubstr("workspace")));
    }
  }
}

TEST(WindowTiles, PoolsOfBytesKeepTheirTilesInRegisters) {
  const std::pair<const char*, const char*> kPools[] = {
      {"max_pool2d(i8[1,40,14,13], kernel=3x3, pad=1,1,1,1)", "allocate acc: i8.[0-9]+. register"},
      {"max_pool2d(i32[1,40,14,13], kernel=3x3)", "allocate acc: i32.[0-9]+. register"},
      {"avg_pool2d(u8[1,40,14,13], u8[1], kernel=3x3, pad=1,1,1,1)", "allocate acc: i16.[0-9]+. register"},
      {"avg_pool2d(u8[1,40,14,13], kernel=13x13, pad=6,6,6,6)", "allocate acc: i32.[0-9]+. register"}};
  for (const auto& [workload, sums] : kPools) {
    const op::Computation pool = Must(op::Compute(Must(op::ParseChecked(workload)), Avx2(), Algorithm()));
    const Sketch sketch = *WindowTiles(pool.outputs[0], {}, Avx2());
    schedule::Schedule schedule = Must(schedule::Schedule::Create(pool.outputs));
    Must(schedule.ApplyAll(Must(StepsOf(sketch, Must(BestByEstimate(sketch, SpaceOf(sketch)))))));
    const auto arguments = schedule.Arguments(pool.inputs);
    EXPECT_THAT(ir::ToString(Must(lower::Lower(schedule, arguments, {.name = "f", .verify = true}))),
                testing::ContainsRegex(sums))
        << workload;
  }
}

TEST(WindowTiles, ASumOverChannelsIsNoWindow) {
  const op::Computation direct =
      Must(op::Compute(Must(op::ParseChecked("conv2d(f32[1,16,8,8], f32[16,16,3,3])")), Avx2(), Algorithm()));
  EXPECT_FALSE(WindowTiles(direct.outputs[0], {"weight"}, Avx2()));
  EXPECT_FALSE(WindowTiles(Lanes(kDepthwise).outputs[0], {}, Avx2())) << "a weight that cannot be stored by lanes";
}

TEST(WindowTiles, RulesRejectWhatCannotWork) {
  const auto why = [](const char* workload, const std::map<std::string, std::string>& wanted) {
    const Sketch sketch = *WindowTiles(Lanes(workload).outputs[0], {"weight", "bias"}, Avx2());
    const search::Space space = SpaceOf(sketch);
    std::vector<size_t> digits(space.knobs().size());
    for (size_t k = 0; k < digits.size(); ++k) {
      const search::Knob& knob = space.knobs()[k];
      while (digits[k] + 1 < knob.size() && knob.value(digits[k]).Text() != wanted.at(knob.name())) ++digits[k];
    }
    return space.Reject(space.At(space.IndexOf(digits))).value_or("");
  };
  const auto point = [](const char* tile, const char* rows, const char* tall, const char* taps) {
    return std::map<std::string, std::string>{
        {"tile", tile}, {"rows", rows}, {"tall", tall}, {"taps", taps}, {"threads", "rows"}};
  };
  EXPECT_EQ(why(kDepthwise, point("7", "14", "1", "unrolled")), "");
  EXPECT_EQ(why(kDepthwise, point("3", "14", "2", "window")), "");
  EXPECT_EQ(why(kDepthwise, point("7", "7", "1", "window")), "border: tasks meet the border in different rows");
  EXPECT_EQ(why(kDepthwise, point("3", "14", "2", "unrolled")),
            "rows: the rows of a tile meet the border in different rounds");
  EXPECT_EQ(why(kGroups, point("7", "14", "1", "unrolled")), "registers: needs 17 of 16 registers");
}

}  // namespace
}  // namespace hone::sketch

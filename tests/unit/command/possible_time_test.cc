// Which recorded times no machine can have measured.
#include "command/pick_best/possible_time.h"

#include "common/expect.h"
#include "op/operator.h"
#include "semantics/semantics.h"

namespace hone::command {
namespace {

constexpr char kConv[] = "conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1,1,1,1)";  // 231 MFLOP

Target TargetOf(const std::string& text) { return Must(Target::Parse(text)); }

Outcome Timed(double seconds, const std::string& steps = "") {
  Outcome outcome;
  outcome.state = TrialState::kOk;
  outcome.median = seconds;
  outcome.steps = steps;
  return outcome;
}

TEST(PossibleTime, TheBoundFollowsFromTheTargetAndTheKindOfMachine) {
  const std::string x86 = "cpu -triple=x86_64-unknown-linux-gnu -cpu=";
  const auto most = [](const std::string& target) { return MostFlops(TargetOf(target), "cpu=A CPU; cores=4"); };
  EXPECT_EQ(most(x86 + "x86-64 -threads=1"), 4 * 8 * 10e9);
  EXPECT_EQ(most(x86 + "x86-64-v3 -features=avx,avx2,fma -threads=2 -vector=32"), 2 * 8 * 8 * 10e9);
  EXPECT_EQ(most(x86 + "x86-64-v4 -features=avx2,avx512f,avx512vl -threads=2 -vector=32"), 2 * 16 * 8 * 10e9);
  EXPECT_EQ(most(x86 + "sapphirerapids -threads=1"), 16 * 8 * 10e9) << "a CPU that may have more than is listed";
  EXPECT_EQ(most("cpu -triple=aarch64-unknown-linux-gnu -cpu=generic -threads=4"), 4 * 16 * 8 * 10e9);
  EXPECT_EQ(MostFlops(TargetOf("cuda -arch=sm_90 -multiprocessors=132"), "cuda=A GPU; id=1; driver=2"),
            512 * 256 * 10e9);
  // Nothing is known of these.
  EXPECT_EQ(most("cuda -arch=sm_90"), 0) << "measured by another kind of machine";
  EXPECT_EQ(MostFlops(TargetOf("opencl"), "opencl=A GPU; id=1; driver=2"), 0);
  EXPECT_EQ(MostFlops(TargetOf(x86 + "x86-64"), "fake; seed=1"), 0);
  EXPECT_EQ(MostFlops(TargetOf(x86 + "x86-64"), ""), 0);
}

TEST(PossibleTime, ATimeIsAPositiveFiniteNumber) {
  const Workload conv = Must(op::ParseChecked(kConv));
  for (const double seconds : {0.0, -1.0, std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    EXPECT_TRUE(WhyImpossible(&conv, TargetOf("cpu"), 0, Timed(seconds))) << seconds;
    EXPECT_TRUE(WhyImpossible(nullptr, TargetOf("cpu"), 0, Timed(seconds))) << seconds;
  }
  EXPECT_FALSE(WhyImpossible(&conv, TargetOf("cpu"), 0, Timed(1e-9))) << "without a bound";
  EXPECT_FALSE(WhyImpossible(nullptr, TargetOf("cpu"), 1e9, Timed(1e-9))) << "of an unknown workload";
}

// Winograd does fewer multiplications, so it may take less time.
TEST(PossibleTime, TheBoundCountsWhatTheAlgorithmComputes) {
  const Workload conv = Must(op::ParseChecked(kConv));
  const Target target = TargetOf("cpu -triple=x86_64-unknown-linux-gnu -cpu=x86-64-v3 -features=avx2,fma -vector=32");
  const Candidate winograd = Must(Candidate::Parse("algorithm winograd(m=4, tiles=196)\n"));
  const double share = Must(op::Compute(conv, target, winograd.algorithm)).arithmetic;
  ASSERT_LT(share, 0.5);
  constexpr double kMost = 1e12;
  const double limit = semantics::Flop(conv) / (1.1 * kMost);  // seconds
  const auto why = [&](double seconds, const std::string& steps) {
    return WhyImpossible(&conv, target, kMost, Timed(seconds, steps));
  };
  // Without an algorithm in its steps, the template of the config decides: this config has none, so it is `direct`.
  EXPECT_FALSE(why(1.01 * limit, ""));
  EXPECT_TRUE(why(0.99 * limit, ""));
  EXPECT_FALSE(why(1.01 * share * limit, winograd.Text()));
  const auto text = why(0.99 * share * limit, winograd.Text());
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, HasSubstr("the machine does at most 1.00 TFLOP/s"));
  // This Hone does not know what an algorithm of another one computes.
  EXPECT_FALSE(why(1e-9, "algorithm of_tomorrow(x=1)\n"));
}

}  // namespace
}  // namespace hone::command

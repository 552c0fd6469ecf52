// Measuring on devices: OpenCL in a child (PoCL's CPU suffices).
#include "base/statistics.h"
#include "common/inner_process.h"
#include "common/kernel_layers.h"
#include "measure/child_measurer.h"
#include "measure/machine.h"
#include "unit/measure/device_case.h"

namespace hone::measure {
namespace {

// out = data * 2 * weight, the weight doubled beforehand.
constexpr char kSource[] = R"(
__kernel void pack2(__global const float* weight, __global float* packed) {
  packed[get_global_id(0)] = 2.0f * weight[get_global_id(0)];
}
__kernel void right3(__global const float* data, __global const float* packed, __global float* out) {
  out[get_global_id(0)] = data[get_global_id(0)] * packed[get_global_id(0)];
}
__kernel void wrong3(__global const float* data, __global const float* packed, __global float* out) {
  out[get_global_id(0)] = data[get_global_id(0)] * packed[get_global_id(0)] + (get_global_id(0) == 5 ? 0.5f : 0.0f);
}
__kernel void forgetful3(__global const float* data, __global const float* packed, __global float* out) {
  if (get_global_id(0) < 63) out[get_global_id(0)] = data[get_global_id(0)] * packed[get_global_id(0)];
}
__kernel void behind3(__global const float* data, __global const float* packed, __global float* out) {
  out[get_global_id(0)] = data[get_global_id(0)] * packed[get_global_id(0)];
  if (get_global_id(0) == 63) out[64] = 1.0f;
}
)";

class OpenClDeviceTest : public DeviceTest {
 protected:
  void SetUp() override {
    Target target{.kind = &OpenClKind()};
    const auto device = DescribeMachine(target);
    if (device.status().kind() == StatusKind::kNotFound) GTEST_SKIP() << device.status().message();
    ASSERT_TRUE(device.ok()) << device.status().message();
    DeviceTest::SetUp();
    setup_.target = target.Text();
    measurer_ = std::make_unique<ChildMeasurer>(HONE_TEST_WORKER, setup_);
  }

  Outcome Measure(const std::string& symbol, double incumbent = 0, const std::string& source = kSource) {
    return Must(measurer_->Measure(Kernel(symbol, "opencl-c", source), incumbent));
  }

  std::unique_ptr<ChildMeasurer> measurer_;
};

TEST_F(OpenClDeviceTest, VerdictsOfCandidates) {
  const Outcome right = Measure("right3");
  ASSERT_EQ(right.state, TrialState::kOk) << right.error_text;
  EXPECT_GE(right.samples.size(), static_cast<size_t>(setup_.protocol.min_samples));
  for (const double sample : right.samples) EXPECT_GT(sample, 0);
  EXPECT_EQ(right.median, Median(right.samples));

  for (auto [symbol, text] : {std::pair("wrong3", "out[5] is "),
                              {"forgetful3", "out[63] is nan"},
                              {"behind3", "it wrote behind its output"}}) {
    const pid_t before = measurer_->child_pid();
    const Outcome wrong = Measure(symbol);
    EXPECT_EQ(wrong.error, TrialError::kWrong) << symbol;
    EXPECT_THAT(wrong.error_text, HasSubstr(text)) << symbol;
    EXPECT_EQ(Measure("right3").state, TrialState::kOk);
    EXPECT_NE(measurer_->child_pid(), before) << "it may have written anywhere";
  }
  const pid_t child = measurer_->child_pid();
  const Outcome broken = Measure("right3", 0, "__kernel void right3(");
  EXPECT_EQ(broken.error, TrialError::kCompile) << broken.error_text;
  EXPECT_EQ(measurer_->child_pid(), child) << "nothing ran";

  const Outcome slow = Measure("right3", 1e-12);
  EXPECT_EQ(slow.state, TrialState::kPruned);
  EXPECT_EQ(slow.samples.size(), 2U);
}

TEST_F(OpenClDeviceTest, FinalistsAreTimedInTurns) {
  const auto samples = Must(
      measurer_->MeasureInterleaved({Kernel("right3", "opencl-c", kSource), Kernel("wrong3", "opencl-c", kSource)}, 5));
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[0].seconds.size(), 5U);
  EXPECT_EQ(samples[1].error, TrialError::kWrong);
  EXPECT_TRUE(samples[1].seconds.empty());
}

TEST_F(OpenClDeviceTest, TheChildIsFenced) {
  ASSERT_EQ(Measure("right3").state, TrialState::kOk);
  const std::string process = "/proc/" + InnerProcess(measurer_->child_pid());
  const std::string limits = *ReadFile(process + "/limits");
  EXPECT_THAT(limits, HasSubstr("Max core file size        0                    0 "));
  if (!HasSeccomp()) GTEST_SKIP() << kNoSeccomp;
  const std::string status = *ReadFile(process + "/status");
  EXPECT_THAT(status, HasSubstr("\nSeccomp:\t2\n"));
}

// On machines with several, the drivers may show a child another one.
TEST_F(OpenClDeviceTest, AnotherDeviceThanTheParentsIsRefused) {
  for (const bool other : {false, true}) {
    ASSERT_TRUE(NameDevice(Must(Target::Parse(setup_.target)), &setup_).ok());
    if (other) setup_.device += "x";
    ChildMeasurer measurer(HONE_TEST_WORKER, setup_);
    const auto outcome = measurer.Measure(Kernel("right3", "opencl-c", kSource), 0);
    EXPECT_EQ(outcome.ok(), !other) << outcome.status().message();
    if (other) {
      EXPECT_THAT(outcome.status().message(), HasSubstr("a child finds another device (opencl="));
    }
  }
}

TEST(OpenDeviceTest, AHostIsNoDevice) { EXPECT_EQ(OpenDevice(Target()).status().kind(), StatusKind::kUnsupported); }

}  // namespace
}  // namespace hone::measure

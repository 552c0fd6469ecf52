// Devices that are lost, broken, gone or full while children measure on them: CUDA, on a driver that fails on demand.
#include "measure/child_measurer.h"
#include "target/target.h"
#include "unit/measure/twice_on_fake_cuda.h"

namespace hone::measure {
namespace {

class DeviceLoss : public ::testing::Test {
 protected:
  DeviceLoss() : dir_(*TempDir::Create()), setup_(TwiceTask(dir_)) {
    setup_.target = Target::Parse("cuda -arch=sm_90")->Text();
    setup_.protocol.cold_bytes = 4096;
  }
  // The fates of successive children; later ones work.
  void Lives(const std::string& lines) {
    ASSERT_TRUE(WriteFileAtomic(dir_.Join("lives"), lines).ok());
    setenv("HONE_FAKE_CUDA_LIVES", dir_.Join("lives").c_str(), 1);
    measurer_ = std::make_unique<ChildMeasurer>(HONE_TEST_CUDA_WORKER, setup_);
  }
  Result<Outcome> Measure() { return measurer_->Measure(TwiceKernel(dir_, "right3", "cubin", "fake cubin"), 0); }
  void ExpectWell() {
    const auto outcome = Must(Measure());
    EXPECT_EQ(outcome.state, TrialState::kOk) << outcome.error_text;
  }

  TempDir dir_;
  TaskSetup setup_;
  std::unique_ptr<ChildMeasurer> measurer_;
};

TEST_F(DeviceLoss, TheChildIsReplacedAndMeasuringGoesOn) {
  struct Case {
    const char* life;
    TrialError error;  // who is at fault
    const char* words;
  };
  // The first calls pack and verify, the others time.
  const Case cases[] = {{"cuEventSynchronize 700 0 1\nwell\n", TrialError::kCrash, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                        {"cuEventSynchronize 719 2 1\nwell\n", TrialError::kCrash, "CUDA_ERROR_LAUNCH_FAILED"},
                        {"cuEventSynchronize 214 2 1\nwell\n", TrialError::kDevice, "CUDA_ERROR_ECC_UNCORRECTABLE"},
                        {"cuLaunchKernel 46 1 1\nwell\n", TrialError::kDevice, "CUDA_ERROR_DEVICE_UNAVAILABLE"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.life);
    Lives(c.life);
    const auto lost = Must(Measure());
    EXPECT_EQ(lost.state, TrialState::kFailed);
    EXPECT_EQ(lost.error, c.error);
    EXPECT_THAT(lost.error_text, HasSubstr(c.words));
    EXPECT_TRUE(lost.samples.empty());
    ExpectWell();
    const pid_t child = measurer_->child_pid();
    ExpectWell();
    EXPECT_EQ(measurer_->child_pid(), child) << "one is enough";
  }
}

// Once for each reason: a cap may last for the whole run.
TEST_F(DeviceLoss, TheLogSaysWhyTheDeviceIsSlow) {
  Lives("throttled 4 3 0\nwell\n");
  testing::internal::CaptureStderr();
  const auto outcome = Must(Measure());
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(outcome.retaken, 3) << outcome.error_text;
  EXPECT_EQ(log, "the device is slowed down: power cap (SM clock 1200 of 1980 MHz); runs are repeated\n");
}

TEST_F(DeviceLoss, AWrongCandidateCostsTheChild) {
  Lives("well\nwell\nwell\n");
  BuiltKernel wrong = TwiceKernel(dir_, "right3", "cubin", "fake cubin");
  const BuiltKernel right = wrong;
  wrong.kernel.launches[0].args = {0, 0, 2};
  ExpectWell();
  const pid_t first = measurer_->child_pid();
  EXPECT_EQ(Must(measurer_->Measure(wrong, 0)).error, TrialError::kWrong);
  ExpectWell();
  const pid_t second = measurer_->child_pid();
  EXPECT_NE(second, first);
  const std::vector<Series> series = Must(measurer_->MeasureInterleaved({right, wrong, right}, 5));
  EXPECT_EQ(series[1].error, TrialError::kWrong);
  EXPECT_EQ(series[2].seconds.size(), 5U);
  ExpectWell();
  EXPECT_NE(measurer_->child_pid(), second);
}

TEST_F(DeviceLoss, ADeviceThatIsGoneStopsTheRunWithWhatToDo) {
  Lives("cuEventSynchronize 719 2 1\ncuDeviceGetCount 100 0 1\nwell\n");
  EXPECT_EQ(Must(Measure()).error, TrialError::kCrash);
  const Status gone = Measure().status();
  EXPECT_EQ(gone.kind(), StatusKind::kIo);
  for (const char* words : {"the device does not open again", "the same command goes on where this one stops",
                            "no CUDA device", "CUDA_ERROR_NO_DEVICE"}) {
    EXPECT_THAT(gone.message(), HasSubstr(words)) << words << " in ";
  }
  EXPECT_THAT(gone.message(), Not(HasSubstr("\n")));
  ExpectWell();  // once it is back
}

TEST_F(DeviceLoss, ADeviceThatNeverWasThereIsNotGone) {
  Lives("cuDeviceGetCount 100 0 1\n");
  const Status none = Measure().status();
  EXPECT_EQ(none.kind(), StatusKind::kIo);
  EXPECT_THAT(none.message(), HasSubstr("no CUDA device"));
  EXPECT_THAT(none.message(), Not(HasSubstr("again")));
}

TEST_F(DeviceLoss, MemoryThatRunsOutCostsTheCandidateAlone) {
  Lives("cuMemAlloc_v2 2 6 0\n");  // six for the operands
  const auto full = Must(Measure());
  EXPECT_EQ(full.error, TrialError::kDevice);
  EXPECT_THAT(full.error_text, HasSubstr("Fake GPU: out of memory: 4352 bytes asked for"));
  const pid_t child = measurer_->child_pid();
  ExpectWell();
  EXPECT_EQ(measurer_->child_pid(), child);
  Lives("cuMemAlloc_v2 2 2 0\n");
  const Status none = Measure().status();
  EXPECT_EQ(none.kind(), StatusKind::kIo) << "the task itself does not fit";
  EXPECT_THAT(none.message(), HasSubstr("Fake GPU: out of memory"));
}

TEST_F(DeviceLoss, WhatDevicesWorkedIsSummedOverChildren) {
  Lives("cuEventSynchronize 719 2 1\nwell\n");
  EXPECT_FALSE(measurer_->busy_seconds().has_value()) << "nothing is known yet";
  ASSERT_TRUE(Measure().ok());
  const double before = measurer_->busy_seconds().value_or(0);
  EXPECT_DOUBLE_EQ(before, 2 * 2.5e-3) << "the third never came back";
  const auto outcome = Must(Measure());
  const double work = *measurer_->busy_seconds() - before;
  EXPECT_NEAR(work, 2.5e-3 * static_cast<double>(outcome.samples.size()), 1e-9);
}

}  // namespace
}  // namespace hone::measure

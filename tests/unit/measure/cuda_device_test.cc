// Measuring on devices: CUDA on a driver that fails on demand.
#include "runtime/cuda/cuda_device.h"

#include "measure/device_runner.h"
#include "unit/device/fake_cuda_control.h"
#include "unit/device/fake_nvml_control.h"
#include "unit/measure/device_case.h"

namespace hone::measure {
namespace {

int launches = 0;  // of kernels whose name begins with "late"
void (*spoil)() = nullptr;

// As LaunchTwice, plus kernels that fail from the third run on.
void OnLaunch(const char* symbol, void* const* addresses, const unsigned* grid, const unsigned* block) {
  LaunchTwice(symbol, addresses, grid, block);
  const std::string name = symbol;
  if (name == "wild3") spoil();
  if (name.rfind("late", 0) != 0 || ++launches <= 2) return;
  float* out = static_cast<float*>(addresses[2]);
  if (name == "late_wrong3") out[7] += 1;
  if (name == "late_behind3") out[kCount + 5] = 1;
  if (name == "late_wild3") spoil();
}

class CudaDeviceTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    fake_ = FakeCudaControl::Load(FAKE_CUDA);
    spoil = fake_.spoil;
    Start(OnLaunch);
  }
  // From the start, with a new runner.
  void Start(FakeLaunch on_launch) {
    runner_.reset();
    fake_.reset(on_launch);
    Create();
  }
  void Create() { runner_ = Must(DeviceRunner::Create(setup_, Must(runtime::OpenCudaDevice({FAKE_CUDA})))); }
  void TearDown() override {
    runner_.reset();
    EXPECT_STREQ(fake_.complaint(), "");
    EXPECT_EQ(fake_.alive(), 0) << "something was not released";
  }
  Outcome Measure(const std::string& symbol = "right3") {
    launches = 0;
    return runner_->Measure(Kernel(symbol, "cubin", "fake cubin"), 0);
  }

  FakeCudaControl fake_;
  std::unique_ptr<DeviceRunner> runner_;
};

TEST_F(CudaDeviceTest, TimesAreTheEvents) {
  const Outcome outcome = Measure();
  ASSERT_EQ(outcome.state, TrialState::kOk) << outcome.error_text;
  for (const double sample : outcome.samples) EXPECT_DOUBLE_EQ(sample, 2.5e-3);
  EXPECT_EQ(outcome.median, outcome.samples[0]);
}

// There are no guard pages: the output and the bytes behind it are checked once, after all timed runs.
TEST_F(CudaDeviceTest, WhatTimedRunsLeaveIsLookedAt) {
  Outcome outcome = Measure("late_wrong3");
  EXPECT_EQ(outcome.error, TrialError::kWrong);
  EXPECT_THAT(outcome.error_text, HasSubstr("right at first, then not: out[7] is "));
  EXPECT_TRUE(outcome.samples.empty());
  outcome = Measure("late_behind3");
  EXPECT_EQ(outcome.error, TrialError::kWrong);
  EXPECT_EQ(outcome.error_text, "right at first, then not: it wrote behind its output");
  EXPECT_EQ(outcome.median, 0);
  EXPECT_EQ(Measure().state, TrialState::kOk) << "the next one, on the same buffers";
}

// The inputs are on the device, and so are the copies of the constants.
TEST_F(CudaDeviceTest, AWrongCandidateThatWritesEverywhereSpoilsNoOther) {
  for (const char* symbol : {"wild3", "late_wild3"}) {
    EXPECT_EQ(Measure(symbol).error, TrialError::kWrong) << symbol;
    EXPECT_EQ(Measure().state, TrialState::kOk) << symbol;
  }
}

TEST_F(CudaDeviceTest, AFinalistThatGoesWrongCostsItsOwnSamplesOnly) {
  for (const std::string symbol : {"late_wrong3", "late_behind3", "wild3", "late_wild3"}) {
    launches = 0;
    const auto kernel = [&](const std::string& name) { return Kernel(name, "cubin", "fake cubin"); };
    const std::vector<BuiltKernel> kernels = {kernel("right3"), kernel(symbol), kernel("right3")};
    const std::vector<Series> series = runner_->MeasureInterleaved(kernels, 5);
    ASSERT_EQ(series.size(), 3U);
    EXPECT_EQ(series[0].seconds.size(), 5U) << symbol;
    EXPECT_EQ(series[1].error, TrialError::kWrong) << symbol;
    if (symbol != "wild3") {
      EXPECT_THAT(series[1].error_text, HasSubstr("right at first, then not: "));
    }
    EXPECT_TRUE(series[1].seconds.empty()) << symbol;
    EXPECT_EQ(series[2].seconds.size(), 5U) << symbol;
  }
}

// Not the device's: that would stop the run without a verdict, and the same candidate would come again.
TEST_F(CudaDeviceTest, ALaunchThatIsRefusedIsTheCandidates) {
  for (const int error : {1, 701}) {
    for (const int launches : {0, 1, 2, 5}) {  // that packs, verifies, is timed
      fake_.fail("cuLaunchKernel", error, launches, /*sticky=*/0);
      const Outcome outcome = Measure();
      EXPECT_EQ(outcome.error, TrialError::kCompile) << outcome.error_text;
      EXPECT_THAT(outcome.error_text, HasSubstr("cannot be started"));
      EXPECT_FALSE(runner_->lost());
      EXPECT_EQ(Measure().state, TrialState::kOk);
    }
  }
}

TEST_F(CudaDeviceTest, AFaultOfTheLastLookIsTheCandidates) {
  ASSERT_EQ(Measure().state, TrialState::kOk);
  fake_.fail("cuMemcpyDtoHAsync_v2", 700, 1, /*sticky=*/1);
  const Outcome outcome = Measure();
  EXPECT_EQ(outcome.error, TrialError::kCrash) << outcome.error_text;
  EXPECT_TRUE(runner_->lost());
}

TEST_F(CudaDeviceTest, AFinalistThatLosesTheDeviceInTheLastLookIsACrash) {
  fake_.fail("cuMemcpyDtoHAsync_v2", 700, 2, /*sticky=*/1);  // two were verified
  const BuiltKernel kernel = Kernel("right3", "cubin", "fake cubin");
  const std::vector<Series> series = runner_->MeasureInterleaved({kernel, kernel}, 3);
  ASSERT_EQ(series.size(), 2U);
  EXPECT_EQ(series[0].error, TrialError::kCrash) << series[0].error_text;
  EXPECT_TRUE(series[0].seconds.empty());
  EXPECT_EQ(series[1].error, TrialError::kNone) << "not looked at, and no fault of its own";
  EXPECT_TRUE(series[1].seconds.empty());
  EXPECT_TRUE(runner_->lost());
}

TEST_F(CudaDeviceTest, CopiesOfConstantsOutliveACandidateThatDoesNotLoad) {
  ASSERT_EQ(Measure().state, TrialState::kOk);
  ASSERT_EQ(Measure().state, TrialState::kOk);
  EXPECT_EQ(runner_->Measure(Kernel("right3", "cubin", "no cubin"), 0).error, TrialError::kCompile);
  const int before = fake_.calls("cuMemAlloc_v2");
  ASSERT_EQ(Measure().state, TrialState::kOk);
  EXPECT_EQ(fake_.calls("cuMemAlloc_v2"), before);
}

TEST_F(CudaDeviceTest, FasterThanThePeakIsWrong) {
  setup_.flop = 1e12;  // 400 TFLOP/s in 2.5 ms, where f32 reaches 31
  Start(OnLaunch);
  BuiltKernel kernel = Kernel("right3", "cubin", "fake cubin");
  const Outcome outcome = runner_->Measure(kernel, 0);
  EXPECT_EQ(outcome.error, TrialError::kWrong);
  EXPECT_THAT(outcome.error_text, HasSubstr("faster than the roofline allows"));
  kernel.arithmetic = 1.0 / 16;  // on tensor cores
  EXPECT_EQ(runner_->Measure(kernel, 0).state, TrialState::kOk);
}

std::vector<void*>* packed = nullptr;  // the constants of each run, in order

void KeepPacked(const char* symbol, void* const* addresses, const unsigned* grid, const unsigned* block) {
  LaunchTwice(symbol, addresses, grid, block);
  if (std::string(symbol) == "right3") packed->push_back(addresses[1]);
}

// 16 copies; each timed run uses the least recently used one. The untimed runs use another one, and so does the run
// that is verified.
TEST_F(CudaDeviceTest, EveryRunTakesTheNextCopyOfItsConstants) {
  setup_.protocol.number = 4;
  setup_.protocol.repeat = 3;
  setup_.protocol.min_repeat_ms = 0;
  std::vector<void*> seen;
  packed = &seen;
  Start(KeepPacked);
  fake_.elapse(0.2f);
  EXPECT_EQ(runner_->Measure(Kernel("right3", "cubin", "fake cubin"), 0).state, TrialState::kOk);
  ASSERT_EQ(seen.size(), 1U + 3 * 4 + 2 * 2) << "one to verify; two before each block but the first";
  std::erase(seen, std::vector(seen)[0]);
  for (size_t i = 0; i < seen.size(); ++i) {
    for (size_t k = i + 1; k < std::min(i + 16, seen.size()); ++k) EXPECT_NE(seen[i], seen[k]) << i << ", " << k;
    if (i + 16 < seen.size()) {
      EXPECT_EQ(seen[i], seen[i + 16]) << i;
    }
  }
}

// A sample is two milliseconds of runs, in graphs that are created once: as many runs as let all samples begin at the
// same few of the 16 copies.
TEST_F(CudaDeviceTest, SamplesOfShortRunsAreTheSameFewGraphs) {
  struct Case {
    float milliseconds;  // of the first run
    size_t warm, runs;   // before a sample, and of a sample
    size_t copies;       // that they use in turn
    int graphs;
  };
  // Few runs are no graph, neither before a sample nor in it.
  for (const Case& c :
       {Case{0.27f, 1, 8, 16, 2}, Case{0.7f, 0, 3, 15, 0}, Case{0.05f, 2, 48, 16, 1}, Case{0.009f, 12, 224, 16, 2}}) {
    SCOPED_TRACE(c.milliseconds);
    std::vector<void*> seen;
    packed = &seen;
    Start(KeepPacked);
    fake_.elapse(c.milliseconds);
    const Outcome outcome = runner_->Measure(Kernel("right3", "cubin", "fake cubin"), 0);
    ASSERT_EQ(outcome.state, TrialState::kOk) << outcome.error_text;
    const size_t samples = outcome.samples.size();
    EXPECT_GE(samples, 5U);
    EXPECT_DOUBLE_EQ(outcome.median, 1e-3 * static_cast<double>(c.milliseconds) / static_cast<double>(c.runs));
    EXPECT_EQ(fake_.calls("cuGraphInstantiateWithFlags"), c.graphs);
    EXPECT_EQ(fake_.calls("cuGraphLaunch"), static_cast<int>(samples) * ((c.runs > 4) + (c.warm > 4)));
    ASSERT_EQ(seen.size(), 2 + (c.warm + c.runs) * samples) << "one to verify, one to see how long it takes";
    std::erase(seen, std::vector(seen)[0]);
    seen.erase(seen.begin());
    ASSERT_EQ(seen.size(), c.runs * samples);
    EXPECT_EQ(std::set<void*>(seen.begin(), seen.end()).size(), c.copies);
    for (size_t i = 0; i + c.copies < seen.size(); ++i) EXPECT_EQ(seen[i], seen[i + c.copies]) << i;
  }
}

// For 256 bytes each: at least twice the cache, but at most 1024 copies. Larger constants get at most 64 copies beyond
// the cache.
TEST_F(CudaDeviceTest, CopiesOfConstantsAreTwiceTheCache) {
  struct Case {
    const char* cache;
    double cold_bytes;
    int copies;
  };
  for (const Case& c : {Case{"16384", 4096, 128}, Case{"1048576", 4096, 1024}, Case{"16384", 48e6, 128},
                        Case{"1048576", 48e6, 1024}, Case{"1024", 48e6, 64}, Case{"0", 48e6, 64}}) {
    setup_.protocol.cold_bytes = c.cold_bytes;
    setenv("FAKE_CUDA_L2", c.cache, 1);
    Start(OnLaunch);
    unsetenv("FAKE_CUDA_L2");
    const int before = fake_.calls("cuMemAlloc_v2");
    ASSERT_EQ(Measure().state, TrialState::kOk);
    EXPECT_EQ(fake_.calls("cuMemAlloc_v2") - before, 2) << "the copies and the anchor's memory";
    EXPECT_EQ(fake_.largest(), 256U * static_cast<size_t>(1 + c.copies)) << "the first one is not timed";
  }
}

// 150 ms of a kernel that takes 3 us.
TEST_F(CudaDeviceTest, ManyRunsOfABlockAreGraphsOfAThousand) {
  setup_.protocol.number = 50'000;
  setup_.protocol.repeat = 3;
  setup_.protocol.min_repeat_ms = 0;
  std::vector<void*> seen;
  packed = &seen;
  Start(KeepPacked);
  fake_.elapse(150);
  const Outcome outcome = runner_->Measure(Kernel("right3", "cubin", "fake cubin"), 0);
  ASSERT_EQ(outcome.state, TrialState::kOk) << outcome.error_text;
  EXPECT_EQ(fake_.largest_graph(), 1024);
  EXPECT_EQ(fake_.calls("cuGraphInstantiateWithFlags"), 3) << "of 1024 runs, of the rest, and of those before";
  EXPECT_EQ(fake_.calls("cuGraphLaunch"), 3 * 49 + 2);
  for (const double sample : outcome.samples) EXPECT_NEAR(sample, 0.15 / 50'000, 1e-12);
  std::erase(seen, std::vector(seen)[0]);
  ASSERT_EQ(seen.size(), 3U * 50'000);
  for (size_t i = 0; i + 16 < seen.size(); ++i) ASSERT_EQ(seen[i], seen[i + 16]) << i;
  EXPECT_EQ(std::set<void*>(seen.begin(), seen.end()).size(), 16U);
}

// Every copy has the constants, also if their number is no power of two.
TEST_F(CudaDeviceTest, EveryCopyIsFilled) {
  setup_.protocol.cold_bytes = 11 * 256;
  std::vector<void*> seen;
  packed = &seen;
  Start(KeepPacked);
  fake_.elapse(0.1f);
  ASSERT_EQ(runner_->Measure(Kernel("right3", "cubin", "fake cubin"), 0).state, TrialState::kOk);
  const std::set<void*> copies(seen.begin(), seen.end());
  EXPECT_EQ(copies.size(), 12U);
  for (const void* copy : copies) EXPECT_EQ(std::memcmp(copy, seen[0], kCount * sizeof(float)), 0);
}

// Each call costs a few microseconds. Launches that are recorded into graphs are counted apart: at least one for each
// copy of the constants, since a graph holds its arguments.
TEST_F(CudaDeviceTest, ACandidateTakesFewCallsOfTheDriver) {
  struct Case {
    float milliseconds;  // of a run
    const char* cache;   // sets the number of copies
    int calls, captured;
  };
  for (const Case& c : {Case{2.5f, "1024", 60, 0}, Case{0.7f, "1024", 60, 0}, Case{0.27f, "1024", 70, 16},
                        Case{0.05f, "1024", 70, 48}, Case{0.003f, "1048576", 95, 4 * 256 + 34}}) {
    SCOPED_TRACE(c.milliseconds);
    setenv("FAKE_CUDA_L2", c.cache, 1);
    Start(OnLaunch);
    unsetenv("FAKE_CUDA_L2");
    fake_.elapse(c.milliseconds);
    for (int i = 0; i < 2; ++i) ASSERT_EQ(Measure().state, TrialState::kOk);  // they set up what later ones use
    const int calls = fake_.calls(nullptr), captured = fake_.captured();
    const Outcome outcome = Measure();
    ASSERT_EQ(outcome.state, TrialState::kOk);
    EXPECT_EQ(outcome.samples.size(), 5U);
    EXPECT_EQ(fake_.captured() - captured, c.captured);
    EXPECT_LE(fake_.calls(nullptr) - calls - c.captured, c.calls);
  }
}

// Throttled clocks: by the management library.
class ThrottledDeviceTest : public CudaDeviceTest {
 protected:
  void SetUp() override {
    nvml_ = FakeNvmlControl::Load(FAKE_NVML);
    nvml_.know("GPU-01112131-4151-6171-8191-a1b1c1d1e1f1");
    CudaDeviceTest::SetUp();
  }
  void TearDown() override {
    CudaDeviceTest::TearDown();
    nvml_.reset();
  }

  FakeNvmlControl nvml_;
};

TEST_F(ThrottledDeviceTest, ASampleUnderAPowerCapIsRepeated) {
  nvml_.throttle(0x4, 3);
  const Outcome outcome = Measure();
  ASSERT_EQ(outcome.state, TrialState::kOk) << outcome.error_text;
  EXPECT_EQ(outcome.samples.size(), 5U);
  EXPECT_EQ(outcome.retaken, 3);
  EXPECT_EQ(outcome.disturbed, 0);
  EXPECT_EQ(nvml_.asked(), 5 + 3) << "after each run";
  EXPECT_EQ(runner_->TakeSlowed(), "power cap (SM clock 1200 of 1980 MHz)");
  EXPECT_EQ(runner_->TakeSlowed(), "");
}

TEST_F(ThrottledDeviceTest, IfTheCapStaysTheTrialIsMarkedAndNotPruned) {
  setup_.protocol.patience_seconds = 0.01;
  Start(OnLaunch);
  nvml_.throttle(0x4, 1'000'000);
  launches = 0;
  const Outcome outcome = runner_->Measure(Kernel("right3", "cubin", "fake cubin"), 1e-9);
  ASSERT_EQ(outcome.state, TrialState::kOk) << outcome.error_text;
  EXPECT_EQ(outcome.disturbed, static_cast<int64_t>(outcome.samples.size()));
  EXPECT_GT(outcome.retaken, 0);
  const BuiltKernel kernel = Kernel("right3", "cubin", "fake cubin");
  EXPECT_EQ(runner_->MeasureInterleaved({kernel}, 3)[0].disturbed, 3) << "finalists too";
}

TEST_F(ThrottledDeviceTest, WithoutPatienceNothingIsAsked) {
  setup_.protocol.patience_seconds = 0;
  Start(OnLaunch);
  nvml_.throttle(0x4, 1'000'000);
  const Outcome outcome = Measure();
  EXPECT_EQ(outcome.disturbed + outcome.retaken, 0);
  EXPECT_EQ(nvml_.asked(), 0);
}

// Without that library the anchor decides: the first kernel that was right, from the next candidate on.
TEST_F(CudaDeviceTest, TheAnchorRunsAgainEverySixteenCandidates) {
  int anchors = 0;
  for (int i = 0; i < 34; ++i) {
    const int before = fake_.calls("cuEventElapsedTime");
    const Outcome outcome = Measure();
    ASSERT_EQ(outcome.state, TrialState::kOk);
    const int more = fake_.calls("cuEventElapsedTime") - before - static_cast<int>(outcome.samples.size());
    EXPECT_EQ(more, i == 1 || i == 17 || i == 33) << i;
    anchors += more;
  }
  EXPECT_EQ(anchors, 3);
}

TEST_F(CudaDeviceTest, ASlowAnchorDisturbsTheSamplesBesideIt) {
  setup_.protocol.patience_seconds = 0.01;
  Start(OnLaunch);
  for (int i = 0; i < 17; ++i) ASSERT_EQ(Measure().disturbed, 0) << i;
  fake_.elapse(2.7f);  // 7 % slower
  for (int i = 17; i < 33; ++i) ASSERT_EQ(Measure().disturbed, 0) << i;
  fake_.elapse(5);
  for (int i = 0; i < 2; ++i) {
    const Outcome slow = Measure();
    ASSERT_EQ(slow.state, TrialState::kOk) << slow.error_text;
    EXPECT_EQ(slow.disturbed, static_cast<int64_t>(slow.samples.size())) << "until the anchor is fast again";
  }
  EXPECT_THAT(runner_->TakeSlowed(), HasSubstr("the anchor"));
  fake_.elapse(2.5f);
  EXPECT_EQ(Measure().disturbed, 0);
}

// The anchor must not repair what a candidate wrote wrong.
TEST_F(CudaDeviceTest, TheAnchorHasItsOwnOutput) {
  setup_.protocol.patience_seconds = 0.01;
  Start(OnLaunch);
  for (int i = 0; i < 17; ++i) ASSERT_EQ(Measure().state, TrialState::kOk);
  fake_.elapse(5);  // then the anchor runs after each sample, also after the last
  EXPECT_EQ(Measure("late_wrong3").error, TrialError::kWrong);
}

}  // namespace
}  // namespace hone::measure

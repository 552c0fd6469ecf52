// The state of a GPU as NVIDIA's management library reports it: with a stand-in for the library (fake_nvml.c) and for
// the driver (fake_cuda.cc).
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/expect.h"
#include "fake/fake_clock.h"
#include "fake_cuda_control.h"
#include "fake_nvml_control.h"
#include "runtime/cuda/cuda_device.h"

namespace hone::runtime {
namespace {

constexpr char kUuid[] = "GPU-01112131-4151-6171-8191-a1b1c1d1e1f1";

class CudaWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    FakeCudaControl::Load(FAKE_CUDA).reset(nullptr);
    nvml_ = FakeNvmlControl::Load(FAKE_NVML);
    nvml_.know(kUuid);
    nvml_.process(static_cast<unsigned>(getpid()));
  }
  void Open() { device_ = Must(OpenCudaDevice(FAKE_CUDA, &clock_)); }
  // The process used the GPU until now. The library is asked only now and then.
  void Use(pid_t pid, unsigned percent) {
    clock_.Advance(0.1);
    nvml_.use(static_cast<unsigned>(pid), static_cast<unsigned long long>(1e6 * clock_.WallSeconds()), percent);
  }

  FakeNvmlControl nvml_;
  FakeClock clock_;
  std::unique_ptr<Device> device_;
};

TEST_F(CudaWatchTest, TheDescriptionNamesReleaseAndAChangedPowerLimit) {
  DeviceInfo info = Must(DescribeCudaDevice(FAKE_CUDA));
  EXPECT_EQ(info.release, "550.54.15");
  EXPECT_EQ(info.power_watts, 0) << "the usual limit";
  nvml_.power(450);
  EXPECT_EQ(Must(DescribeCudaDevice(FAKE_CUDA)).power_watts, 450);
  nvml_.reset();
  info = Must(DescribeCudaDevice(FAKE_CUDA));
  EXPECT_EQ(info.release, "") << "a GPU that the library does not know";
  EXPECT_EQ(info.power_watts, 0);
}

TEST_F(CudaWatchTest, ThrottledClocksSlowTheDevice) {
  Open();
  EXPECT_EQ(device_->Slowed(), "") << "idle";
  nvml_.throttle(0x12, 1);
  EXPECT_EQ(device_->Slowed(), "") << "clocks that somebody set";
  for (auto [reasons, text] : {std::pair(0x04, "power cap (SM clock 1200 of 1980 MHz)"),
                               {0x44, "power cap, temperature (hardware) (SM clock 1200 of 1980 MHz)"},
                               {0x08, "hardware slowdown (SM clock 1200 of 1980 MHz)"},
                               {0x20, "temperature (software) (SM clock 1200 of 1980 MHz)"},
                               {0x80, "power brake (SM clock 1200 of 1980 MHz)"}}) {
    nvml_.throttle(static_cast<unsigned long long>(reasons), 1);
    EXPECT_EQ(device_->Slowed(), text);
    EXPECT_EQ(device_->Slowed(), "");
  }
}

TEST_F(CudaWatchTest, AnotherProgramSlowsTheDevice) {
  Open();
  Use(getpid(), 100);
  EXPECT_EQ(device_->Slowed(), "") << "this process";
  Use(1, 0);
  EXPECT_EQ(device_->Slowed(), "") << "an idle one";
  Use(1, 80);
  EXPECT_EQ(device_->Slowed(), "another program (process 1, 80 % of the time)");
  clock_.Advance(0.5);
  EXPECT_EQ(device_->Slowed(), "another program (process 1, 80 % of the time)");
  clock_.Advance(1);
  EXPECT_EQ(device_->Slowed(), "") << "it is gone";
}

// Other jobs of Hone also have contexts on the GPU, and used it in their turn.
TEST_F(CudaWatchTest, ProgramsOfHoneTakeTurns) {
  Open();
  int ready[2], end[2];
  ASSERT_TRUE(pipe(ready) == 0 && pipe(end) == 0);
  const pid_t child = fork();
  if (child == 0) {
    close(end[1]);
    char byte = 0;
    prctl(PR_SET_NAME, "hone-worker");
    _exit(write(ready[1], &byte, 1) == 1 && read(end[0], &byte, 1) == 0 ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  Use(child, 80);
  EXPECT_EQ(device_->Slowed(), "");
  for (const int fd : {ready[0], ready[1], end[0], end[1]}) close(fd);
  waitpid(child, nullptr, 0);
}

// The library numbers processes as the host does.
TEST_F(CudaWatchTest, InAContainerProcessesAreNotJudged) {
  nvml_.reset();
  nvml_.know(kUuid);
  nvml_.process(4711);
  Open();
  Use(4711, 80);
  EXPECT_EQ(device_->Slowed(), "") << "it may be this process";
}

}  // namespace
}  // namespace hone::runtime

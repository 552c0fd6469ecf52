// The locks of devices: a process that sees the same GPU under another number waits, one that sees another GPU does
// not. The driver is unit/device/fake_cuda.cc, which counts devices as CUDA_VISIBLE_DEVICES says. Its GPUs, and so the
// locks, are private to this process.
#include <fmt/format.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/file.h"
#include "common/expect.h"
#include "measure/machine.h"
#include "session/machine.h"
#include "unit/device/fake_cuda_control.h"

namespace hone::session {
namespace {

class SessionMachineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    FakeCudaControl::Load(FAKE_CUDA).reset(nullptr);
    setenv("FAKE_CUDA_MACHINE", std::to_string(getpid()).c_str(), 1);
    cuda_ = Must(Target::Parse("cuda -arch=sm_90"));
  }
  void TearDown() override {
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("FAKE_CUDA_MACHINE");
    for (const std::string& name : names_) {
      for (const char* ending : {"", ".gate"}) (void)Remove(MachineLock::DefaultPath(name) + ending).ok();
    }
  }

  void See(const std::string& devices) {
    if (devices.empty()) {
      unsetenv("CUDA_VISIBLE_DEVICES");
    } else {
      setenv("CUDA_VISIBLE_DEVICES", devices.c_str(), 1);
    }
  }

  std::string LockName(const std::string& devices) {
    See(devices);
    const auto device = Must(measure::DescribeMachine(cuda_));
    names_.insert(device.lock_name);
    return device.lock_name;
  }

  MachineLock Open(const std::string& devices) {
    LockName(devices);
    return Must(OpenMachine(cuda_));
  }

  Target cuda_;
  std::set<std::string> names_;
};

TEST_F(SessionMachineTest, AGpuIsNamedByItselfAndNotByItsNumber) {
  const std::string machine = fmt::format("GPU-{:08x}-4151-6171-8191-a1b1c1d1e1f", getpid());
  EXPECT_EQ(LockName(""), machine + "1");
  EXPECT_EQ(LockName("0"), LockName(""));
  EXPECT_EQ(LockName("1"), LockName("1,0"));
  EXPECT_EQ(LockName("1"), machine + "2");
}

TEST_F(SessionMachineTest, TheSameGpuUnderAnotherNumberIsTaken) {
  MachineLock first = Open("1"), second = Open("1,0");
  ASSERT_TRUE(first.LockExclusive(0).ok());
  EXPECT_EQ(second.LockExclusive(0).kind(), StatusKind::kTimeout);
  EXPECT_EQ(second.LockShared(0).kind(), StatusKind::kTimeout);
  first.Unlock();
  EXPECT_TRUE(second.LockExclusive(0).ok());
}

TEST_F(SessionMachineTest, AnotherGpuUnderTheSameNumberIsFree) {
  MachineLock first = Open("0"), second = Open("1");
  ASSERT_TRUE(first.LockExclusive(0).ok());
  EXPECT_TRUE(second.LockExclusive(0).ok());
}

// Only names: everybody shares the host's lock, and others may be timing under it.
TEST_F(SessionMachineTest, AGpuIsNotItsHost) {
  EXPECT_EQ(*MachineName(Target()), "cpu");
  const std::string gpu = LockName("0");
  EXPECT_EQ(*MachineName(cuda_), gpu);
  EXPECT_NE(MachineLock::DefaultPath(gpu), MachineLock::DefaultPath("cpu"));
}

TEST_F(SessionMachineTest, AGpuThatDoesNotAnswerNowIsNoOther) {
  const std::string name = LockName("0");
  for (const char* function : {"cuDeviceGet", "cuDeviceGetUuid"}) {
    FakeCudaControl::Load(FAKE_CUDA).fail(function, 46, 0, /*sticky=*/0);
    EXPECT_EQ(OpenMachine(cuda_).status().kind(), StatusKind::kIo) << function;
    EXPECT_TRUE(OpenMachine(cuda_).ok());
    EXPECT_EQ(*MachineName(cuda_), name);
  }
}

// Nothing can be timed then, and opening the device says why: the lock itself must not fail.
TEST_F(SessionMachineTest, WithoutADeviceThereIsALockAllTheSame) {
  See(",");
  EXPECT_EQ(measure::DescribeMachine(cuda_).status().kind(), StatusKind::kNotFound);
  EXPECT_EQ(*MachineName(cuda_), "cuda");
}

TEST(HostFingerprint, SaysAllThatTimesDependOn) {
  const CpuInfo cpu = Must(DetectCpu());
  EXPECT_EQ(*HostFingerprint(3, 4), fmt::format("cpu={}; cores={}; governor={}; kernel={}; codegen=3; protocol=4",
                                               cpu.model, cpu.logical_cores, cpu.governor, KernelRelease()));
}

}  // namespace
}  // namespace hone::session

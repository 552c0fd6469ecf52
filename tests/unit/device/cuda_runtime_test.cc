// The CUDA runtime on a driver without a device (fake_cuda.cc), which checks its arguments and fails on demand.
#include <set>
#include <thread>

#include "base/text.h"
#include "common/expect.h"
#include "fake/fake_clock.h"
#include "fake_cuda_control.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/driver_functions.h"

namespace hone::runtime {
namespace {

std::vector<std::string>* launched = nullptr;

// add3: out = a + b, elementwise over 4 x grid floats; copy2: out = a.
void OnLaunch(const char* symbol, void* const* addresses, const unsigned grid[3], const unsigned block[3]) {
  launched->push_back(std::string(symbol) + " " + std::to_string(grid[0]) + "x" + std::to_string(block[0]));
  const float* a = static_cast<const float*>(addresses[0]);
  const bool add = std::string(symbol) == "add3";
  float* out = static_cast<float*>(addresses[add ? 2 : 1]);
  for (unsigned i = 0; i < 4 * grid[0]; ++i) out[i] = a[i] + (add ? static_cast<const float*>(addresses[1])[i] : 0.0f);
}

Artifact Example() {
  Artifact artifact{.format = "cubin", .bytes = "fake cubin"};
  const DType f32 = DType::Float(32);
  EntryPoint entry{"sum", {{"a", f32, 8, false}, {"b", f32, 8, false}, {"out", f32, 8, true}}, 0, 0};
  entry.workspace_buffers = {32};
  entry.launches.push_back({"add3", {2, 1, 1}, {64, 1, 1}, 0, 0, {0, 1, -1}});
  entry.launches.push_back({"copy2", {2, 1, 1}, {32, 2, 1}, 65536, 65536, {-1, 2}});
  artifact.entries = {entry};
  return artifact;
}

class CudaRuntime : public testing::Test {
 protected:
  void SetUp() override {
    fake_ = FakeCudaControl::Load(FAKE_CUDA);
    fake_.reset(OnLaunch);
    launched_.clear();
    launched = &launched_;
  }
  void TearDown() override {
    out_.reset();
    b_.reset();
    a_.reset();
    module_.reset();
    device_.reset();
    EXPECT_STREQ(fake_.complaint(), "");
    EXPECT_EQ(fake_.alive(), 0) << "something was not released";
  }

  void Open() { device_ = Must(OpenCudaDevice({FAKE_CUDA})); }
  void Load() {
    Open();
    module_ = Must(device_->Load(Example()));
    const std::vector<float> a = {1, 2, 3, 4, 5, 6, 7, 8}, b = {10, 20, 30, 40, 50, 60, 70, 80};
    a_ = *device_->Allocate(32);
    b_ = *device_->Allocate(32);
    out_ = *device_->Allocate(32);
    ASSERT_TRUE(device_->CopyIn(a_.get(), a.data(), 32).ok());
    ASSERT_TRUE(device_->CopyIn(b_.get(), b.data(), 32).ok());
  }
  DeviceArguments Arguments() { return {a_.get(), b_.get(), out_.get()}; }
  std::vector<float> Out() {
    std::vector<float> values(8);
    EXPECT_TRUE(device_->CopyOut(values.data(), *out_, 32).ok());
    return values;
  }

  FakeCudaControl fake_;
  std::vector<std::string> launched_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<DeviceModule> module_;
  std::unique_ptr<DeviceBuffer> a_, b_, out_;
};

const std::vector<float> kSums = {11, 22, 33, 44, 55, 66, 77, 88};

TEST_F(CudaRuntime, DescribesTheDeviceWithoutAContext) {
  auto info = Must(DescribeCudaDevice({FAKE_CUDA}));
  EXPECT_EQ(info.name, "Fake GPU");
  EXPECT_EQ(info.identity, "GPU-01112131-4151-6171-8191-a1b1c1d1e1f1");
  EXPECT_EQ(info.driver, "CUDA 12.4");
  EXPECT_EQ(info.arch, "sm_90");
  EXPECT_EQ(info.cache_bytes, 1024);
  EXPECT_EQ(info.limits.shared_bytes_per_block, 232448);
  EXPECT_EQ(info.limits.max_block[2], 64);
  EXPECT_EQ(info.limits.max_grid[1], 65535);
  EXPECT_DOUBLE_EQ(info.peak_flops, 2.0 * 128 * 80 * 1.5e9);
  EXPECT_EQ(fake_.calls("cuDevicePrimaryCtxRetain"), 0);
}

// Otherwise its lock would have another name, and a process that asks a moment later would time beside it.
TEST_F(CudaRuntime, ADeviceThatDoesNotSayWhichItIsIsNone) {
  fake_.fail("cuDeviceGetUuid", 46, 0, /*sticky=*/0);
  const Status unknown = DescribeCudaDevice({FAKE_CUDA}).status();
  EXPECT_EQ(unknown.kind(), StatusKind::kIo);
  EXPECT_THAT(unknown.message(), HasSubstr("does not say its UUID"));
  EXPECT_THAT(unknown.message(), HasSubstr("CUDA_ERROR_DEVICE_UNAVAILABLE"));
  fake_.fail("cuDeviceGetUuid", 3, 0, /*sticky=*/0);
  EXPECT_EQ(OpenCudaDevice({FAKE_CUDA}).status().kind(), StatusKind::kIo) << "whatever its number is";
  const auto again = Must(DescribeCudaDevice({FAKE_CUDA}));
  EXPECT_EQ(again.lock_name, again.identity);
}

// Slices of a GPU have times of their own, and the GPU's lock.
TEST_F(CudaRuntime, AMigSliceHasAnIdentityOfItsOwn) {
  setenv("FAKE_CUDA_MIG", "3", 1);
  const auto slice = Must(DescribeCudaDevice({FAKE_CUDA}));
  fake_.fail("cuDeviceGetUuid_v2", 3, 0, /*sticky=*/0);
  EXPECT_EQ(DescribeCudaDevice({FAKE_CUDA}).status().kind(), StatusKind::kIo);
  unsetenv("FAKE_CUDA_MIG");
  EXPECT_EQ(slice.identity, "MIG-f3112131-4151-6171-8191-a1b1c1d1e1f1");
  EXPECT_EQ(slice.lock_name, Must(DescribeCudaDevice({FAKE_CUDA})).lock_name);
}

// In exclusive-process mode the child before may still hold it.
TEST_F(CudaRuntime, ADeviceThatAnotherProcessHasIsTriedAgain) {
  FakeClock clock;
  fake_.fail("cuDevicePrimaryCtxRetain", 46, 0, /*sticky=*/0);
  device_ = Must(OpenCudaDevice({FAKE_CUDA}, &clock));
  EXPECT_EQ(fake_.calls("cuDevicePrimaryCtxRetain"), 2);
  EXPECT_GT(clock.NowSeconds(), 0);
  device_.reset();
  fake_.reset(OnLaunch);
  fake_.fail("cuDevicePrimaryCtxRetain", 46, 0, /*sticky=*/1);
  const Status busy = OpenCudaDevice({FAKE_CUDA}, &clock).status();
  EXPECT_EQ(busy.kind(), StatusKind::kIo);
  EXPECT_THAT(busy.message(), HasSubstr("exclusive-process mode"));
  EXPECT_NEAR(clock.NowSeconds(), 10, 1);
}

TEST_F(CudaRuntime, RunsLaunchesInOrderThroughAWorkspace) {
  Load();
  ASSERT_TRUE(module_->Run("sum", Arguments()).ok());
  EXPECT_EQ(Out(), kSums);
  EXPECT_EQ(launched_, (std::vector<std::string>{"add3 2x64", "copy2 2x32"}));
}

TEST_F(CudaRuntime, TimesManyLaunchesAsOneGraph) {
  Load();
  EXPECT_DOUBLE_EQ(Must(module_->Time("sum", {}, {Arguments(), Arguments(), Arguments()})), 2.5e-3);
  EXPECT_EQ(launched_.size(), 6U);
  EXPECT_EQ(fake_.calls("cuGraphLaunch"), 1);
  EXPECT_EQ(Out(), kSums);
}

// The runs before have arguments of their own, and count as busy time of the device: as long as the timed ones each.
TEST_F(CudaRuntime, RunsBeforeTheTimedOnesAreAGraphOfTheirOwn) {
  Load();
  auto other = *device_->Allocate(32);
  auto seconds = Must(module_->Time(
      "sum", {{a_.get(), a_.get(), other.get()}, {b_.get(), b_.get(), other.get()}, {a_.get(), b_.get(), other.get()}},
      {Arguments(), Arguments(), Arguments()}));
  EXPECT_DOUBLE_EQ(seconds, 2.5e-3);
  EXPECT_EQ(launched_.size(), 12U);
  EXPECT_EQ(fake_.calls("cuGraphLaunch"), 2);
  EXPECT_DOUBLE_EQ(device_->busy_seconds(), 5e-3);
  EXPECT_EQ(Out(), kSums);
  std::vector<float> before(8);
  ASSERT_TRUE(device_->CopyOut(before.data(), *other, 32).ok());
  EXPECT_EQ(before, kSums);
  ASSERT_TRUE(module_->Time("sum", {}, {Arguments()}).ok());
  EXPECT_DOUBLE_EQ(device_->busy_seconds(), 7.5e-3);
}

TEST_F(CudaRuntime, FewLaunchesAreNoGraph) {
  Load();
  Must(module_->Time("sum", {}, {Arguments(), Arguments()}));
  EXPECT_EQ(launched_.size(), 4U);
  EXPECT_EQ(fake_.calls("cuGraphLaunch"), 0);
  EXPECT_EQ(Out(), kSums);
}

TEST_F(CudaRuntime, APartOfABufferIsItsMemory) {
  Load();
  auto whole = *device_->Allocate(3 * 256);
  const int allocated = fake_.calls("cuMemAlloc_v2"), freed = fake_.calls("cuMemFree_v2");
  auto part = Must(device_->Part(*whole, 512, 32));
  EXPECT_EQ(part->bytes(), 32);
  ASSERT_TRUE(module_->Run("sum", {a_.get(), b_.get(), part.get()}).ok());
  auto other = Must(device_->Part(*whole, 0, 32));
  ASSERT_TRUE(device_->Copy(other.get(), *part, 32).ok());
  std::vector<float> values(3 * 64);
  ASSERT_TRUE(device_->CopyOut(values.data(), *whole, whole->bytes()).ok());
  EXPECT_EQ(std::vector<float>(values.begin() + 128, values.begin() + 136), kSums);
  EXPECT_EQ(std::vector<float>(values.begin(), values.begin() + 8), kSums);
  part.reset();
  other.reset();
  EXPECT_EQ(fake_.calls("cuMemAlloc_v2") - allocated + fake_.calls("cuMemFree_v2") - freed, 0);
}

TEST_F(CudaRuntime, TheSameRunsAreMadeIntoAGraphOnce) {
  Load();
  auto other = *device_->Allocate(32);
  const DeviceArguments elsewhere = {a_.get(), b_.get(), other.get()};
  const DeviceRuns runs({Arguments()}, 3);
  for (int i = 0; i < 3; ++i) Must(module_->Time("sum", {elsewhere, elsewhere, elsewhere}, runs));
  EXPECT_EQ(fake_.calls("cuGraphInstantiateWithFlags"), 2);
  EXPECT_EQ(fake_.calls("cuGraphLaunch"), 6);
  EXPECT_EQ(launched_.size(), 36U);
  ASSERT_TRUE(module_->Time("sum", {}, {Arguments(), Arguments(), elsewhere}).ok());
  EXPECT_EQ(fake_.calls("cuGraphInstantiateWithFlags"), 3) << "these are other runs";
  const std::vector<float> a(8, 1.0f);
  ASSERT_TRUE(device_->CopyIn(a_.get(), a.data(), 32).ok());
  ASSERT_TRUE(module_->Time("sum", {}, runs).ok());
  EXPECT_EQ(fake_.calls("cuGraphInstantiateWithFlags"), 3);
  EXPECT_EQ(Out(), (std::vector<float>{11, 21, 31, 41, 51, 61, 71, 81})) << "it is the launches that are kept";
}

TEST_F(CudaRuntime, GraphsAreNotKeptWithoutEnd) {
  Load();
  const int before = fake_.alive();
  for (int64_t runs = 500; runs < 508; ++runs) {
    ASSERT_TRUE(module_->Time("sum", {}, DeviceRuns({Arguments()}, runs)).ok());
  }
  EXPECT_EQ(fake_.calls("cuGraphInstantiateWithFlags"), 8);
  EXPECT_LE(fake_.alive() - before, 12) << "of at most 4096 launches and the last ones";
}

// 5,000 runs of two launches: nine graphs of 512 runs and one of the rest.
TEST_F(CudaRuntime, ManyRunsLaunchAGraphManyTimes) {
  Load();
  auto other = *device_->Allocate(32);
  const DeviceArguments elsewhere = {a_.get(), a_.get(), other.get()};
  for (int i = 0; i < 2; ++i) {
    launched_.clear();
    Must(module_->Time("sum", {}, DeviceRuns({Arguments(), elsewhere}, 5000)));
    EXPECT_EQ(launched_.size(), 10000U);
    EXPECT_EQ(fake_.largest_graph(), 1024);
    EXPECT_EQ(fake_.calls("cuGraphInstantiateWithFlags"), 2) << "of 512 runs, and of the other 392";
    EXPECT_EQ(fake_.calls("cuGraphLaunch"), 10 * (i + 1));
  }
  EXPECT_EQ(Out(), kSums);
  // More arguments than a graph has launches: a graph for each part of them.
  std::vector<DeviceArguments> many(1100, Arguments());
  many[1099] = elsewhere;
  Must(module_->Time("sum", {}, DeviceRuns(many, 1100)));
  EXPECT_EQ(fake_.largest_graph(), 1024);
  EXPECT_EQ(fake_.calls("cuGraphInstantiateWithFlags"), 4) << "two equal parts, and the rest";
}

TEST_F(CudaRuntime, ADeviceMayBeLostByItsOwnFault) {
  for (const int error : {46,  100, 214, 220, 802, 810, 226, 700, 702, 709, 710, 714, 715, 716,
                          717, 718, 719, 721, 911, 999, 1,   2,   701, 900, 901, 906, 908}) {
    const bool sticky = std::set<int>{1, 2, 701, 900, 901, 906, 908}.count(error) == 0;
    const bool broken = std::set<int>{46, 100, 214, 220, 802, 810}.count(error) > 0;
    fake_.reset(OnLaunch);
    Load();
    fake_.fail("cuEventSynchronize", error, 0, /*sticky=*/1);
    EXPECT_FALSE(module_->Time("sum", {}, {Arguments()}).ok());
    EXPECT_EQ(device_->lost(), sticky) << error;
    EXPECT_EQ(device_->broken(), broken) << error;
    EXPECT_EQ(device_->busy_seconds(), 0);
    out_.reset(), b_.reset(), a_.reset(), module_.reset(), device_.reset();
    EXPECT_EQ(fake_.alive(), 0);
  }
}

// A wait for the context fails while any stream of it is captured.
TEST_F(CudaRuntime, ACaptureOfSomebodyElseLosesNothing) {
  Load();
  HoneCuda cuda;
  ASSERT_EQ(hone_cuda_load(&cuda, FAKE_CUDA), nullptr);
  HoneCudaHandle stream = nullptr, graph = nullptr;
  ASSERT_EQ(cuda.cuStreamCreate(&stream, 0), 0);
  std::thread([&] { EXPECT_EQ(cuda.cuStreamBeginCapture_v2(stream, 0), 0); }).join();
  fake_.fail("cuMemcpyHtoDAsync_v2", 1, 0, /*sticky=*/0);
  const std::vector<float> values(8);
  EXPECT_FALSE(device_->CopyIn(a_.get(), values.data(), 32).ok());
  EXPECT_FALSE(device_->lost());
  EXPECT_EQ(cuda.cuStreamEndCapture(stream, &graph) + cuda.cuGraphDestroy(graph) + cuda.cuStreamDestroy_v2(stream), 0);
}

TEST_F(CudaRuntime, ALaunchThatIsRefusedIsNoFailureOfTheDevice) {
  Load();
  for (const int error : {1, 701}) {
    for (const int64_t runs : {1, 8 + error}) {  // the second is a graph
      fake_.fail("cuLaunchKernel", error, 1, /*sticky=*/0);
      const Status refused = module_->Time("sum", {}, DeviceRuns({Arguments()}, runs)).status();
      EXPECT_EQ(refused.kind(), StatusKind::kInvalid);
      EXPECT_THAT(refused.message(), HasSubstr("kernel `copy2` cannot be started: "));
      EXPECT_FALSE(device_->lost());
      EXPECT_TRUE(module_->Time("sum", {}, DeviceRuns({Arguments()}, runs)).ok());
    }
  }
}

TEST_F(CudaRuntime, AFaultLosesTheDevice) {
  Load();
  fake_.fail("cuStreamSynchronize", 700, 0, /*sticky=*/1);
  ASSERT_TRUE(module_->Run("sum", Arguments()).ok()) << "it is only queued";
  const Status status = device_->Wait();
  EXPECT_EQ(status.message(), "Fake GPU: waiting for the device failed: CUDA_ERROR_ILLEGAL_ADDRESS: as asked (700)");
  EXPECT_TRUE(device_->lost());
  EXPECT_FALSE(device_->Allocate(16).ok());
  EXPECT_FALSE(module_->Run("sum", Arguments()).ok());
}

TEST_F(CudaRuntime, WhatPassesLeavesTheDeviceGood) {
  Load();
  fake_.fail("cuLaunchKernel", 701, 1, /*sticky=*/0);
  EXPECT_FALSE(module_->Run("sum", Arguments()).ok());
  EXPECT_FALSE(device_->lost());
  ASSERT_TRUE(module_->Run("sum", Arguments()).ok());
  EXPECT_EQ(Out(), kSums);
}

TEST_F(CudaRuntime, AFailureWhileCapturingEndsTheCapture) {
  Load();
  fake_.fail("cuLaunchKernel", 1, 3, /*sticky=*/0);
  EXPECT_FALSE(module_->Time("sum", {}, {Arguments(), Arguments(), Arguments()}).ok());
  EXPECT_FALSE(device_->lost());
  launched_.clear();
  ASSERT_TRUE(module_->Time("sum", {}, {Arguments()}).ok());
  EXPECT_EQ(launched_.size(), 2U);
}

TEST_F(CudaRuntime, OutOfMemorySaysWhatThereIs) {
  Open();
  const Status status = device_->Allocate(int64_t{1} << 40).status();
  EXPECT_EQ(status.kind(), StatusKind::kIo);
  EXPECT_EQ(status.message(), "Fake GPU: out of memory: 1099511627776 bytes asked for, 1000 of 17179869184 are free");
  EXPECT_FALSE(device_->lost());
  EXPECT_TRUE(device_->Allocate(0).ok());
}

TEST_F(CudaRuntime, EveryFailureIsReportedAndNothingLeaks) {
  // Each call fails once, and permanently: the device is lost, everything is released, nothing crashes.
  for (const std::string& function :
       SplitWords("cuDeviceGet cuDevicePrimaryCtxRetain cuCtxSetCurrent cuStreamCreate cuEventCreate cuModuleLoadData "
                  "cuModuleGetFunction cuFuncGetAttribute cuFuncSetAttribute cuMemAlloc_v2 cuMemcpyHtoDAsync_v2 "
                  "cuStreamBeginCapture_v2 cuLaunchKernel cuStreamEndCapture cuGraphInstantiateWithFlags cuGraphUpload "
                  "cuGraphLaunch cuEventRecord cuEventSynchronize cuEventElapsedTime cuMemcpyDtoHAsync_v2")) {
    fake_.reset(OnLaunch);
    fake_.fail(function.c_str(), 719, 0, /*sticky=*/1);
    const auto work = [&]() -> Status {
      HONE_ASSIGN_OR_RETURN(auto device, OpenCudaDevice({FAKE_CUDA}));
      HONE_ASSIGN_OR_RETURN(auto module, device->Load(Example()));
      std::vector<std::unique_ptr<DeviceBuffer>> buffers;
      DeviceArguments arguments;
      for (int i = 0; i < 3; ++i) {
        HONE_ASSIGN_OR_RETURN(auto buffer, device->Allocate(32));
        const std::vector<float> values(8, 1.0f);
        HONE_RETURN_IF_ERROR(device->CopyIn(buffer.get(), values.data(), 32));
        arguments.push_back(buffer.get());
        buffers.push_back(std::move(buffer));
      }
      const Status timed = module->Time("sum", {arguments}, {arguments, arguments, arguments}).status();
      EXPECT_EQ(timed.ok(), !device->lost());
      HONE_RETURN_IF_ERROR(timed);
      std::vector<float> values(8);
      return device->CopyOut(values.data(), *buffers[2], 32);
    };
    const Status status = work();
    EXPECT_FALSE(status.ok()) << function;
    EXPECT_THAT(status.message(), HasSubstr("(719)")) << function;
    EXPECT_EQ(fake_.alive(), 0) << function;
    EXPECT_STREQ(fake_.complaint(), "") << function;
  }
}

TEST_F(CudaRuntime, WhatTheDeviceCannotRunIsInvalid) {
  Open();
  const auto refusal = [&](const std::function<void(Artifact*)>& spoil) {
    Artifact artifact = Example();
    spoil(&artifact);
    const Status status = device_->Load(artifact).status();
    EXPECT_EQ(status.kind(), StatusKind::kInvalid);
    return status.message();
  };
  EXPECT_EQ(refusal([](Artifact* a) { a->bytes = "for another device"; }),
            "Fake GPU (sm_90) does not take the cubin: CUDA_ERROR_FAKE: as asked (200)");
  EXPECT_EQ(refusal([](Artifact* a) { a->format = "opencl-c"; }), "CUDA runs artifacts of format cubin, not opencl-c");
  EXPECT_EQ(refusal([](Artifact* a) { a->entries[0].launches[1].symbol = "missing2"; }),
            "the module has no kernel `missing2`");
  EXPECT_EQ(refusal([](Artifact* a) { a->entries[0].launches[0].block[0] = 513; }),
            "kernel `add3` has 513 threads in a block, the device runs at most 512 of it");
  EXPECT_EQ(refusal([](Artifact* a) { a->entries[0].launches[1].shared_bytes = 232449; }),
            "kernel `copy2` needs 232449 bytes of shared memory in a block, the device has 232448");
  EXPECT_FALSE(device_->lost());
}

TEST(CudaDriverMajor, IsTheDriversAndNeedsNoDevice) {
  EXPECT_EQ(CudaDriverMajor(FAKE_CUDA), 12);
  EXPECT_EQ(CudaDriverMajor("libno-such-cuda.so.1"), 0);
}

TEST(NoCuda, SaysWhatIsMissingAndWhatToDo) {
  const Status status = DescribeCudaDevice({"libno-such-cuda.so.1"}).status();
  EXPECT_EQ(status.kind(), StatusKind::kNotFound);
  for (const char* words : {"no CUDA device", "libno-such-cuda.so.1", "--compile-only", "HONE_LAUNCHER", "opencl"}) {
    EXPECT_THAT(status.message(), HasSubstr(words)) << words << " in ";
  }
}

}  // namespace
}  // namespace hone::runtime

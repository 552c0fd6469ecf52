// Libraries for CUDA on a driver without a device (unit/device/fake_cuda.cc), which checks handles, ranges, order and
// releases, and fails on demand.
#include <thread>

#include "cuda_library.h"
#include "library/runtime/net_device.h"
#include "runtime/cuda/driver_functions.h"
#include "unit/base/in_child.h"

namespace hone::library {
namespace {

// The caller's own calls of the driver, in the context of an instance.
struct Caller {
  template <typename Net, typename Instance>
  Caller(const Net& net, const Instance& instance) {
    EXPECT_EQ(hone_cuda_load(&cuda, FAKE_CUDA), nullptr);
    EXPECT_EQ(net.device(instance, &info, nullptr, nullptr), HONE_NET_OK);
    EXPECT_EQ(cuda.cuCtxPushCurrent_v2(info.context), 0);
  }
  ~Caller() { cuda.cuCtxPopCurrent_v2(&info.context); }

  HoneCuda cuda{};
  HoneNetDeviceInfo info{};
};

TEST_F(CudaLibrary, PacksOnceAndRunsAsOneGraph) {
  const Instance instance = Create();
  // Three convolutions have packed weights; nothing else has run yet.
  EXPECT_EQ(launched->size(), 3U);
  for (const std::string& symbol : *launched) EXPECT_THAT(symbol, HasSubstr("prepare"));
  EXPECT_EQ(fake_.calls("cuModuleLoadData"), 6) << "a module a kernel: flattening is none";
  const int allocated = fake_.calls("cuMemAlloc_v2");
  EXPECT_EQ(allocated, 3) << "arena, constants, raw weights";
  EXPECT_EQ(fake_.calls("cuMemFree_v2"), 1) << "packed weights leave nothing raw on the device";
  EXPECT_THAT(Must(ReadFile("/proc/self/maps")), Not(HasSubstr("small.params"))) << "the file is not read any more";
  launched->clear();
  RunAndCompare(instance, 1);
  const std::vector<std::string> first = *launched;
  EXPECT_EQ(first.size(), 6U + 3U) << "six layers, three of them with two launches";
  EXPECT_EQ(first[0], "hone_k0_negate2");
  EXPECT_EQ(first[1].substr(0, 12), "hone_k0_main");
  RunAndCompare(instance, 2);
  EXPECT_EQ(fake_.calls("cuStreamBeginCapture_v2"), 1) << "captured once";
  EXPECT_EQ(fake_.calls("cuGraphLaunch"), 2);
  EXPECT_EQ(fake_.calls("cuMemAlloc_v2"), allocated);
}

TEST_F(CudaLibrary, DataMayStayOnTheDevice) {
  const Instance instance = Create();
  HoneNetDeviceInfo info{};
  void* in[1] = {};
  void* out[1] = {};
  ASSERT_EQ(net_->device(instance, &info, in, out), HONE_NET_OK);
  EXPECT_STREQ(info.api, "cuda");
  EXPECT_STREQ(info.name, "Fake GPU");
  EXPECT_NE(info.context, nullptr);
  EXPECT_NE(info.queue, nullptr);
  // The fake's memory is the host's: the caller writes its input into the instance's buffer.
  const std::vector<float> values = RandomValues(3 * 13 * 13, 5);
  std::memcpy(in[0], values.data(), values.size() * 4);
  ASSERT_EQ(net_->run_device(instance, nullptr, nullptr, nullptr), HONE_NET_OK);
  ASSERT_EQ(net_->wait(instance), HONE_NET_OK);
  const float* found = static_cast<float*>(out[0]);
  ExpectRight({found, found + 5}, 5);
  const int to_host = fake_.calls("cuMemcpyDtoHAsync_v2"), copies = fake_.calls("cuMemcpyDtoDAsync_v2");
  EXPECT_EQ(to_host, 0);
  // Its own buffers need no copy; another instance's are copied.
  ASSERT_EQ(net_->run_device(instance, in, out, info.queue), HONE_NET_OK);
  EXPECT_EQ(fake_.calls("cuMemcpyDtoDAsync_v2"), copies);
  const Instance other = Create();
  void* elsewhere[1] = {};
  ASSERT_EQ(net_->device(other, nullptr, nullptr, elsewhere), HONE_NET_OK);
  ASSERT_EQ(net_->run_device(other, in, nullptr, nullptr), HONE_NET_OK);
  ASSERT_EQ(net_->wait(other), HONE_NET_OK);
  found = static_cast<float*>(elsewhere[0]);
  ExpectRight({found, found + 5}, 5);
  EXPECT_EQ(fake_.calls("cuMemcpyDtoDAsync_v2"), copies + 1);
}

// The caller writes the input, takes the output and overwrites the input, all in its own stream, and waits for that
// only. The instance's stream does its work as late as it may, or as early: a missing wait shows in one of the two.
TEST_F(CudaLibrary, ARunHasItsPlaceInTheCallersStream) {
  constexpr size_t kInput = 3 * 13 * 13;
  const std::vector<float> wrong(kInput, 7.0f);
  for (const int kind : {0, static_cast<int>(HONE_CUDA_STREAM_NON_BLOCKING), -1}) {
    for (const bool hurry : {false, true}) {
      SCOPED_TRACE(std::to_string(kind) + (hurry ? " early" : " late"));
      const Instance instance = Create();
      const Caller caller(*net_, instance);
      const HoneCuda& cuda = caller.cuda;
      HoneCudaHandle stream = nullptr;  // the legacy stream
      HoneCudaAddress in = 0, out = 0;
      ASSERT_EQ(cuda.cuMemAlloc_v2(&in, kInput * 4) + cuda.cuMemAlloc_v2(&out, 5 * 4), 0);
      if (kind >= 0) {
        ASSERT_EQ(cuda.cuStreamCreate(&stream, static_cast<unsigned>(kind)), 0);
      }
      if (hurry) fake_.hurry(caller.info.queue);
      for (uint64_t seed = 1; seed <= 3; ++seed) {
        const std::vector<float> values = RandomValues(kInput, seed);
        std::vector<float> found(5);
        void* inputs[] = {reinterpret_cast<void*>(in)};
        void* outputs[] = {reinterpret_cast<void*>(out)};
        ASSERT_EQ(cuda.cuMemcpyHtoDAsync_v2(in, values.data(), kInput * 4, stream), 0);
        ASSERT_EQ(net_->run_device(instance, inputs, outputs, stream), HONE_NET_OK) << net_->error_detail();
        ASSERT_EQ(cuda.cuMemcpyDtoHAsync_v2(found.data(), out, 5 * 4, stream), 0);
        ASSERT_EQ(cuda.cuMemcpyHtoDAsync_v2(in, wrong.data(), kInput * 4, stream), 0);
        ASSERT_EQ(cuda.cuStreamSynchronize(stream), 0);
        ExpectRight(found, seed);
      }
      if (stream) cuda.cuStreamDestroy_v2(stream);
      EXPECT_EQ(cuda.cuMemFree_v2(in) + cuda.cuMemFree_v2(out), 0);
    }
  }
}

TEST_F(CudaLibrary, AFailureAfterTheRunIsQueuedShowsInALaterCall) {
  const Instance instance = Create();
  ASSERT_EQ(net_->run_device(instance, nullptr, nullptr, nullptr), HONE_NET_OK);
  fake_.fail("cuStreamSynchronize", 700, 0, /*sticky=*/1);
  EXPECT_EQ(net_->wait(instance), HONE_NET_E_DEVICE_LOST);
  EXPECT_EQ(net_->run_device(instance, nullptr, nullptr, nullptr), HONE_NET_E_DEVICE_LOST);
  EXPECT_EQ(net_->wait(nullptr), HONE_NET_E_ARGUMENT);
}

// The caller may free its buffers after a failure.
TEST_F(CudaLibrary, ARunWhoseLastStepFailsHasEnded) {
  const Instance instance = Create();
  const Caller caller(*net_, instance);
  const HoneCuda& cuda = caller.cuda;
  constexpr size_t kInput = 3 * 13 * 13;
  HoneCudaAddress in = 0, out = 0;
  ASSERT_EQ(cuda.cuMemAlloc_v2(&in, kInput * 4) + cuda.cuMemAlloc_v2(&out, 5 * 4), 0);
  void* inputs[] = {reinterpret_cast<void*>(in)};
  void* outputs[] = {reinterpret_cast<void*>(out)};
  fake_.fail("cuStreamWaitEvent", HONE_CUDA_OUT_OF_MEMORY, /*skip=*/1, /*sticky=*/0);
  const int waits = fake_.calls("cuStreamSynchronize");
  EXPECT_EQ(net_->run_device(instance, inputs, outputs, nullptr), HONE_NET_E_DEVICE_MEMORY);
  EXPECT_EQ(fake_.calls("cuStreamSynchronize"), waits + 1);
  EXPECT_EQ(cuda.cuMemFree_v2(in) + cuda.cuMemFree_v2(out), 0);
}

// Another thread of the caller's program makes a graph meanwhile.
TEST_F(CudaLibrary, ACaptureOfSomebodyElseLosesNothing) {
  const Instance instance = Create();
  const Caller caller(*net_, instance);
  const HoneCuda& cuda = caller.cuda;
  HoneCudaHandle stream = nullptr, graph = nullptr;
  ASSERT_EQ(cuda.cuStreamCreate(&stream, HONE_CUDA_STREAM_NON_BLOCKING), 0);
  std::thread([&] { EXPECT_EQ(cuda.cuStreamBeginCapture_v2(stream, 0), 0); }).join();
  fake_.fail("cuEventRecord", 906, 0, /*sticky=*/0);
  EXPECT_EQ(net_->run_device(instance, nullptr, nullptr, nullptr), HONE_NET_E_DEVICE_CALL);
  EXPECT_EQ(cuda.cuStreamEndCapture(stream, &graph) + cuda.cuGraphDestroy(graph) + cuda.cuStreamDestroy_v2(stream), 0);
  RunAndCompare(instance, 1);
}

TEST_F(CudaLibrary, ProfilesEveryLayer) {
  const Instance instance = Create();
  std::vector<float> out;
  std::vector<double> seconds(6);
  ASSERT_EQ(net_->info().layer_count, 6);
  ASSERT_EQ(Run(instance, 1, &out, seconds.data()), HONE_NET_OK);
  ExpectRight(out, 1);
  for (const double s : seconds) EXPECT_DOUBLE_EQ(s, 2.5e-3);  // the fake's value
  EXPECT_EQ(fake_.calls("cuGraphLaunch"), 0) << "one launch after the other";
}

TEST_F(CudaLibrary, InstancesRunInTheirThreads) {
  InTwoThreads([](uint64_t thread) {
    {
      const Instance instance = Create();
      for (uint64_t i = 0; i < 4; ++i) RunAndCompare(instance, 10 * thread + i);
    }
    EXPECT_EQ(fake_.contexts(), 0);
  });
  EXPECT_EQ(fake_.calls("cuStreamBeginCapture_v2"), 2);
}

TEST_F(CudaLibrary, EachFailureHasItsCodeAndNothingLeaks) {
  struct Case {
    const char* function;
    int error, sticky, code;
  };
  const Case cases[] = {
      {"cuDeviceGetCount", 3, 0, HONE_NET_E_DEVICE},
      {"cuDeviceGet", 101, 0, HONE_NET_E_DEVICE},
      {"cuDeviceGetAttribute", 1, 0, HONE_NET_E_DEVICE},
      {"cuDevicePrimaryCtxRetain", 2, 0, HONE_NET_E_DEVICE_MEMORY},
      {"cuDevicePrimaryCtxRetain", 999, 0, HONE_NET_E_DEVICE_CALL},
      {"cuCtxPushCurrent_v2", 201, 0, HONE_NET_E_DEVICE_CALL},
      {"cuStreamCreate", 2, 0, HONE_NET_E_DEVICE_MEMORY},
      {"cuModuleLoadData", 209, 0, HONE_NET_E_DEVICE_CODE},
      {"cuModuleLoadData", 2, 0, HONE_NET_E_DEVICE_MEMORY},
      {"cuModuleGetFunction", 500, 0, HONE_NET_E_DEVICE_CODE},
      {"cuFuncGetAttribute", 1, 0, HONE_NET_E_DEVICE_CALL},
      {"cuFuncSetAttribute", 1, 0, HONE_NET_E_DEVICE_CALL},
      {"cuMemAlloc_v2", 2, 0, HONE_NET_E_DEVICE_MEMORY},
      {"cuMemcpyHtoDAsync_v2", 719, 1, HONE_NET_E_DEVICE_LOST},
      {"cuStreamBeginCapture_v2", 1, 0, HONE_NET_E_DEVICE_CALL},
      {"cuLaunchKernel", 701, 0, HONE_NET_E_DEVICE_CALL},
      {"cuLaunchKernel", 719, 1, HONE_NET_E_DEVICE_LOST},
      {"cuStreamEndCapture", 1, 0, HONE_NET_E_DEVICE_CALL},
      {"cuGraphInstantiateWithFlags", 2, 0, HONE_NET_E_DEVICE_MEMORY},
      {"cuGraphLaunch", 719, 1, HONE_NET_E_DEVICE_LOST},
      {"cuMemcpyDtoHAsync_v2", 719, 1, HONE_NET_E_DEVICE_LOST},
      {"cuStreamSynchronize", 700, 1, HONE_NET_E_DEVICE_LOST},
  };
  const std::string params = dir_->Join("small.params");
  const HoneNetOptions options{.params_path = params.c_str()};
  std::vector<float> out;
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.function) + " " + std::to_string(c.error));
    fake_.reset(OnLaunch);
    fake_.fail(c.function, c.error, 0, c.sticky);
    HoneNet* instance = nullptr;
    int code = net_->create(&options, &instance);
    if (code == HONE_NET_OK) code = Run(instance, 1, &out);
    EXPECT_EQ(code, c.code) << net_->error_detail();
    EXPECT_THAT(std::string(net_->error_detail()), AllOf(HasSubstr(": "), Not(HasSubstr("\n"))));
    if (instance && c.code == HONE_NET_E_DEVICE_LOST) {
      EXPECT_EQ(Run(instance, 1, &out), HONE_NET_E_DEVICE_LOST) << "for good";
    } else if (instance) {
      EXPECT_EQ(Run(instance, 1, &out), HONE_NET_OK) << "the next run is good";
      ExpectRight(out, 1);
    }
    net_->destroy(instance);
    EXPECT_STREQ(fake_.complaint(), "");
    EXPECT_EQ(fake_.alive(), 0);
    EXPECT_EQ(fake_.contexts(), 0);
  }
}

TEST_F(CudaLibrary, SaysWhichDeviceThereIsAndWhichItWants) {
  Create(1, HONE_NET_E_DEVICE);
  EXPECT_STREQ(net_->error_detail(), "no CUDA device 1: there are 1, counted from 0");
  Create(-1, HONE_NET_E_ARGUMENT);
  Instance(*net_, dir_->Join("small.params"), {.threads = -1, .pin = 1});  // of the CPU: they mean nothing here
  for (const char* arch : {"sm_80", "sm_75", "sm_90a"}) {
    TempDir dir = *TempDir::Create();
    Must(Build(arch, dir.path()));
    const auto net = Must(LoadedNetwork::Load(dir.Join("libsmall.so"), "small"));
    const bool fits = std::string(arch) == "sm_90a";
    Instance(net, dir.Join("small.params"), {}, fits ? HONE_NET_OK : HONE_NET_E_DEVICE_ARCH);
    if (fits) continue;
    EXPECT_EQ(std::string(net.error_detail()),
              "the library was built for " + std::string(arch) + ", Fake GPU is sm_90; build it for that one");
  }
}

TEST_F(CudaLibrary, TheSameInputGivesTheSameBytes) {
  const BuiltLibrary again = Must(Build("sm_90", dir_->path())), once_more = Must(Build("sm_90", dir_->path()));
  EXPECT_EQ(*ReadFile(dir_->Join("libsmall.so")), again.library);
  ExpectSameBytes(once_more, again);
  EXPECT_THAT(again.manifest, HasSubstr("\"nvrtc\": "));
  EXPECT_EQ(static_cast<int64_t>(net_->workspace_size()), again.workspace_bytes);
}

TEST_F(CudaLibrary, VerifyRefusesADamagedFile) {
  std::string bytes = Must(ReadFile(dir_->Join("small.params")));
  bytes[bytes.size() / 2] ^= 1;
  const std::string damaged = dir_->Join("damaged.params");
  Must(WriteFileAtomic(damaged, bytes));
  Instance(*net_, damaged, {});
  Instance(*net_, damaged, {.verify = 1}, HONE_NET_E_PARAMS_DAMAGED);
  Instance(*net_, dir_->Join("small.params"), {.verify = 1});
}

TEST_F(CudaLibrary, AForkedChildMakesNoCallOfTheDriver) {
  const Instance instance = Create();
  RunAndCompare(instance, 1);
  const int status = InChild([&] {
    alarm(60);
    const int before = fake_.calls(nullptr);
    if (before == 0) return 5;
    std::vector<float> out;
    if (Run(instance, 1, &out) != HONE_NET_E_FORKED) return 1;
    if (net_->run_device(instance, nullptr, nullptr, nullptr) != HONE_NET_E_FORKED) return 2;
    if (net_->device(instance, nullptr, nullptr, nullptr) != HONE_NET_E_FORKED) return 3;
    if (net_->wait(instance) != HONE_NET_E_FORKED) return 6;
    net_->destroy(instance);
    return fake_.calls(nullptr) == before ? 0 : 4;
  });
  EXPECT_TRUE(ExitedWith(status, 0)) << status;
  RunAndCompare(instance, 2);
}

}  // namespace
}  // namespace hone::library

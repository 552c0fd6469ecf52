// Libraries for CUDA against a driver without a device (unit/device/fake_cuda.cc): it checks handles, ranges, order and
// releases, and fails on demand. What a kernel computes is its operator's reference.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <thread>

#include "library/runtime/net_device.h"
#include "op/operator.h"
#include "small_network.h"
#include "unit/device/fake_cuda_control.h"

namespace hone::library {
namespace {

Target CudaTarget(const std::string& arch) {
  auto target = Target::Parse("cuda -arch=" + arch +
                              " -threads=1024 -block=1024x1024x64 -grid=2147483647x65535x65535 -shared=49152 "
                              "-registers=65536 -thread-registers=255 -warp=32 -vector=16 -multiprocessors=80");
  EXPECT_TRUE(target.ok()) << target.status().message();
  return *target;
}

// What the fake device computes, by the symbol of the kernel.
struct Meaning {
  Workload workload;
  Target target;
  int64_t elements = 0;  // of a copy: "negate", "copy"
};
std::map<std::string, Meaning>* meanings = nullptr;
std::vector<std::string>* launched = nullptr;
std::mutex* launched_mutex = nullptr;

void OnLaunch(const char* symbol, void* const* addresses, const unsigned*, const unsigned*) {
  std::lock_guard<std::mutex> lock(*launched_mutex);
  launched->push_back(symbol);
  const std::string name = symbol;
  const Meaning& meaning = meanings->at(name);
  if (meaning.elements > 0) {
    const float* from = static_cast<const float*>(addresses[0]);
    const float sign = name.find("negate") != std::string::npos ? -1.0f : 1.0f;
    for (int64_t i = 0; i < meaning.elements; ++i) static_cast<float*>(addresses[1])[i] = sign * from[i];
    return;
  }
  const op::Operator* op = *op::FindOperator(meaning.workload);
  const size_t count = op->Operands(meaning.workload, meaning.target).size();
  std::vector<float*> buffers;
  for (size_t i = 0; i < count; ++i) buffers.push_back(static_cast<float*>(addresses[i]));
  op->Reference(meaning.workload, meaning.target, buffers);
}

// Kernels as a compiler might make them: those of convolutions take their weights from what a prepare function made
// (negated), and turn them back into a workspace first; the others are one launch.
Result<std::vector<NetworkKernel>> FakeKernels(const std::vector<Workload>& workloads, const Target& target,
                                               const pipeline::BestFile*, int) {
  std::vector<NetworkKernel> kernels;
  for (size_t k = 0; k < workloads.size(); ++k) {
    NetworkKernel kernel;
    kernel.workload = workloads[k];
    kernel.source = "fixed";
    kernel.compiled.format = "cubin";
    kernel.compiled.object = "fake cubin";
    HONE_ASSIGN_OR_RETURN(const op::Operator* op, op::FindOperator(workloads[k]));
    const std::vector<op::Operand> operands = op->Operands(workloads[k], target);
    const std::string symbol = "hone_k" + std::to_string(k);
    EntryPoint& entry = kernel.compiled.kernel;
    entry.symbol = symbol;
    Launch main;
    main.symbol = symbol + "_main" + std::to_string(operands.size());
    main.grid[0] = 3;
    main.block[0] = 64;
    for (size_t i = 0; i < operands.size(); ++i) {
      entry.args.push_back(
          {operands[i].name, operands[i].logical.type, operands[i].PhysicalElements(), i + 1 == operands.size()});
      kernel.compiled.kernel_args.push_back({compile::ArgSource::Kind::kOperand, static_cast<int>(i)});
      main.args.push_back(static_cast<int>(i));
    }
    (*meanings)[main.symbol] = {workloads[k], target, 0};
    if (workloads[k].op == "conv2d") {
      const int64_t elements = operands[1].PhysicalElements();
      compile::CompiledKernel& compiled = kernel.compiled;
      compiled.has_prepare = true;
      compiled.prepared.push_back({"packed", operands[1].logical.type, elements});
      compiled.prepare.symbol = symbol + "_prepare";
      compiled.prepare.args = {entry.args[1], entry.args[1]};
      compiled.prepare_args = {{compile::ArgSource::Kind::kOperand, 1}, {compile::ArgSource::Kind::kPrepared, 0}};
      compiled.kernel_args[1] = {compile::ArgSource::Kind::kPrepared, 0};
      compiled.prepare.launches = {{symbol + "_prepare_negate2", {1, 1, 1}, {32, 1, 1}, 0, 0, {0, 1}}};
      (*meanings)[symbol + "_prepare_negate2"] = {workloads[k], target, elements};
      entry.workspace_buffers = {elements * 4};
      entry.launches.push_back({symbol + "_negate2", {1, 1, 1}, {32, 1, 1}, 65536, 65536, {1, -1}});
      (*meanings)[symbol + "_negate2"] = {workloads[k], target, elements};
      main.args[1] = -1;
    }
    entry.launches.push_back(main);
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

class CudaLibrary : public ::testing::Test {
 protected:
  // The driver under its own name: what a library opens as libcuda.so.1 is then this one.
  static void SetUpTestSuite() {
    fake_ = FakeCudaControl::Load(FAKE_CUDA);
    meanings = new std::map<std::string, Meaning>;
    launched = new std::vector<std::string>;
    launched_mutex = new std::mutex;
    dir_ = new TempDir(*TempDir::Create());
    auto built = Build("sm_90", dir_->path());
    ASSERT_TRUE(built.ok()) << built.status().message();
    auto net = LoadedNetwork::Load(dir_->Join("libsmall.so"), "small");
    ASSERT_TRUE(net.ok()) << net.status().message();
    net_ = new LoadedNetwork(std::move(*net));
  }
  static void TearDownTestSuite() {
    delete net_;
    delete dir_;
  }
  static Result<BuiltLibrary> Build(const std::string& arch, const std::string& dir) {
    BuildInput input;
    input.graph = SmallNetwork(1);
    input.target = CudaTarget(arch);
    input.name = "small";
    input.compile = FakeKernels;
    HONE_ASSIGN_OR_RETURN(BuiltLibrary built, BuildLibrary(std::move(input)));
    HONE_RETURN_IF_ERROR(WriteLibrary(built, dir));
    return built;
  }

  void SetUp() override {
    ASSERT_NE(net_, nullptr);
    fake_.reset(OnLaunch);
    launched->clear();
  }
  void TearDown() override {
    EXPECT_STREQ(fake_.complaint(), "");
    EXPECT_EQ(fake_.alive(), 0) << "something was not released";
    EXPECT_EQ(fake_.contexts(), 0) << "the caller's context was not put back";
  }

  static int Create(HoneNet** instance, int device = 0) {
    const std::string params = dir_->Join("small.params");
    HoneNetOptions options{};
    options.params_path = params.c_str();
    options.device = device;
    return net_->create(&options, instance);
  }
  static HoneNet* Create() {
    HoneNet* instance = nullptr;
    const int code = Create(&instance);
    EXPECT_EQ(code, HONE_NET_OK) << net_->strerror(code) << ": " << net_->error_detail();
    return instance;
  }
  static void ExpectRight(const std::vector<float>& found, uint64_t seed) {
    const std::vector<double> expected = Expected(SmallNetwork(1), seed);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 2e-5) << i;
  }
  static void RunAndCompare(HoneNet* instance, uint64_t seed) {
    const std::vector<float> in = RandomValues(3 * 13 * 13, seed);
    std::vector<float> out(5);
    const void* inputs[] = {in.data()};
    void* outputs[] = {out.data()};
    const int code = net_->run(instance, inputs, outputs);
    ASSERT_EQ(code, HONE_NET_OK) << net_->strerror(code) << ": " << net_->error_detail();
    ExpectRight(out, seed);
  }

  static FakeCudaControl fake_;
  static TempDir* dir_;
  static LoadedNetwork* net_;
};
FakeCudaControl CudaLibrary::fake_;
TempDir* CudaLibrary::dir_ = nullptr;
LoadedNetwork* CudaLibrary::net_ = nullptr;

TEST_F(CudaLibrary, PacksOnceAndRunsAsOneGraph) {
  HoneNet* instance = Create();
  // Three convolutions have packed weights; nothing else has run yet.
  EXPECT_EQ(launched->size(), 3U);
  for (const std::string& symbol : *launched) EXPECT_NE(symbol.find("prepare"), std::string::npos) << symbol;
  EXPECT_EQ(fake_.calls("cuModuleLoadData"), 6) << "a module a kernel: flattening is none";
  launched->clear();
  RunAndCompare(instance, 1);
  const std::vector<std::string> first = *launched;
  EXPECT_EQ(first.size(), 6U + 3U) << "six layers, three of them with two launches";
  EXPECT_EQ(first[0], "hone_k0_negate2");
  EXPECT_EQ(first[1].substr(0, 12), "hone_k0_main");
  RunAndCompare(instance, 2);
  EXPECT_EQ(fake_.calls("cuStreamBeginCapture_v2"), 1) << "captured once";
  EXPECT_EQ(fake_.calls("cuGraphLaunch"), 2);
  net_->destroy(instance);
}

TEST_F(CudaLibrary, DataMayStayOnTheDevice) {
  HoneNet* instance = Create();
  HoneNetDeviceInfo info{};
  void* in[1] = {};
  void* out[1] = {};
  ASSERT_EQ(net_->device(instance, &info, in, out), HONE_NET_OK);
  EXPECT_STREQ(info.api, "cuda");
  EXPECT_STREQ(info.name, "Fake GPU");
  EXPECT_NE(info.context, nullptr);
  EXPECT_NE(info.queue, nullptr);
  // The fake's memory is the host's: the caller puts its input where the instance has it.
  const std::vector<float> values = RandomValues(3 * 13 * 13, 5);
  std::memcpy(in[0], values.data(), values.size() * 4);
  ASSERT_EQ(net_->run_device(instance, nullptr, nullptr), HONE_NET_OK);
  const float* found = static_cast<float*>(out[0]);
  ExpectRight({found, found + 5}, 5);
  const int to_host = fake_.calls("cuMemcpyDtoHAsync_v2"), copies = fake_.calls("cuMemcpyDtoDAsync_v2");
  EXPECT_EQ(to_host, 0);
  // Its own buffers need no copy; another instance's are copied.
  ASSERT_EQ(net_->run_device(instance, in, out), HONE_NET_OK);
  EXPECT_EQ(fake_.calls("cuMemcpyDtoDAsync_v2"), copies);
  HoneNet* other = Create();
  void* elsewhere[1] = {};
  ASSERT_EQ(net_->device(other, nullptr, nullptr, elsewhere), HONE_NET_OK);
  ASSERT_EQ(net_->run_device(other, in, nullptr), HONE_NET_OK);
  found = static_cast<float*>(elsewhere[0]);
  ExpectRight({found, found + 5}, 5);
  EXPECT_EQ(fake_.calls("cuMemcpyDtoDAsync_v2"), copies + 1);
  net_->destroy(other);
  net_->destroy(instance);
}

TEST_F(CudaLibrary, ProfilesEveryLayer) {
  HoneNet* instance = Create();
  const std::vector<float> in = RandomValues(3 * 13 * 13, 1);
  std::vector<float> out(5);
  const void* inputs[] = {in.data()};
  void* outputs[] = {out.data()};
  std::vector<double> seconds(6);
  ASSERT_EQ(net_->info().layer_count, 6);
  ASSERT_EQ(net_->profile_run(instance, inputs, outputs, seconds.data()), HONE_NET_OK);
  ExpectRight(out, 1);
  for (const double s : seconds) EXPECT_DOUBLE_EQ(s, 2.5e-3);  // as the fake says
  net_->destroy(instance);
}

TEST_F(CudaLibrary, InstancesRunInTheirThreads) {
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 2; ++t) {
    threads.emplace_back([t] {
      HoneNet* instance = Create();
      for (uint64_t i = 0; i < 4; ++i) RunAndCompare(instance, 10 * t + i);
      net_->destroy(instance);
      EXPECT_EQ(fake_.contexts(), 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
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
  const std::vector<float> in = RandomValues(3 * 13 * 13, 1);
  std::vector<float> out(5);
  const void* inputs[] = {in.data()};
  void* outputs[] = {out.data()};
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.function) + " " + std::to_string(c.error));
    fake_.reset(OnLaunch);
    fake_.fail(c.function, c.error, 0, c.sticky);
    HoneNet* instance = nullptr;
    int code = Create(&instance);
    if (code == HONE_NET_OK) code = net_->run(instance, inputs, outputs);
    EXPECT_EQ(code, c.code) << net_->error_detail();
    EXPECT_NE(std::string(net_->error_detail()).find(": "), std::string::npos) << net_->error_detail();
    if (instance && c.code == HONE_NET_E_DEVICE_LOST) {
      EXPECT_EQ(net_->run(instance, inputs, outputs), HONE_NET_E_DEVICE_LOST) << "for good";
    } else if (instance) {
      EXPECT_EQ(net_->run(instance, inputs, outputs), HONE_NET_OK) << "the next run is good";
      ExpectRight(out, 1);
    }
    net_->destroy(instance);
    EXPECT_STREQ(fake_.complaint(), "");
    EXPECT_EQ(fake_.alive(), 0);
    EXPECT_EQ(fake_.contexts(), 0);
  }
}

TEST_F(CudaLibrary, SaysWhichDeviceThereIsAndWhichItWants) {
  HoneNet* instance = nullptr;
  EXPECT_EQ(Create(&instance, 1), HONE_NET_E_DEVICE);
  EXPECT_STREQ(net_->error_detail(), "no CUDA device 1: there are 1, counted from 0");
  EXPECT_EQ(Create(&instance, -1), HONE_NET_E_ARGUMENT);
  for (const char* arch : {"sm_80", "sm_75", "sm_90a"}) {
    TempDir dir = *TempDir::Create();
    auto built = Build(arch, dir.path());
    ASSERT_TRUE(built.ok()) << built.status().message();
    auto net = LoadedNetwork::Load(dir.Join("libsmall.so"), "small");
    ASSERT_TRUE(net.ok()) << net.status().message();
    const std::string params = dir.Join("small.params");
    HoneNetOptions options{};
    options.params_path = params.c_str();
    const int code = net->create(&options, &instance);
    if (std::string(arch) == "sm_90a") {
      EXPECT_EQ(code, HONE_NET_OK);
      net->destroy(instance);
      continue;
    }
    EXPECT_EQ(code, HONE_NET_E_DEVICE_ARCH);
    EXPECT_EQ(std::string(net->error_detail()),
              "the library was built for " + std::string(arch) + ", Fake GPU is sm_90; build it for that one");
  }
}

TEST_F(CudaLibrary, TheSameInputGivesTheSameBytes) {
  auto again = Build("sm_90", dir_->path());
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*ReadFile(dir_->Join("libsmall.so")), again->library);
  auto once_more = Build("sm_90", dir_->path());
  EXPECT_EQ(once_more->library, again->library);
  EXPECT_EQ(once_more->params, again->params);
  EXPECT_EQ(once_more->manifest, again->manifest);
}

}  // namespace
}  // namespace hone::library

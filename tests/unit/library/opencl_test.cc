// Whole libraries for OpenCL: built, loaded and run on this machine's device (PoCL's CPU in `make check`).
#include <stdlib.h>

#include "library/runtime/net_device.h"
#include "runtime/opencl/functions.h"
#include "runtime/opencl/opencl_device.h"
#include "small_network.h"
#include "unit/base/in_child.h"

namespace hone::library {
namespace {

BuildInput OpenClInput(graph::Graph graph) {
  const std::string name = graph.name;
  BuildInput input = HostInput(std::move(graph), name);
  input.target = Must(
      Target::Parse("opencl -threads=256 -block=256x256x64 -grid=2147483647x65535x65535 -shared=32768 -registers=65536 "
                    "-thread-registers=255 -warp=32 -vector=16 -multiprocessors=8"));
  return input;
}

// Concatenated slices, a softmax, several outputs and inputs, which SmallNetwork lacks.
graph::Graph ForkedNetwork() {
  graph::NetworkBuilder net("forked", 3);
  std::string x = net.Input("data", {1, 16, 8, 8});
  const std::string other = net.Input("other", {1, 16, 8, 8});
  const std::string a = net.Relu("ra", net.Conv("a", x, 16, {{1}, {1}, {0}}));
  const std::string b = net.Relu("rb", net.Conv("b", net.Add("sum", x, other), 32, {{3}, {1}, {1}}));
  const std::string joined = net.Concat("joined", {a, b});
  const std::string pooled = net.MaxPool("pool", joined, {{2}, {2}, {0}});
  const std::string flat = net.Unary("flat", "flatten", net.Unary("gap", "global_avg_pool", pooled));
  return net.Finish({net.Unary("prob", "softmax", net.Dense("fc", flat, 10)), pooled});
}

struct Built {
  TempDir dir = *TempDir::Create();
  BuiltLibrary library;
  LibraryFolder folder;
  std::unique_ptr<LoadedNetwork> net;
};

std::unique_ptr<Built> Build(const graph::Graph& graph) {
  auto built = std::make_unique<Built>();
  built->library = Must(BuildLibrary(OpenClInput(graph)));
  Must(WriteLibrary(built->library, built->dir.path()));
  built->folder = Must(ReadLibraryFolder(built->dir.path()));
  built->net =
      std::make_unique<LoadedNetwork>(Must(LoadedNetwork::Load(built->folder.LibraryPath(), built->folder.identifier)));
  return built;
}

class OpenClLibrary : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    // PoCL takes seconds to compile the kernels: once is enough.
    cache_.emplace(Must(TempDir::Create()));
    setenv("POCL_KERNEL_CACHE", "1", 1);
    setenv("POCL_CACHE_DIR", cache_->path().c_str(), 1);
    const Status found = runtime::DescribeOpenClDevice().status();
    if (found.kind() == StatusKind::kNotFound) {
      missing_ = found.message();
      return;
    }
    ASSERT_TRUE(found.ok()) << found.message();
    small_ = Build(SmallNetwork(1));
  }
  static void TearDownTestSuite() {
    small_.reset();
    cache_.reset();
  }
  void SetUp() override {
    if (!missing_.empty()) GTEST_SKIP() << missing_;
    ASSERT_NE(small_, nullptr);
  }

  static Instance Create(const Built& built, const HoneNetOptions& options = {}) {
    return {*built.net, built.folder.ParamsPath(), options};
  }

  // Runs with inputs of `seed` and compares every output.
  static void RunAndCompare(const Built& built, const graph::Graph& graph, HoneNet* instance, uint64_t seed,
                            double* seconds = nullptr) {
    std::map<std::string, TensorData> named;
    std::vector<std::vector<float>> in, out;
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      in.push_back(RandomValues(graph.inputs[i].type.Elements(), seed + i));
      named[graph.inputs[i].name] = in.back();
    }
    for (const std::string& name : graph.outputs)
      out.emplace_back(static_cast<size_t>(graph.FindNode(name)->output.Elements()));
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    for (const auto& values : in) inputs.push_back(values.data());
    for (auto& values : out) outputs.push_back(values.data());
    const int code = seconds ? built.net->profile_run(instance, inputs.data(), outputs.data(), seconds)
                             : built.net->run(instance, inputs.data(), outputs.data());
    ASSERT_EQ(code, HONE_NET_OK) << built.net->strerror(code);
    const auto expected = Must(graph::RunReference(graph, Must(graph::MakeParameters(graph, nullptr)), named, 1));
    for (size_t o = 0; o < graph.outputs.size(); ++o) {
      SCOPED_TRACE(graph.outputs[o]);
      ExpectClose(out[o].data(), expected.at(graph.outputs[o]));
    }
  }

  static inline std::optional<TempDir> cache_;
  static inline std::unique_ptr<Built> small_;
  static inline std::string missing_;
};

TEST_F(OpenClLibrary, ComputesWhatTheGraphMeans) {
  EXPECT_EQ(small_->library.in_place, 0);
  const Instance instance = Create(*small_);
  for (uint64_t seed : {1, 2}) RunAndCompare(*small_, SmallNetwork(1), instance, seed);
}

TEST_F(OpenClLibrary, ForksJoinAndSeveralOutputs) {
  const std::unique_ptr<Built> built = Build(ForkedNetwork());
  EXPECT_EQ(built->library.slices, 1) << "the concatenation is not computed";
  RunAndCompare(*built, ForkedNetwork(), Create(*built), 3);
}

TEST_F(OpenClLibrary, DataMayStayOnTheDevice) {
  const Instance instance = Create(*small_), other = Create(*small_);
  ASSERT_TRUE(small_->net->on_device());
  RunAndCompare(*small_, SmallNetwork(1), instance, 4);  // its input and output are now there
  HoneNetDeviceInfo info{};
  void* in[1] = {};
  void* out[1] = {};
  ASSERT_EQ(small_->net->device(instance, &info, in, out), HONE_NET_OK);
  EXPECT_STREQ(info.api, "opencl");
  EXPECT_STRNE(info.name, "");
  EXPECT_NE(info.context, nullptr);
  EXPECT_NE(info.queue, nullptr);
  EXPECT_NE(in[0], nullptr);
  EXPECT_NE(out[0], nullptr);
  ASSERT_EQ(small_->net->run_device(instance, nullptr, nullptr, nullptr), HONE_NET_OK);
  ASSERT_EQ(small_->net->run_device(instance, in, out, info.queue), HONE_NET_OK);  // its own: nothing to copy
  RunAndCompare(*small_, SmallNetwork(1), other, 5);
  RunAndCompare(*small_, SmallNetwork(1), instance, 6);
}

// The caller's queue writes the input and reads the output, and is waited for only at the end.
TEST_F(OpenClLibrary, ARunHasItsPlaceInTheCallersQueue) {
  HoneOpenCl cl;
  ASSERT_EQ(hone_opencl_load(&cl, "libOpenCL.so.1"), nullptr);
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  ASSERT_EQ(hone_opencl_find(&cl, 0, &platform, &device), 1U);
  const Instance instance = Create(*small_);
  HoneNetDeviceInfo info{};
  ASSERT_EQ(small_->net->device(instance, &info, nullptr, nullptr), HONE_NET_OK);
  const auto context = static_cast<cl_context>(info.context);
  constexpr size_t kInput = 3 * 13 * 13 * 4, kOutput = 5 * 4;
  cl_int error = CL_SUCCESS;
  const cl_command_queue queue = cl.clCreateCommandQueue(context, device, 0, &error);
  ASSERT_EQ(error, CL_SUCCESS);
  const cl_mem in = cl.clCreateBuffer(context, CL_MEM_READ_WRITE, kInput, nullptr, &error);
  const cl_mem out = cl.clCreateBuffer(context, CL_MEM_READ_WRITE, kOutput, nullptr, &error);
  ASSERT_EQ(error, CL_SUCCESS);
  void* inputs[] = {in};
  void* outputs[] = {out};
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const std::vector<float> values = RandomValues(kInput / 4, seed);
    std::vector<float> found(5);
    ASSERT_EQ(cl.clEnqueueWriteBuffer(queue, in, CL_FALSE, 0, kInput, values.data(), 0, nullptr, nullptr), CL_SUCCESS);
    const int code = small_->net->run_device(instance, inputs, outputs, queue);
    ASSERT_EQ(code, HONE_NET_OK) << small_->net->error_detail();
    ASSERT_EQ(cl.clEnqueueReadBuffer(queue, out, CL_TRUE, 0, kOutput, found.data(), 0, nullptr, nullptr), CL_SUCCESS);
    ExpectClose(found.data(), Expected(SmallNetwork(1), seed));
  }
  EXPECT_EQ(small_->net->wait(instance), HONE_NET_OK);
  for (const cl_mem memory : {in, out}) cl.clReleaseMemObject(memory);
  cl.clReleaseCommandQueue(queue);
}

TEST_F(OpenClLibrary, ProfilesEveryLayer) {
  std::vector<double> seconds(static_cast<size_t>(small_->net->info().layer_count), -1);
  RunAndCompare(*small_, SmallNetwork(1), Create(*small_), 7, seconds.data());
  for (const double s : seconds) EXPECT_GT(s, 0);
}

TEST_F(OpenClLibrary, InstancesRunInTheirThreads) {
  InTwoThreads([](uint64_t thread) {
    const Instance instance = Create(*small_);
    for (uint64_t i = 0; i < 3; ++i) RunAndCompare(*small_, SmallNetwork(1), instance, 10 * thread + i);
  });
}

TEST_F(OpenClLibrary, RefusesWhatItCannotDo) {
  const std::string params = small_->folder.ParamsPath();
  Instance(*small_->net, params, {.device = 99}, HONE_NET_E_DEVICE);
  EXPECT_THAT(std::string(small_->net->error_detail()), HasSubstr("no OpenCL device 99"));
  const HoneNetOptions odd{.params_path = params.c_str(), .device_options = "-no-such-option-of-a-compiler"};
  HoneNet* instance = nullptr;
  EXPECT_NE(small_->net->create(&odd, &instance), HONE_NET_OK);
  EXPECT_STRNE(small_->net->error_detail(), "");
  Instance(*small_->net, "/no/such/file", {}, HONE_NET_E_PARAMS_OPEN);
  char workspace[64];
  Instance(*small_->net, "/no/such/file", {.workspace = workspace}, HONE_NET_E_WORKSPACE);
  EXPECT_EQ(small_->net->run_device(nullptr, nullptr, nullptr, nullptr), HONE_NET_E_ARGUMENT);
  EXPECT_EQ(small_->net->run(nullptr, nullptr, nullptr), HONE_NET_E_ARGUMENT);
}

TEST_F(OpenClLibrary, TheSameInputGivesTheSameBytes) {
  ExpectSameBytes(Must(BuildLibrary(OpenClInput(SmallNetwork(1)))), small_->library);
}

// Weights packed on the device are stored unpacked: the library has the parameters of the graph and nothing else.
TEST_F(OpenClLibrary, ParametersAreNotPacked) {
  int64_t bytes = 0;
  graph::Graph graph = SmallNetwork(1);
  for (const graph::Parameter& p : graph.parameters) bytes += p.type.Elements() * 4;
  EXPECT_LT(small_->library.params_bytes, bytes + 8192);
}

// The threads of the driver do not exist in the child.
TEST_F(OpenClLibrary, AForkedChildIsToldAndDoesNotHang) {
  const Instance instance = Create(*small_);
  const int status = InChild([&] {
    alarm(60);
    std::vector<float> in(3 * 13 * 13), out(5);
    const void* inputs[] = {in.data()};
    void* outputs[] = {out.data()};
    const int code = small_->net->run(instance, inputs, outputs);
    small_->net->destroy(instance);
    return code;
  });
  EXPECT_TRUE(ExitedWith(status, HONE_NET_E_FORKED)) << status;
  RunAndCompare(*small_, SmallNetwork(1), instance, 10);
}

}  // namespace
}  // namespace hone::library

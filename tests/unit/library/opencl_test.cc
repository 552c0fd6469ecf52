// Libraries for OpenCL, whole: built, loaded and run on whatever device there is (PoCL's CPU in `make check`).
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "library/runtime/net_device.h"
#include "runtime/opencl/opencl_device.h"
#include "small_network.h"

namespace hone::library {
namespace {

Target OpenClTarget() {
  auto target = Target::Parse(
      "opencl -threads=256 -block=256x256x64 -grid=2147483647x65535x65535 -shared=32768 -registers=65536 "
      "-thread-registers=255 -warp=32 -vector=16 -multiprocessors=8");
  EXPECT_TRUE(target.ok()) << target.status().message();
  return *target;
}

// Concatenated slices, a softmax, several outputs and inputs: what SmallNetwork has not.
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
  int (*run_device)(HoneNet*, void* const*, void* const*) = nullptr;
};

Result<std::unique_ptr<Built>> Build(const graph::Graph& graph) {
  auto built = std::make_unique<Built>();
  BuildInput input;
  input.graph = graph;
  input.target = OpenClTarget();
  input.name = graph.name;
  input.threads = 2;
  HONE_ASSIGN_OR_RETURN(built->library, BuildLibrary(std::move(input)));
  HONE_RETURN_IF_ERROR(WriteLibrary(built->library, built->dir.path()));
  HONE_ASSIGN_OR_RETURN(built->folder, ReadLibraryFolder(built->dir.path()));
  HONE_ASSIGN_OR_RETURN(LoadedNetwork net, LoadedNetwork::Load(built->folder.LibraryPath(), built->folder.identifier));
  built->net = std::make_unique<LoadedNetwork>(std::move(net));
  return built;
}

class OpenClLibrary : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("POCL_KERNEL_CACHE", "0", 0);
    if (auto info = runtime::DescribeOpenClDevice(); !info.ok()) {
      missing_ = new std::string(info.status().message());
      return;
    }
    auto built = Build(SmallNetwork(1));
    ASSERT_TRUE(built.ok()) << built.status().message();
    small_ = built->release();
  }
  static void TearDownTestSuite() { delete small_; }
  void SetUp() override {
    if (missing_) GTEST_SKIP() << *missing_;
    ASSERT_NE(small_, nullptr);
  }

  static HoneNet* Create(const Built& built, HoneNetOptions options = {}) {
    const std::string params = built.folder.ParamsPath();
    options.params_path = params.c_str();
    HoneNet* instance = nullptr;
    const int code = built.net->create(&options, &instance);
    EXPECT_EQ(code, HONE_NET_OK) << built.net->strerror(code);
    return instance;
  }

  // Runs with inputs of `seed` and compares every output.
  static void RunAndCompare(const Built& built, const graph::Graph& graph, HoneNet* instance, uint64_t seed,
                            double* seconds = nullptr) {
    std::map<std::string, std::vector<float>> named;
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
    auto values = graph::MakeParameters(graph, nullptr);
    auto expected = graph::RunReference(graph, *values, named, 1);
    for (size_t o = 0; o < graph.outputs.size(); ++o) {
      const std::vector<double>& want = expected->at(graph.outputs[o]);
      double scale = 0;
      for (double x : want) scale = std::max(scale, std::abs(x));
      for (size_t i = 0; i < want.size(); ++i)
        ASSERT_NEAR(out[o][i], want[i], 2e-5 * scale) << graph.outputs[o] << " " << i;
    }
  }

  static Built* small_;
  static std::string* missing_;
};
Built* OpenClLibrary::small_ = nullptr;
std::string* OpenClLibrary::missing_ = nullptr;

TEST_F(OpenClLibrary, ComputesWhatTheGraphMeans) {
  HoneNet* instance = Create(*small_);
  for (uint64_t seed : {1, 2}) RunAndCompare(*small_, SmallNetwork(1), instance, seed);
  small_->net->destroy(instance);
}

}  // namespace
}  // namespace hone::library

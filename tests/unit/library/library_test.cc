#include <sys/stat.h>

#include <chrono>

#include "base/cpu.h"
#include "graph/graph.h"
#include "library/runtime/params_format.h"
#include "library/tables.h"
#include "runtime/host/buffer.h"
#include "small_network.h"

namespace hone::library {
namespace {

// One build serves all tests in this file.
class Library : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_.emplace(Must(TempDir::Create()));
    built_.emplace(Must(BuildLibrary(HostInput(SmallNetwork(2), "small-net"))));
    Must(WriteLibrary(*built_, dir_->path()));
    folder_.emplace(Must(ReadLibraryFolder(dir_->path())));
    net_.emplace(Must(LoadedNetwork::Load(folder_->LibraryPath(), folder_->identifier)));
  }
  static void TearDownTestSuite() {
    net_.reset();
    dir_.reset();
  }
  void SetUp() override { ASSERT_TRUE(net_.has_value()); }

  // Uses the folder's parameters.
  static Instance Create(int threads = 0) { return {*net_, folder_->ParamsPath(), {.threads = threads}}; }

  // Runs once with inputs of `seed`, `shift` bytes off alignment.
  static void RunAndCompare(HoneNet* instance, uint64_t seed, int shift) {
    graph::Graph graph = SmallNetwork(2);
    const std::vector<float> data = RandomValues(graph.inputs[0].type.Elements(), seed);
    auto in = runtime::AlignedBuffer::Create(static_cast<int64_t>(data.size()) * 4 + 64);
    auto out = runtime::AlignedBuffer::Create(10 * 4 + 64);
    std::memcpy(in->data() + shift, data.data(), data.size() * 4);
    const void* inputs[] = {in->data() + shift};
    void* outputs[] = {out->data() + shift};
    ASSERT_EQ(net_->run(instance, inputs, outputs), HONE_NET_OK);
    ExpectClose(reinterpret_cast<float*>(out->data() + shift), Expected(graph, seed));
  }

  // The result of create for a parameter file with these bytes.
  void CreateWith(const std::string& bytes, int code) const {
    const std::string path = dir_->Join("changed.params");
    Must(WriteFileAtomic(path, bytes));
    Instance(*net_, path, {}, code);
  }

  static inline std::optional<TempDir> dir_;
  static inline std::optional<BuiltLibrary> built_;
  static inline std::optional<LibraryFolder> folder_;
  static inline std::optional<LoadedNetwork> net_;
};

TEST_F(Library, ComputesWhatTheGraphMeans) {
  for (int threads : {1, 2, 3}) {
    const Instance instance = Create(threads);
    for (uint64_t seed : {1, 2}) RunAndCompare(instance, seed, 0);
    RunAndCompare(instance, 3, 4);  // not aligned: copied
  }
}

// A joined thread stays in the list for a moment.
void ExpectThreads(size_t count) {
  for (int i = 0; i < 500 && ListDir("/proc/self/task")->size() != count; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(ListDir("/proc/self/task")->size(), count);
}

TEST_F(Library, OneThreadIsTheCallersAlone) {
  ExpectThreads(1);
  for (const int threads : {1, 2, 4, 0}) {
    const size_t expected = threads == 0 ? 2 : static_cast<size_t>(threads);  // 0: as the kernels were tuned
    {
      const Instance instance = Create(threads);
      ExpectThreads(expected);
      RunAndCompare(instance, 5, 0);
      ExpectThreads(expected);
    }
    ExpectThreads(1);
  }
}

TEST_F(Library, DescribesItself) {
  const HoneNetInfo& info = net_->info();
  EXPECT_EQ(info.abi_version, HONE_NET_ABI_VERSION);
  EXPECT_STREQ(info.network, "small");
  ASSERT_EQ(info.input_count, 1);
  ASSERT_EQ(info.output_count, 1);
  EXPECT_STREQ(info.inputs[0].name, "data");
  EXPECT_STREQ(info.inputs[0].type, "f32");
  EXPECT_EQ(std::vector<int64_t>(info.inputs[0].shape, info.inputs[0].shape + info.inputs[0].rank),
            (std::vector<int64_t>{2, 3, 13, 13}));
  EXPECT_EQ(info.inputs[0].bytes, 2u * 3 * 13 * 13 * 4);
  EXPECT_EQ(info.outputs[0].bytes, 2u * 5 * 4);
  // conv, conv, conv with the addition, pooling, global pooling, flatten, dense.
  ASSERT_EQ(info.layer_count, 7);
  EXPECT_STREQ(info.layers[6].name, "fc");
  EXPECT_EQ(info.target, folder_->target);
  EXPECT_EQ(info.digest, folder_->params_digest);
  EXPECT_EQ(info.layers[1].flop, 2.0 * 2 * 17 * 13 * 13 * 17 * 9 + 2.0 * 2 * 17 * 13 * 13);  // with bias and relu
}

TEST_F(Library, InstancesAreIndependent) {
  InTwoThreads([](uint64_t thread) {
    const Instance instance = Create();
    for (uint64_t i = 0; i < 10; ++i) RunAndCompare(instance, 10 * thread + i, 0);
  });
}

TEST_F(Library, TakesTheCallersMemory) {
  std::string bytes = *ReadFile(folder_->ParamsPath());
  auto aligned = runtime::AlignedBuffer::Create(static_cast<int64_t>(bytes.size()) + 64);
  auto workspace = runtime::AlignedBuffer::Create(static_cast<int64_t>(net_->workspace_size()), true);
  EXPECT_EQ(static_cast<int64_t>(net_->workspace_size()), built_->workspace_bytes);
  for (int shift : {0, 8}) {
    std::memcpy(aligned->data() + shift, bytes.data(), bytes.size());
    HoneNetOptions options{.params_data = aligned->data() + shift,
                           .params_size = bytes.size(),
                           .workspace = workspace->data(),
                           .workspace_size = net_->workspace_size()};
    RunAndCompare(Instance(*net_, "", options), 4, 0);
    // The copy of the output, for buffers that are not aligned, is at the end.
    const char& copy = workspace->data()[net_->workspace_size() - 64];
    std::memset(workspace->data(), 0x55, net_->workspace_size());
    const Instance instance(*net_, "", options);
    RunAndCompare(instance, 4, 0);
    EXPECT_EQ(copy, 0x55) << "aligned buffers are used in place";
    RunAndCompare(instance, 4, 4);
    EXPECT_NE(copy, 0x55);
    options.workspace_size -= 1;
    Instance(*net_, "", options, HONE_NET_E_WORKSPACE);
  }
}

TEST_F(Library, EachWrongParameterFileHasItsMessage) {
  const std::string good = *ReadFile(folder_->ParamsPath());
  CreateWith(good, HONE_NET_OK);
  CreateWith("", HONE_NET_E_PARAMS_FORMAT);
  CreateWith("no such thing as a parameter file", HONE_NET_E_PARAMS_FORMAT);
  CreateWith(good.substr(0, 40), HONE_NET_E_PARAMS_TRUNCATED);
  CreateWith(good.substr(0, good.size() - 1), HONE_NET_E_PARAMS_TRUNCATED);
  CreateWith(good + "x", HONE_NET_E_PARAMS_DAMAGED);
  std::string changed = good;
  changed[offsetof(HoneParamsHeader, version)] = 2;
  CreateWith(changed, HONE_NET_E_PARAMS_VERSION);
  changed = good;
  changed[sizeof(HoneParamsHeader) + 3] ^= 1;
  CreateWith(changed, HONE_NET_E_PARAMS_DAMAGED);
  changed = good;
  changed[offsetof(HoneParamsHeader, digest)] ^= 1;
  CreateWith(changed, HONE_NET_E_PARAMS_OTHER);
  Instance(*net_, "", {}, HONE_NET_E_ARGUMENT);
  const TempDir dir = Must(TempDir::Create());
  ASSERT_EQ(mkfifo(dir.Join("pipe").c_str(), 0600), 0);
  for (const std::string& path : {std::string("/no/such/file"), std::string("/"), dir.Join("pipe")}) {
    Instance(*net_, path, {}, HONE_NET_E_PARAMS_OPEN);
  }
  std::vector<std::string> messages;
  for (int code = HONE_NET_OK; code <= HONE_NET_E_FORKED + 1; ++code) {
    for (const std::string& other : messages) EXPECT_NE(other, net_->strerror(code));
    messages.emplace_back(net_->strerror(code));
  }
}

TEST_F(Library, WrongArgumentsAreCodes) {
  const std::string path = folder_->ParamsPath();
  const HoneNetOptions options{.params_path = path.c_str()};
  HoneNet* none = nullptr;
  EXPECT_EQ(net_->create(&options, nullptr), HONE_NET_E_ARGUMENT);
  EXPECT_EQ(net_->create(nullptr, &none), HONE_NET_E_ARGUMENT);
  for (const int threads : {-1, 1025}) Instance(*net_, path, {.threads = threads}, HONE_NET_E_ARGUMENT);
  const Instance instance = Create(1);
  const void* in[] = {nullptr};
  void* out[] = {nullptr};
  EXPECT_EQ(net_->run(instance, in, out), HONE_NET_E_ARGUMENT);
  EXPECT_EQ(net_->run(nullptr, in, out), HONE_NET_E_ARGUMENT);
  net_->destroy(nullptr);
}

TEST_F(Library, ProfileTimesEveryLayer) {
  const Instance instance = Create();
  std::vector<float> data(2 * 3 * 13 * 13), out(10);
  const void* in[] = {data.data()};
  void* result[] = {out.data()};
  std::vector<double> seconds(8, -1);
  EXPECT_EQ(net_->profile_run(instance, in, result, seconds.data()), HONE_NET_OK);
  for (int i = 0; i < 7; ++i) EXPECT_GE(seconds[static_cast<size_t>(i)], 0);
  EXPECT_EQ(seconds[7], -1);
}

TEST_F(Library, SameInputSameBytes) {
  BuildInput input = HostInput(SmallNetwork(2), "small-net");
  input.target = *Target::Parse(net_->info().target);
  input.threads = 1;
  ExpectSameBytes(Must(BuildLibrary(std::move(input))), *built_);
}

TEST_F(Library, RefusesBestConfigurationsOfSomethingElse) {
  const std::string own = net_->info().target;
  for (const auto& [network, target] : {std::pair("small", std::string("cpu of another kind")), {"large", own}}) {
    pipeline::BestFile best{.network = network, .target = target};
    BuildInput input = HostInput(SmallNetwork(2), "");
    input.target = *Target::Parse(own);
    input.best = &best;
    EXPECT_EQ(BuildLibrary(std::move(input)).status().kind(), StatusKind::kInvalid) << network;
  }
}

// Operators that the residual network lacks: the plain input read by other operators than convolutions, outputs of four
// dimensions, two outputs, two inputs, separate elementwise operators, a softmax.
TEST(WholeNetwork, OtherOperatorsAgreeWithTheReference) {
  const char* const text = R"json({"version": 1, "name": "other", "seed": 3,
    "inputs": [{"name": "a", "shape": [1,5,9,7]}, {"name": "b", "shape": [1,5,9,7]}], "outputs": ["cat", "prob"],
    "parameters": [{"name": "w", "shape": [18,5,3,3], "init": "he", "fan_in": 45},
      {"name": "g", "shape": [6,1,3,3], "init": "he", "fan_in": 9},
      {"name": "w6", "shape": [6,5,1,1], "init": "he", "fan_in": 5},
      {"name": "fc.w", "shape": [11,24], "init": "he", "fan_in": 24},
      {"name": "bias", "shape": [11], "init": "uniform", "low": -1, "high": 1}],
    "nodes": [{"name": "sum", "workload": "add(f32[1,5,9,7], f32[1,5,9,7])", "inputs": ["a", "b"]},
      {"name": "act", "workload": "relu6(f32[1,5,9,7]) + clip(-0.5,0.75)", "inputs": ["sum"]},
      {"name": "big", "workload": "pad2d(f32[1,5,9,7], pad=1,2,0,1)", "inputs": ["act"]},
      {"name": "conv", "workload": "conv2d(f32[1,5,10,10], f32[18,5,3,3], stride=2x2, dilation=2x1)",
       "inputs": ["big", "w"]},
      {"name": "mean", "workload": "avg_pool2d(f32[1,18,3,4], kernel=2x2, pad=1,0,0,0)", "inputs": ["conv"]},
      {"name": "top", "workload": "max_pool2d(f32[1,18,3,4], kernel=2x2, pad=1,0,0,0)", "inputs": ["conv"]},
      {"name": "gate", "workload": "sigmoid(f32[1,18,3,3])", "inputs": ["mean"]},
      {"name": "mix", "workload": "mul(f32[1,18,3,3], f32[1,18,3,3])", "inputs": ["gate", "top"]},
      {"name": "grouped.in", "workload": "conv2d(f32[1,5,9,7], f32[18,5,3,3], pad=1,1,1,1)", "inputs": ["b", "w"]},
      {"name": "slim", "workload": "max_pool2d(f32[1,18,9,7], kernel=5x3, stride=3x2)", "inputs": ["grouped.in"]},
      {"name": "small", "workload": "avg_pool2d(f32[1,18,2,3], kernel=1x1, stride=2x1)", "inputs": ["slim"]},
      {"name": "cat", "workload": "concat(f32[1,18,3,3], f32[1,18,3,3])", "inputs": ["mix", "top"]},
      {"name": "one", "workload": "global_avg_pool(f32[1,18,3,3])", "inputs": ["mix"]},
      {"name": "dw", "workload": "conv2d(f32[1,6,9,9], f32[6,1,3,3], groups=6)", "inputs": ["c6", "g"]},
      {"name": "c6", "workload": "conv2d(f32[1,5,9,7], f32[6,5,1,1], pad=0,1,0,1)", "inputs": ["a", "w6"]},
      {"name": "dw1", "workload": "global_avg_pool(f32[1,6,7,7])", "inputs": ["dw"]},
      {"name": "both", "workload": "concat(f32[1,18,1,1], f32[1,6,1,1])", "inputs": ["one", "dw1"]},
      {"name": "flat", "workload": "flatten(f32[1,24,1,1])", "inputs": ["both"]},
      {"name": "fc", "workload": "dense(f32[1,24], f32[11,24]) + bias", "inputs": ["flat", "fc.w", "bias"]},
      {"name": "squash", "workload": "tanh(f32[1,11])", "inputs": ["fc"]},
      {"name": "prob", "workload": "softmax(f32[1,11])", "inputs": ["squash"]}]})json";
  ExpectAgreement(Must(graph::ParseGraph(text, "other.json")), 1e-5);
}

// Alternating blocked and plain operators, parameters as operands of any kind, scalars, five axes, a batch norm alone.
TEST(WholeNetwork, PlainOperatorsAndParametersAgreeWithTheReference) {
  const char* const text = R"json({"version": 1, "name": "other", "seed": 3,
    "inputs": [{"name": "a", "shape": [1,18,6,5]}, {"name": "v", "shape": [1,3,4,6,6]}], "outputs": ["t", "p3", "s"],
    "parameters": [{"name": "w", "shape": [17,18,1,1], "init": "he", "fan_in": 18},
      {"name": "w3", "shape": [20,3,3,3,3], "init": "he", "fan_in": 81},
      {"name": "gate", "shape": [1,17,6,5], "init": "uniform", "low": -1, "high": 1},
      {"name": "slope", "shape": [17,1,1], "init": "uniform", "low": 0, "high": 1},
      {"name": "half", "shape": [], "init": "constant", "value": 0.5},
      {"name": "one", "shape": [17], "init": "uniform", "low": 0.5, "high": 1},
      {"name": "m", "shape": [5,7], "init": "uniform", "low": -1, "high": 1}],
    "nodes": [{"name": "c", "workload": "conv2d(f32[1,18,6,5], f32[17,18,1,1])", "inputs": ["a", "w"]},
      {"name": "g", "workload": "mul(f32[1,17,6,5], f32[1,17,6,5])", "inputs": ["c", "gate"]},
      {"name": "p", "workload": "prelu(f32[1,17,6,5], f32[17,1,1])", "inputs": ["g", "slope"]},
      {"name": "h", "workload": "sub(f32[], f32[1,17,6,5])", "inputs": ["half", "p"]},
      {"name": "n", "workload": "batch_norm(f32[1,17,6,5], f32[17], f32[17], f32[17], f32[17], epsilon=0.1)",
       "inputs": ["h", "one", "one", "one", "one"]},
      {"name": "mm", "workload": "matmul(f32[1,17,6,5], f32[5,7])", "inputs": ["n", "m"]},
      {"name": "e", "workload": "exp(f32[1,17,6,7])", "inputs": ["mm"]},
      {"name": "q", "workload": "max_pool2d(f32[1,17,6,7], kernel=2x2, stride=2x2)", "inputs": ["e"]},
      {"name": "t", "workload": "transpose(f32[1,17,3,3], perm=0,2,3,1)", "inputs": ["q"]},
      {"name": "c3", "workload": "conv3d(f32[1,3,4,6,6], f32[20,3,3,3,3], pad=1,1,1,1,1,1)", "inputs": ["v", "w3"]},
      {"name": "r3", "workload": "relu(f32[1,20,4,6,6])", "inputs": ["c3"]},
      {"name": "p3", "workload": "avg_pool3d(f32[1,20,4,6,6], kernel=2x2x2, stride=2x2x2)", "inputs": ["r3"]},
      {"name": "s", "workload": "reduce_mean(f32[1,20,2,3,3])", "inputs": ["p3"]}]})json";
  ExpectAgreement(Must(graph::ParseGraph(text, "other.json")), 1e-5);
}

// Checked before any such instruction runs: an error code instead of SIGILL.
TEST(WholeNetwork, IsRefusedOnACpuThatLacksAFeature) {
  BuildInput input = HostInput(SmallNetwork(1), "small");
  const std::vector<std::string> has = Must(DetectCpu()).features;  // by the kernel, not by the library's own check
  std::string lacking;  // preferably one that does not change the code of any kernel here
  for (const auto& [kernel, name] : {std::pair("amx_int8", "amx-int8"),
                                     {"avx512_fp16", "avx512fp16"},
                                     {"avx_vnni", "avxvnni"},
                                     {"avx2", "avx2"},
                                     {"fma", "fma"}}) {
    if (lacking.empty() && !std::binary_search(has.begin(), has.end(), std::string(kernel))) lacking = name;
  }
  if (lacking.empty()) GTEST_SKIP() << "this CPU has every feature that could be asked for";
  input.target.features.push_back(lacking);
  std::sort(input.target.features.begin(), input.target.features.end());
  TempDir dir = *TempDir::Create();
  Must(WriteLibrary(Must(BuildLibrary(std::move(input))), dir.path()));
  TimeRequest request{.dir = dir.path()};
  EXPECT_THAT(TimeNetwork(request).status().message(), HasSubstr("lacks instructions"));
}

TEST(TimeNetwork, APaceRunsInTurnsAndAsOften) {
  graph::NetworkBuilder net("tiny", 3);
  const graph::Graph graph = net.Finish({net.Relu("r", net.Input("a", {1, 5, 9, 7}))});
  TempDir dir = *TempDir::Create();
  for (const char* name : {"one", "other"}) {
    Must(WriteLibrary(Must(BuildLibrary(HostInput(graph, "other"))), dir.Join(name)));
  }
  TimeRequest request{.dir = dir.Join("one"), .iterations = 9};
  EXPECT_TRUE(TimeNetwork(request)->pace.empty());
  // Another library, and this one again: turns of four until there are nine runs.
  for (const std::string& pace : {dir.Join("other"), dir.Join("one")}) {
    request.pace = pace;
    const auto reply = Must(TimeNetwork(request));
    EXPECT_EQ(reply.samples.size(), 12u);
    EXPECT_EQ(reply.pace.size(), 12u);
    EXPECT_EQ(Must(ParseReply(ReplyText(reply))).pace.size(), 12u);
  }
  request.pace = dir.Join("none");
  EXPECT_EQ(TimeNetwork(request).status().kind(), StatusKind::kNotFound);
}

TEST(LibraryFolder, SaysWhatIsMissing) {
  EXPECT_THAT(ReadLibraryFolder("/no/such/folder").status().message(), HasSubstr("hone-build"));
}

}  // namespace
}  // namespace hone::library

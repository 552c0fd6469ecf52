// hone-quantise: what it writes, that other tools read it, and what it refuses.
#include "base/rng.h"
#include "base/text.h"
#include "command/quantise/observe.h"
#include "command/quantise/quality.h"
#include "graph/graph.h"
#include "graph/network_builder.h"
#include "onnx/import.h"
#include "quantise/samples.h"
#include "semantics/semantics.h"
#include "test_folder.h"

namespace hone {
namespace {

// A residual block, two branches, a pool, and a classifier.
graph::Graph Small() {
  graph::NetworkBuilder net("small", 3);
  std::string x = net.Relu("stem.relu", net.ConvBn("stem", net.Input("data", {1, 3, 8, 8}), 8, {{3}, {1}, {1}}));
  x = net.Relu("block", net.Add("sum", net.ConvBn("side", x, 8, {{3}, {1}, {1}}), x));
  const std::string a = net.Relu("a.relu", net.ConvBn("a", x, 4, {}));
  x = net.MaxPool("pool", net.Concat("joined", {a, net.Relu("b.relu", net.ConvBn("b", x, 6, {}))}), {{2}, {2}, {0}});
  x = net.Unary("gap", "global_avg_pool", net.Relu("last.relu", net.ConvBn("last", x, 5, {})));
  return net.Finish({net.Dense("fc", net.Unary("flat", "flatten", x), 7)});
}

std::vector<float> Values(int64_t count, uint64_t seed = 1) {
  Rng rng(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = static_cast<float>(rng.UniformDouble() * 2 - 1);
  return values;
}

class QuantiseTool : public TestFolder {
 protected:
  QuantiseTool() {
    Write("net.json", graph::GraphText(Small()));
    Write("cpu.json", "{\"kind\": \"cpu\"}");
    Write("data.npy", quantise::NpyText({4, 3, 8, 8}, Values(4 * 192)));
  }
  static std::string Tool(const std::string& name) { return std::string(HONE_TOOLS) + "/" + name; }
  CommandResult Quantise(const Words& more, const std::string& to = "q", const std::string& network = "net.json") {
    return Run(Words{Tool("hone-quantise"), "--network", network, "--target", "cpu.json", "--graph",
                     to + "/net.graph.json", "--parameters", to + "/net.params", "--report", to + "/report.json"} +
               more);
  }
  command::QuantiseReport Report(const std::string& to = "q") const {
    return Must(command::ParseQuantiseReport(Read(to + "/report.json"), "report.json"));
  }
  void ExpectSameBytes();
  std::vector<std::string> Workloads(const graph::Graph& graph) {
    std::vector<std::string> texts;
    for (const graph::Node& node : graph.nodes) texts.push_back(semantics::Canonical(node.workload).Text());
    std::ranges::sort(texts);
    return texts;
  }
};

TEST_F(QuantiseTool, MakesALibraryOfIntegers) {
  const CommandResult made = ExpectOk(Quantise({"--data", "data.npy", "--onnx", "q/net.onnx"}));
  EXPECT_EQ(made.err, "");
  ExpectHas(made.out, {"small: 6 of 6 layers with integers; affine, max, 4 calibration inputs of data.npy",
                       "first class agrees in ", "stem.relu ", "conv2d(f32[1,3,8,8], f32[8,3,3,3], pad=1,1,1,1)"});
  const graph::Graph graph = Must(graph::ReadGraph(Path("q/net.graph.json"), nullptr));
  EXPECT_EQ(graph.name, "small-int8");
  EXPECT_EQ(graph.FindNode("block.bytes")->workload.Text(),
            "conv2d(u8[1,8,8,8], i8[8,8,3,3], u8[1], pad=1,1,1,1) + bias + add(u8) + requant(u8)");
  const command::QuantiseReport report = Report();
  EXPECT_EQ(report.samples, 4);
  EXPECT_EQ(report.rows, 4);
  EXPECT_EQ(report.nodes.size(), 6U);
  EXPECT_GT(*report.decibels, 30);
  for (const command::LayerQuality& layer : report.nodes) {
    EXPECT_GT(*layer.decibels, 28) << layer.node;
    EXPECT_EQ(layer.clipped, 0) << layer.node;  // the method max
  }
  ExpectOk(Run({Tool("hone-build"), "--graph", "q/net.graph.json", "--parameter-file", "q/net.params", "--target",
                "cpu.json", "--untuned", "--out", "lib"}));
  EXPECT_TRUE(Has("lib/libnet.so"));
  // The model for other engines becomes the same operators.
  const onnx::ImportedModel back = Must(onnx::ReadOnnx(Path("q/net.onnx"), {}));
  EXPECT_EQ(Workloads(back.graph), Workloads(graph));
}

// Every tensor of bytes has the same values whatever the instructions, width of vectors, layout and number of threads.
// Behind `gap` they are made of computed floats.
TEST_F(QuantiseTool, LibrariesForAllTargetsGiveTheSameBytes) {
  for (const char* scheme : {"affine", "power2"}) {
    ExpectOk(Quantise({"--data", "data.npy", "--scheme", scheme}));
    ExpectSameBytes();
  }
}

void QuantiseTool::ExpectSameBytes() {
  graph::Graph graph = Must(graph::ReadGraph(Path("q/net.graph.json"), nullptr));
  const auto values = Must(graph::ParseParameterFile(Read("q/net.params"), "net.params"));
  std::vector<std::string> observed;
  for (const graph::Node& node : graph.nodes) {
    if (!node.output.type.is_float() && node.name.find("gap") == std::string::npos && node.name != "fc.sums" &&
        node.name.find("flat") == std::string::npos) {
      observed.push_back(node.name);
    }
  }
  EXPECT_GE(observed.size(), 8U);
  std::map<std::string, TensorData> first;
  for (const char* text : {"-cpu=x86-64 -vector=16 -threads=1", "-cpu=x86-64-v2 -vector=16 -threads=2",
                           "-cpu=x86-64-v3 -vector=32 -threads=3", "-cpu=x86-64-v3 -vector=16 -threads=2"}) {
    const Target target = Must(Target::Parse(std::string("cpu -triple=x86_64-unknown-linux-gnu ") + text));
    for (const Layout layout : {Layout::kBlocked, Layout::kPlain}) {
      graph.layout = layout;
      auto network = Must(command::ObservedNetwork::Build(graph, values, observed, target));
      const auto found = Must(network.Run({TensorData({DType::Float(32), {1, 3, 8, 8}}, [] {
        const std::vector<float> floats = Values(192, 5);
        return std::vector<double>(floats.begin(), floats.end());
      }())}));
      if (first.empty()) first = found;
      for (const std::string& tensor : observed) EXPECT_EQ(found.at(tensor), first.at(tensor)) << tensor << " " << text;
    }
  }
}

TEST_F(QuantiseTool, TheSameInputsGiveTheSameBytes) {
  const Words flags = {"--data", "data.npy", "--method", "kl"};
  ExpectOk(Quantise(flags + Words{"--onnx", "q/net.onnx"}, "q"));
  ExpectOk(Quantise(flags + Words{"--onnx", "r/net.onnx"}, "r"));
  for (const char* file : {"net.graph.json", "net.params", "net.onnx", "report.json"}) {
    EXPECT_EQ(Read(std::string("q/") + file), Read(std::string("r/") + file)) << file;
  }
}

TEST_F(QuantiseTool, AFolderOfFilesIsTheSameData) {
  const std::vector<float> all = Values(4 * 192);
  for (size_t i = 0; i < 4; ++i) {
    const std::vector<float> one(all.begin() + static_cast<ptrdiff_t>(i) * 192,
                                 all.begin() + static_cast<ptrdiff_t>(i + 1) * 192);
    const std::string raw(reinterpret_cast<const char*>(one.data()), one.size() * 4);
    Write("data/" + std::to_string(i), i % 2 ? raw : quantise::NpyText({3, 8, 8}, one));
  }
  ExpectOk(Quantise({"--data", "data.npy"}, "q"));
  ExpectOk(Quantise({"--data", "data"}, "r"));
  EXPECT_EQ(Read("q/net.params"), Read("r/net.params"));
  ExpectOk(Quantise({"--data", "data", "--samples", "2"}, "r"));
  EXPECT_EQ(Report("r").samples, 2);
}

TEST_F(QuantiseTool, SchemesMethodsAndKeptNodes) {
  for (const auto& [scheme, epilogue] : {std::pair("symmetric", "requant(i8)"), {"power2", "shift(i8)"}}) {
    ExpectOk(Quantise({"--data", "data.npy", "--scheme", scheme, "--per-tensor", "--no-bias-correction"}, scheme));
    const graph::Graph graph = Must(graph::ReadGraph(Path(std::string(scheme) + "/net.graph.json"), nullptr));
    EXPECT_EQ(graph.FindNode("block.bytes")->workload.Text(),
              std::string("conv2d(i8[1,8,8,8], i8[8,8,3,3], i8[1], pad=1,1,1,1) + bias + add(i8) + ") + epilogue);
    EXPECT_GT(*Report(scheme).decibels, 18);
  }
  const auto values = Must(graph::ParseParameterFile(Read("power2/net.params"), "net.params"));
  int exponent = 0;
  EXPECT_EQ(std::frexp(values.at("data.scale").as<float>()[0], &exponent), 0.5F);

  ExpectOk(Quantise({"--data", "data.npy", "--method", "percentile", "--percentile", "90"}, "p"));
  EXPECT_GT(Report("p").nodes[0].clipped, 0.01);
  // `b` was fused into b.relu.
  ExpectOk(Quantise({"--data", "data.npy", "--keep", "b", "--keep", "fc"}, "k"));
  EXPECT_EQ(Report("k").integer_layers, 4);
  const graph::Graph kept = Must(graph::ReadGraph(Path("k/net.graph.json"), nullptr));
  EXPECT_EQ(kept.FindNode("fc")->workload.Text(), "dense(f32[1,5], f32[7,5]) + bias");
}

TEST_F(QuantiseTool, WithoutDataItWarns) {
  const CommandResult made = ExpectOk(Quantise({}));
  ExpectHas(made.err, {"small: no calibration data: seeded inputs are used, so the accuracy means nothing"});
  EXPECT_EQ(Report().samples, quantise::kSeededSamples);
}

TEST_F(QuantiseTool, SeveralInputsHaveAFileEach) {
  graph::NetworkBuilder net("two", 3);
  const std::string a = net.Input("a", {1, 4}), b = net.Input("b", {1, 4});
  Write("two.json", graph::GraphText(net.Finish({net.Add("sum", net.Dense("x", a, 3), net.Dense("y", b, 3))})));
  Write("data/a.npy", quantise::NpyText({2, 4}, Values(8)));
  ExpectRefused(Quantise({"--data", "data"}, "q", "two.json"), 1, {"data: no file b.npy, .bin or .raw"});
  Write("data/b.npy", quantise::NpyText({3, 4}, Values(12)));
  ExpectRefused(Quantise({"--data", "data"}, "q", "two.json"), 2, {"data: has 3 inputs for `b`, but 2 for `a`"});
  Write("data/b.npy", quantise::NpyText({2, 4}, Values(8, 2)));
  ExpectOk(Quantise({"--data", "data"}, "q", "two.json"));
  ExpectRefused(Quantise({"--data", "data/a.npy"}, "q", "two.json"), 2, {"the network has several inputs"});
}

TEST_F(QuantiseTool, MistakesAreOneLineAndWriteNothing) {
  std::vector<float> bad = Values(192);
  bad[100] = std::numeric_limits<float>::quiet_NaN();
  Write("nan.npy", quantise::NpyText({1, 3, 8, 8}, bad));
  Write("constant.npy", quantise::NpyText({1, 3, 8, 8}, std::vector<float>(192, 0.5F)));
  Write("other.npy", quantise::NpyText({8, 8, 3}, Values(192)));
  Write("short.bin", std::string(192 * 4 - 4, 'x'));
  Write("empty/.hidden", "");
  const std::vector<std::pair<Words, Words>> mistakes = {
      {{"--data", "missing"}, {"missing: no such file or folder with calibration inputs"}},
      {{"--data", "empty"}, {"empty: the folder has no calibration inputs"}},
      {{"--data", "short.bin"}, {"short.bin: has 764 bytes, which is not a multiple of the 768 bytes"}},
      {{"--data", "other.npy"}, {"other.npy: has the shape (8, 8, 3), but the network's input is f32[1,3,8,8]"}},
      {{"--data", "nan.npy"}, {"nan.npy: value 100 of input 0 is nan"}},
      {{"--data", "constant.npy"}, {"constant.npy: all values for `data` are 0.5"}},
      {{"--data", "data.npy", "--samples", "5"}, {"data.npy: has 4 inputs for `data`, but `samples` asks for 5"}},
      {{"--method", "percentle"}, {"--method: unknown method 'percentle'; did you mean `percentile`?"}},
      {{"--scheme", "afine"}, {"--scheme: unknown scheme 'afine'; did you mean `affine`?"}},
      {{"--percentile", "20"}, {"--percentile: must be above 50"}},
      {{"--keep", "a.rely"}, {"no node `a.rely` is in small; did you mean `a.relu`?"}},
  };
  EXPECT_THAT(Quantise({}, "q", "resnet-19").err, ::testing::HasSubstr("resnet-19"));
  for (const auto& [flags, parts] : mistakes) {
    const CommandResult result = Quantise(flags);
    EXPECT_NE(result.status.code, 0) << Join(flags, " ");
    ExpectHas(result.err, parts);
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
    EXPECT_FALSE(Has("q")) << Join(flags, " ");
  }
  ExpectOk(Quantise({"--data", "data.npy"}));
  ExpectRefused(Quantise({}, "r", "q/net.graph.json"), 1, {"comes from a parameter file"});
  ExpectRefused(Quantise({"--parameter-file", "q/net.params"}, "r", "q/net.graph.json"), 2,
                {"has quantised tensors already"});
}

TEST_F(QuantiseTool, AParameterFileOfOtherTypesIsRefused) {
  ExpectOk(Quantise({"--data", "data.npy"}));
  graph::Graph floats = Small();
  for (graph::Parameter& p : floats.parameters) p.init = {.kind = graph::InitKind::kFile};
  floats.parameters[0].name = "data.zero";  // an integer in the file
  floats.nodes[0].inputs[1] = "data.zero";
  Write("floats.json", graph::GraphText(floats));
  ExpectRefused(Quantise({"--parameter-file", "q/net.params"}, "r", "floats.json"), 2, {"data.zero", "u8[1]", "f32["});
}

}  // namespace
}  // namespace hone

// A network with quantised tensors as an ONNX model: the importer reads it back, and it computes the same.
#include "onnx/write_model.h"

#include "base/file.h"
#include "base/rng.h"
#include "common/expect.h"
#include "graph/network_builder.h"
#include "graph/reference.h"
#include "onnx/import.h"
#include "quantise/network.h"

namespace hone::onnx {
namespace {

using graph::NetworkBuilder;

// Every operator that the writer knows and that has choices: windows, axes, limits, epilogues.
graph::Graph Many() {
  NetworkBuilder net("many", 3);
  const auto reals = [](const char* name, double value) { return Attribute{name, {}, ',', std::to_string(value)}; };
  std::string x = net.Input("data", {2, 3, 9, 9});
  x = net.Op("six", "relu6", {net.Conv("c1", x, 8, {{3}, {2}, {1}}, {.bias = true})});
  x = net.Op("leaky", "leaky_relu", {net.Conv("c2", x, 8, {{3, 1}, {1}, {1, 0}}, {.groups = 2})},
             {reals("alpha", 0.3)});
  const std::string y = net.Unary("sig", "sigmoid", net.Conv("c3", x, 8, {}));
  x = net.Op("gate", "mul", {x, y});
  x = net.Relu("sum.relu", net.Add("sum", net.Conv("c4", x, 8, {{3}, {1}, {1}}), x));
  const std::string a = net.MaxPool("max", x, {{3}, {2}, {1}}, {.ceil_mode = true});
  const std::string b = net.AvgPool("avg", x, {{3}, {2}, {1}}, {.ceil_mode = true, .count_include_pad = true});
  x = net.Op("clipped", "clip", {net.Conv("c5", net.Concat("joined", {a, b}), 6, {})},
             {reals("low", -0.5), reals("high", 0.75)});
  x = net.Op("rows", "reshape", {x}, {{"shape", {2, 6, 9}}});
  x = net.Op("turned", "transpose", {x}, {{"perm", {0, 2, 1}}});
  const std::string gamma = net.Parameter("gamma", {6}, {.kind = graph::InitKind::kUniform, .low = 0.5, .high = 1.5});
  const std::string beta = net.Parameter("beta", {6}, {.kind = graph::InitKind::kUniform, .low = -1, .high = 1});
  x = net.Op("norm", "layer_norm", {x, gamma, beta}, {{"axis", {2}}});
  x = net.Unary("gelu", "gelu", x);
  x = net.Op("flat", "reshape", {x}, {{"shape", {2, 54}}});
  return net.Finish({net.Op("classes", "softmax", {net.Dense("fc", x, 7)}, {{"axis", {1}}})});
}

std::map<std::string, TensorData> Inputs(const graph::Graph& graph) {
  std::map<std::string, TensorData> inputs;
  Rng rng(1);
  for (const auto& input : graph.inputs) {
    TensorData& data = inputs[input.name] = TensorData(input.type);
    for (float& v : data.as<float>()) v = static_cast<float>(rng.UniformDouble() * 2 - 1);
  }
  return inputs;
}

quantise::Pairs QuantisedMany() {
  graph::Graph graph = Many();
  const graph::Graph original = graph;
  Must(quantise::NormaliseFloats(&graph));
  const quantise::Plan plan = Must(quantise::PlanFor(original, graph, {}));
  graph::ParameterValues values = Must(graph::MakeParameters(graph, nullptr));
  graph::Graph all = graph;
  for (const std::string& tensor : plan.Observed()) {
    if (all.FindInput(tensor) == nullptr) all.outputs.push_back(tensor);
  }
  auto seen = Must(graph::RunReference(all, values, Inputs(graph), 1));
  seen["data"] = Inputs(graph).at("data").Doubles();
  quantise::AllStatistics statistics;
  for (const std::string& tensor : plan.Observed()) {
    quantise::Statistics& s = statistics.emplace(tensor, *graph.FindType(tensor)).first->second;
    EXPECT_TRUE(s.AddValues(std::vector<float>(seen[tensor].begin(), seen[tensor].end())));
  }
  const quantise::TensorGrids grids = quantise::ChooseGrids(plan, statistics, {});
  return Must(quantise::MakePairs(std::move(graph), std::move(values), plan, grids, statistics, {}));
}

TEST(OnnxModel, ComputesWhatTheNetworkDoes) {
  quantise::Pairs pairs = QuantisedMany();
  const std::string bytes = Must(OnnxModel(pairs.graph, pairs.weights, pairs.values));
  EXPECT_EQ(bytes, Must(OnnxModel(pairs.graph, pairs.weights, pairs.values)));
  const TempDir dir = Must(TempDir::Create());
  Must(WriteFileAtomic(dir.Join("net.onnx"), bytes));
  const onnx::ImportedModel back = Must(onnx::ReadOnnx(dir.Join("net.onnx"), {}));
  const auto found = Must(
      graph::RunReference(back.graph, Must(graph::MakeParameters(back.graph, &back.values)), Inputs(back.graph), 1));
  Must(quantise::MakeIntegers({}, quantise::Scheme::kAffine, &pairs));
  const auto wanted = Must(graph::RunReference(pairs.graph, pairs.values, Inputs(pairs.graph), 1));
  ASSERT_EQ(found.at("classes").size(), 14U);
  for (size_t i = 0; i < 14; ++i) EXPECT_NEAR(found.at("classes")[i], wanted.at("classes")[i], 0.01) << i;
  EXPECT_GT(std::fabs(wanted.at("classes")[0] - wanted.at("classes")[1]), 0.01) << "classes differ";
}

TEST(OnnxModel, AnOperatorWithoutAFormIsNamed) {
  NetworkBuilder net("n", 3);
  graph::Graph graph = net.Finish({net.Unary("odd", "mish", net.Input("data", {1, 3}))});
  EXPECT_THAT(OnnxModel(graph, {}, {}).status().message(), HasSubstr("node `odd`: `mish` cannot be written as ONNX"));
}

}  // namespace
}  // namespace hone::onnx

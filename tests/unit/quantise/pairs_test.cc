// Plans, the nodes around layers, and the weights: the network with pairs computes nearly what it did.
#include "quantise/pairs.h"

#include "base/rng.h"
#include "common/expect.h"
#include "graph/network_builder.h"
#include "graph/reference.h"
#include "quantise/grids.h"
#include "quantise/network.h"
#include "quantise/weights.h"
#include "semantics/semantics.h"

namespace hone::quantise {
namespace {

using graph::Graph;
using graph::Node;

// A stem, a residual block, two branches that are concatenated, a pool, a softmax.
Graph Small() {
  graph::NetworkBuilder net("small", 3);
  std::string x = net.Input("data", {2, 3, 8, 8});
  x = net.Relu("stem.relu", net.ConvBn("stem", x, 8, {{3}, {1}, {1}}));
  const std::string y = net.ConvBn("block.conv2", net.Relu("block.relu1", net.ConvBn("block.conv1", x, 8, {})), 8, {});
  x = net.Relu("block.out", net.Add("block.sum", y, x));
  const std::string a = net.Relu("a.relu", net.ConvBn("a", x, 4, {}));
  const std::string b = net.Relu("b.relu", net.ConvBn("b", x, 6, {{3}, {1}, {1}}));
  x = net.MaxPool("pool", net.Concat("joined", {a, b}), {{2}, {2}, {0}});
  x = net.Unary("gap", "global_avg_pool", net.Relu("last.relu", net.ConvBn("last", x, 5, {})));
  return net.Finish({net.Unary("classes", "softmax", net.Dense("fc", net.Unary("flat", "flatten", x), 7))});
}

struct Normal {
  Graph original, graph;
  graph::ParameterValues values;
};

Normal Normalised(Graph graph) {
  Normal n{.original = graph};
  Must(NormaliseFloats(&graph));
  n.values = Must(graph::MakeParameters(graph, nullptr));
  n.graph = std::move(graph);
  return n;
}

std::map<std::string, TensorData> Inputs(const Graph& graph, uint64_t seed) {
  std::map<std::string, TensorData> inputs;
  Rng rng(seed);
  for (const auto& input : graph.inputs) {
    TensorData& data = inputs[input.name] = TensorData(input.type);
    for (float& v : data.as<float>()) v = static_cast<float>(rng.UniformDouble() * 3 - 1);
  }
  return inputs;
}

AllStatistics StatisticsOf(const Normal& n, const Plan& plan) {
  Graph all = n.graph;
  for (const std::string& tensor : plan.Observed()) {
    if (all.FindInput(tensor) == nullptr) all.outputs.push_back(tensor);
  }
  const auto inputs = Inputs(n.graph, 1);
  const auto values = Must(graph::RunReference(all, n.values, inputs, 1));
  AllStatistics statistics;
  for (const std::string& tensor : plan.Observed()) {
    const auto found = values.find(tensor);
    const std::vector<double> doubles = found != values.end() ? found->second : inputs.at(tensor).Doubles();
    const std::vector<float> floats(doubles.begin(), doubles.end());
    Statistics& s = statistics.emplace(tensor, *n.graph.FindType(tensor)).first->second;
    EXPECT_TRUE(s.AddValues(floats));
    s.AddToHistogram(floats);
  }
  return statistics;
}

TEST(MakePlan, TensorsThatAreJoinedOrPooledShareAGroup) {
  const Normal n = Normalised(Small());
  const Plan plan = Must(MakePlan(n.graph, {}));
  EXPECT_THAT(plan.layers, ElementsAre("stem.relu", "block.relu1", "block.out", "a.relu", "b.relu", "last.relu", "fc"));
  ASSERT_EQ(plan.groups.size(), 7U);
  EXPECT_THAT(plan.groups[0], ElementsAre("data"));
  EXPECT_THAT(plan.groups[4], ElementsAre("a.relu", "b.relu", "joined", "pool"));
  EXPECT_THAT(plan.groups[5], ElementsAre("last.relu"));
  EXPECT_THAT(plan.groups[6], ElementsAre("gap", "flat"));
  EXPECT_EQ(plan.Observed().count("classes"), 0U);
}

TEST(MakePlan, KeptNodesStayFloat) {
  const Normal n = Normalised(Small());
  const Plan plan = Must(MakePlan(n.graph, {"b.relu", "pool"}));
  EXPECT_EQ(std::ranges::count(plan.layers, "b.relu"), 0);
  for (const auto& group : plan.groups) EXPECT_EQ(std::ranges::count(group, "joined"), 0);
  // The pool's output is still quantised, for `last`.
  EXPECT_EQ(plan.Observed().count("pool"), 1U);
}

TEST(MakePlan, QuantisedNetworksAreRefused) {
  Normal n = Normalised(Small());
  const Plan plan = Must(MakePlan(n.graph, {}));
  InsertPairs(plan, ChooseGrids(plan, StatisticsOf(n, plan), {}), &n.graph);
  EXPECT_THAT(MakePlan(n.graph, {}).status().message(), HasSubstr("has quantised tensors already"));
}

TEST(FindKept, FollowsFusedNodes) {
  const Normal n = Normalised(Small());
  EXPECT_EQ(Must(FindKept("stem", n.original, n.graph)), "stem.relu");
  EXPECT_EQ(Must(FindKept("block.sum", n.original, n.graph)), "block.out");
  EXPECT_EQ(Must(FindKept("fc", n.original, n.graph)), "fc");
  EXPECT_THAT(FindKept("stam", n.original, n.graph).status().message(),
              HasSubstr("no node `stam` is in small; did you mean `stem`?"));
}

TEST(InsertPairs, LayersAndWhatPassesBytesReadDequantisedTensors) {
  Normal n = Normalised(Small());
  const Plan plan = Must(MakePlan(n.graph, {}));
  const auto bytes = InsertPairs(plan, ChooseGrids(plan, StatisticsOf(n, plan), {}), &n.graph);
  Must(graph::CheckGraph(&n.graph));
  EXPECT_EQ(bytes.at("a.relu"), "a.relu.bytes");
  EXPECT_EQ(n.graph.FindNode("block.out")->inputs.back(), "stem.relu.real");  // the residual
  EXPECT_EQ(n.graph.FindNode("joined")->inputs[1], "b.relu.real");
  EXPECT_EQ(n.graph.FindNode("gap")->inputs[0], "last.relu.real");
  EXPECT_EQ(n.graph.FindNode("classes")->inputs[0], "fc");
  // Those of a group share their parameters.
  EXPECT_EQ(n.graph.FindNode("a.relu.bytes")->inputs[1], n.graph.FindNode("pool.bytes")->inputs[1]);
  EXPECT_EQ(n.graph.FindNode("a.relu.real")->workload.Text(), "dequantise(u8[2,4,8,8], f32[1], u8[1])");
}

// Rounds the weights to their grids.
void RoundWeights(const graph::WeightGrids& grids, graph::ParameterValues* values) {
  for (const auto& [name, grid] : grids) {
    TensorData& weight = values->at(name);
    const size_t each = weight.as<float>().size() / static_cast<size_t>(weight.type.shape[0]);
    size_t i = 0;
    for (float& w : weight.as<float>()) w = static_cast<float>(OnGrid(static_cast<double>(w), grid, i++ / each));
  }
}

double Decibels(const std::vector<double>& found, const std::vector<double>& wanted) {
  double signal = 0, noise = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    signal += wanted[i] * wanted[i], noise += (found[i] - wanted[i]) * (found[i] - wanted[i]);
  }
  return 10 * std::log10(signal / noise);
}

std::vector<double> Values(const Normal& n, const std::string& output) {
  Graph graph = n.graph;
  graph.outputs = {output};
  graph::ParameterValues values = Must(graph::MakeParameters(graph, &n.values));
  for (const auto& [name, value] : n.values) values[name] = value;
  return Must(graph::RunReference(graph, values, Inputs(graph, 1), 1)).at(output);
}

TEST(Pairs, TheNetworkComputesNearlyWhatItDid) {
  const Normal exact = Normalised(Small());
  const Plan plan = Must(MakePlan(exact.graph, {}));
  const AllStatistics statistics = StatisticsOf(exact, plan);
  const std::vector<double> wanted = Values(exact, "fc");
  for (const Scheme scheme : {Scheme::kAffine, Scheme::kSymmetric, Scheme::kPower2}) {
    for (const Method method : {Method::kMax, Method::kPercentile}) {
      const Settings settings{.method = method, .scheme = scheme};
      Normal n = exact;
      const TensorGrids grids = ChooseGrids(plan, statistics, settings);
      RoundWeights(ChooseWeights(plan, grids, statistics, settings, &n.graph, &n.values), &n.values);
      InsertPairs(plan, grids, &n.graph);
      Must(graph::CheckGraph(&n.graph));
      EXPECT_GT(Decibels(Values(n, "fc"), wanted), scheme == Scheme::kPower2 ? 28 : 32) << SchemeName(scheme);
    }
  }
}

// A concatenation that nobody wants as bytes, of tensors that layers read as bytes.
Graph Joined() {
  graph::NetworkBuilder net("joined", 3);
  const std::string x = net.Input("data", {1, 3, 8, 8});
  const std::string a = net.Op("a", "relu6", {net.Conv("c1", x, 4, {})});
  const std::string b = net.Op("b", "relu6", {net.Conv("c2", a, 4, {})});
  return net.Finish({net.Concat("all", {a, b}), net.Conv("c3", b, 4, {})});
}

TEST(IntegerGraph, DoesNotDependOnCalibration) {
  for (const Graph& network : {Small(), Joined()}) {
    const Normal exact = Normalised(network);
    const Plan plan = Must(MakePlan(exact.graph, {}));
    const AllStatistics statistics = StatisticsOf(exact, plan);
    for (const Scheme scheme : {Scheme::kAffine, Scheme::kSymmetric, Scheme::kPower2}) {
      for (const bool corrected : {false, true}) {
        const Settings settings{.scheme = scheme, .bias_correction = corrected};
        TensorGrids grids = ChooseGrids(plan, statistics, settings);
        for (const bool equal : {false, true}) {
          for (auto& [tensor, grid] : grids) grid = equal ? grids.begin()->second : grid;
          Pairs pairs = Must(MakePairs(exact.graph, exact.values, plan, grids, statistics, settings));
          Must(MakeIntegers({}, scheme, &pairs));
          EXPECT_EQ(graph::GraphText(Must(IntegerGraph(exact.original, settings))), graph::GraphText(pairs.graph));
          EXPECT_EQ(pairs.values.size(), pairs.graph.parameters.size());
        }
      }
    }
  }
}

// What an accelerator does that adds and shifts in 32 bits and wraps around.
double OnAccelerator(double sum, double residual, int k, int n, double least, double most) {
  const auto bits = [](double x) { return static_cast<uint32_t>(static_cast<int64_t>(x)); };
  uint32_t value = bits(sum) + (bits(residual) << k);
  value = n > 0 ? static_cast<uint32_t>(static_cast<int32_t>(value + (1U << (n - 1))) >> n) : value << -n;
  return std::clamp<double>(static_cast<int32_t>(value), least, most);
}

TEST(PowersOfTwo, LayersShiftAsAcceleratorsDo) {
  const Normal exact = Normalised(Small());
  const Plan plan = Must(MakePlan(exact.graph, {}));
  const AllStatistics statistics = StatisticsOf(exact, plan);
  const Settings settings{.scheme = Scheme::kPower2};
  Pairs pairs =
      Must(MakePairs(exact.graph, exact.values, plan, ChooseGrids(plan, statistics, settings), statistics, settings));
  Must(MakeIntegers({}, settings.scheme, &pairs));
  Graph& graph = pairs.graph;
  for (const Node& node : graph.nodes) graph.outputs.push_back(node.name);
  auto tensors = Must(graph::RunReference(graph, pairs.values, Inputs(graph, 4), 1));
  for (const auto& [name, value] : pairs.values) tensors[name] = value.Doubles();
  size_t layers = 0, residuals = 0, different = 0;
  for (const Node& node : graph.nodes) {
    if (!node.workload.HasEpilogue(EpilogueKind::kShift)) continue;
    SCOPED_TRACE(node.workload.Text());
    const bool adds = node.workload.HasEpilogue(EpilogueKind::kAdd);
    Workload sums = node.workload;
    sums.epilogue.resize(sums.epilogue.size() - (adds ? 2 : 1));
    const auto operand = [&](size_t from_last) -> const std::vector<double>& {
      return tensors.at(node.inputs[node.inputs.size() - 1 - from_last]);
    };
    std::vector<const semantics::Values*> operands;
    for (size_t i = 0; i < semantics::OperandCount(sums); ++i) operands.push_back(&tensors.at(node.inputs[i]));
    const semantics::Values sum = semantics::Evaluate(sums, operands, 1);
    const size_t inner = sum.size() / static_cast<size_t>(node.output.shape[0] * node.output.shape[1]);
    for (size_t i = 0; i < sum.size(); ++i) {
      const size_t c = i / inner % operand(1).size();
      ASSERT_LE(operand(1)[c], kMostShift);
      const double found = OnAccelerator(sum[i], adds ? operand(3)[i] : 0, adds ? static_cast<int>(operand(2)[c]) : 0,
                                         static_cast<int>(operand(1)[c]), operand(0)[0], operand(0)[1]);
      ASSERT_EQ(tensors.at(node.name)[i], found) << i;
      different += found != tensors.at(node.name)[0];
    }
    ++layers, residuals += adds;
  }
  EXPECT_EQ(layers, 6U);
  EXPECT_EQ(residuals, 1U);
  EXPECT_GT(different, 1000U) << "outputs differ from each other";
}

// A kept node reads floats that were not quantised, even if another layer reads the same tensor as bytes.
TEST(InsertPairs, KeptNodesReadFloats) {
  graph::NetworkBuilder net("kept", 3);
  const std::string x = net.Conv("c1", net.Input("data", {1, 3, 8, 8}), 4, {});
  const std::string pool = net.MaxPool("pool", x, {{2}, {2}, {0}});
  Normal n = Normalised(net.Finish({net.Conv("c2", x, 4, {}), net.Conv("c3", pool, 4, {})}));
  const Plan plan = Must(MakePlan(n.graph, {"pool"}));
  const AllStatistics statistics = StatisticsOf(n, plan);
  Pairs pairs = Must(MakePairs(n.graph, n.values, plan, ChooseGrids(plan, statistics, {}), statistics, {}));
  Must(MakeIntegers({}, Scheme::kAffine, &pairs));
  EXPECT_EQ(pairs.graph.FindNode("pool")->workload.inputs[0].type, DType::Float(32));
  EXPECT_EQ(pairs.graph.FindNode("c2.sums")->workload.inputs[0].type, DType::UInt(8));
}

TEST(ChooseWeights, BiasCorrectionRemovesTheMeanError) {
  // One layer without padding: the correction is exact up to the rounding of sums.
  graph::NetworkBuilder net("one", 3);
  const std::string x = net.Input("data", {4, 6, 5, 5});
  const Normal exact = Normalised(net.Finish({net.Conv("conv", x, 4, {{2}, {1}, {0}}, {.groups = 2})}));
  const Plan plan = Must(MakePlan(exact.graph, {}));
  const AllStatistics statistics = StatisticsOf(exact, plan);
  const auto mean_error = [&](bool corrected) {
    // Coarse weights, so that the error is not lost in noise.
    const Settings settings{.per_channel = false, .bias_correction = corrected};
    Normal n = exact;
    n.values.at("conv.weight").as<float>()[0] = 20;
    Normal reference = n;
    const TensorGrids grids = ChooseGrids(plan, statistics, settings);
    RoundWeights(ChooseWeights(plan, grids, statistics, settings, &n.graph, &n.values), &n.values);
    Must(graph::CheckGraph(&n.graph));
    const std::vector<double> found = Values(n, "conv"), right = Values(reference, "conv");
    double worst = 0;
    for (size_t channel = 0; channel < 4; ++channel) {
      double error = 0;
      for (size_t image = 0; image < 4; ++image) {
        for (size_t i = 0; i < 16; ++i)
          error += found[(image * 4 + channel) * 16 + i] - right[(image * 4 + channel) * 16 + i];
      }
      worst = std::max(worst, std::fabs(error / 64));
    }
    return worst;
  };
  EXPECT_LT(mean_error(true), mean_error(false) / 3);
}

}  // namespace
}  // namespace hone::quantise

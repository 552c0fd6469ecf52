// Networks with quantised tensors become operators of integers that compute the same.
#include "graph/integers.h"

#include <fmt/format.h>

#include "base/rng.h"
#include "common/expect.h"
#include "graph/normalise.h"
#include "graph/reference.h"

namespace hone::graph {
namespace {

using ::testing::HasSubstr;

// A graph under construction, with random weights.
class Net {
 public:
  Net() {
    graph.name = "net";
    graph.inputs = {{"x", {DType::Float(32), {1, 3, 9, 10}}}};
  }
  void Add(const std::string& name, const std::string& workload, std::vector<std::string> inputs) {
    graph.nodes.push_back({name, Must(Workload::Parse(workload)), std::move(inputs), {}});
  }
  void Values(const std::string& name, const std::string& type, std::vector<double> values) {
    const TensorType t{Must(ParseDType(type)), {std::ssize(values)}};
    graph.parameters.push_back({name, t, {.kind = InitKind::kValues, .values = std::move(values)}});
  }
  void Weight(const std::string& name, std::vector<int64_t> shape, double scale) {
    graph.parameters.push_back({name, {DType::Float(32), std::move(shape)}, {.kind = InitKind::kFile}});
    std::vector<double> values(static_cast<size_t>(graph.parameters.back().type.Elements()));
    for (double& v : values) v = scale * (static_cast<double>(rng_.UniformInt(255)) - 127);
    this->values.emplace(name, TensorData(graph.parameters.back().type, values));
  }
  // Adds `quantise` behind `tensor`, named tensor.q, and `dequantise`, named tensor.d.
  void Pair(const std::string& tensor, const std::string& type, const std::string& shape, double scale, double zero) {
    Values(tensor + ".s", "f32", {scale});
    Values(tensor + ".z", type, {zero});
    Add(tensor + ".q", fmt::format("quantise(f32[{}], f32[1], {}[1])", shape, type),
        {tensor, tensor + ".s", tensor + ".z"});
    Add(tensor + ".d", fmt::format("dequantise({0}[{1}], f32[1], {0}[1])", type, shape),
        {tensor + ".q", tensor + ".s", tensor + ".z"});
  }
  Graph Finish(const std::string& output) {
    graph.outputs = {output};
    Must(CheckGraph(&graph));
    return graph;
  }
  std::vector<double> Run(const Graph& g, const ParameterValues& file) const {
    std::map<std::string, TensorData> inputs;
    Rng rng(3);
    for (float& v : (inputs["x"] = TensorData(g.inputs[0].type)).as<float>())
      v = static_cast<float>(rng.UniformDouble());
    return Must(RunReference(g, Must(MakeParameters(g, &file)), inputs, 2)).at(g.outputs[0]);
  }

  Graph graph;
  ParameterValues values;

 private:
  Rng rng_{7};
};

std::string Texts(const Graph& graph) {
  std::string texts;
  for (const Node& node : graph.nodes) texts += node.name + " = " + node.workload.Text() + "\n";
  return texts;
}

// The largest difference, and how many differ.
std::pair<double, size_t> Difference(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  std::pair<double, size_t> difference;
  for (size_t i = 0; i < a.size(); ++i) {
    difference.first = std::max(difference.first, std::abs(a[i] - b[i]));
    difference.second += a[i] != b[i];
  }
  return difference;
}

// A residual network: convolutions with activations, a pool, a sum, and a dense layer whose output stays real.
Net Residual(bool is_signed) {
  const std::string t = is_signed ? "i8" : "u8";
  const double zero = is_signed ? -20 : 108;
  Net net;
  net.Pair("x", t, "1,3,9,10", 0.01, zero);
  net.Weight("w1", {8, 3, 3, 3}, 0.003), net.Weight("b1", {8}, 0.004);
  net.Add("c1", "conv2d(f32[1,3,9,10], f32[8,3,3,3], pad=1,1,1,1) + bias", {"x.d", "w1", "b1"});
  net.Add("r1", "clip(f32[1,8,9,10], low=-0.5, high=6)", {"c1"});
  net.Pair("r1", t, "1,8,9,10", 0.02, zero);
  net.Weight("w2", {8, 8, 1, 1}, 0.01), net.Weight("b2", {8}, 0.004);
  net.Add("c2", "conv2d(f32[1,8,9,10], f32[8,8,1,1]) + bias", {"r1.d", "w2", "b2"});
  net.Add("sum", "add(f32[1,8,9,10], f32[1,8,9,10])", {"r1.d", "c2"});
  net.Add("r2", "relu(f32[1,8,9,10])", {"sum"});
  net.Pair("r2", "u8", "1,8,9,10", 0.03, 0);
  net.Add("pool", "max_pool2d(f32[1,8,9,10], kernel=3x3, stride=2x2, pad=1,1,1,1)", {"r2.d"});
  net.Values("r2.s2", "f32", {0.03}), net.Values("r2.z2", "u8", {0});
  net.Add("pool.q", "quantise(f32[1,8,5,5], f32[1], u8[1])", {"pool", "r2.s2", "r2.z2"});
  net.Add("pool.d", "dequantise(u8[1,8,5,5], f32[1], u8[1])", {"pool.q", "r2.s2", "r2.z2"});
  net.Add("flat", "flatten(f32[1,8,5,5])", {"pool.d"});
  net.Weight("w3", {5, 200}, 0.002), net.Weight("b3", {5}, 0.004);
  net.Add("fc", "dense(f32[1,200], f32[5,200]) + bias", {"flat", "w3", "b3"});
  net.Finish("fc");
  return net;
}

TEST(UseIntegers, MakesOneOperatorOfALayerAndItsPairs) {
  Net net = Residual(false);
  Graph graph = net.graph;
  ParameterValues values = net.values;
  const WeightGrids grids = {{"w1", {DType::Int(8), std::vector<float>(8, 0.003f), std::vector<int32_t>(8, 0)}},
                             {"w2", {DType::Int(8), {0.01f}, {0}}},
                             {"w3", {DType::UInt(8), {0.002f}, {128}}}};
  Must(UseIntegers(grids, SameGrids::kByValue, &graph, &values));
  EXPECT_EQ(Texts(graph),
            "x.q = quantise(f32[1,3,9,10], f32[1], u8[1])\n"
            "r1.q = conv2d(u8[1,3,9,10], i8[8,3,3,3], u8[1], pad=1,1,1,1) + bias + requant(u8)\n"
            "r2.q = conv2d(u8[1,8,9,10], i8[8,8,1,1], u8[1]) + bias + add(u8) + requant(u8)\n"
            "pool.bytes = max_pool2d(u8[1,8,9,10], kernel=3x3, stride=2x2, pad=1,1,1,1)\n"
            "flat.bytes = flatten(u8[1,8,5,5])\n"
            "fc.sums = dense(u8[1,200], i8[5,200], u8[1]) + bias\n"
            "fc = dequantise(i32[1,5], f32[5], i32[1])\n");
  EXPECT_FALSE(values.contains("w1")) << "the float weight is gone";
  EXPECT_EQ(values.at("r1.q.limits").Doubles(), (std::vector<double>{108, 83, 255})) << "clip(-0.5,6) / 0.02";
  EXPECT_EQ(values.at("r2.q.residual_scale").Doubles(), std::vector<double>{static_cast<double>(0.02f / 0.03f)});
  const auto [most, count] = Difference(net.Run(graph, values), net.Run(net.graph, net.values));
  EXPECT_LT(most, 0.05) << "a rounding of floats may move one value by a step of 0.03";
  Must(Normalise(&graph));
  EXPECT_EQ(Difference(net.Run(graph, values), net.Run(graph, values)).second, 0U);
}

TEST(UseIntegers, SignedDataAndZeroPointsOfWeights) {
  Net net = Residual(true);
  Graph graph = net.graph;
  ParameterValues values = net.values;
  const WeightGrids grids = {{"w1", {DType::Int(8), {0.003f}, {3}}}, {"w2", {DType::UInt(8), {0.01f}, {120}}}};
  Must(UseIntegers(grids, SameGrids::kByValue, &graph, &values));
  EXPECT_THAT(Texts(graph), HasSubstr("r1.q = conv2d(i8[1,3,9,10], i8[8,3,3,3], i8[1], i8[1], pad=1,1,1,1) + bias + "
                                      "requant(i8)\n"));
  EXPECT_THAT(Texts(graph), HasSubstr("r2.q = conv2d(i8[1,8,9,10], i8[8,8,1,1], i8[1], i8[1]) + bias + add(i8) + "
                                      "requant(u8)\n"));
  EXPECT_THAT(Texts(graph), HasSubstr("fc = dense(f32[1,200], f32[5,200]) + bias\n")) << "its weight has no grid";
  EXPECT_EQ(values.at("r2.weight_zero").Doubles(), std::vector<double>{-8});
  EXPECT_LT(Difference(net.Run(graph, values), net.Run(net.graph, net.values)).first, 0.05);
}

// Not every layer can be one operator.
TEST(UseIntegers, KeepsWhatHasNoIntegerForm) {
  Net net;
  net.Pair("x", "u8", "1,3,9,10", 0.01, 5);
  net.Weight("w", {4, 3, 1, 1}, 0.01);
  net.Add("c", "conv2d(f32[1,3,9,10], f32[4,3,1,1])", {"x.d", "w"});
  net.Add("s", "sigmoid(f32[1,4,9,10])", {"c"});
  net.Add("pad", "pad2d(f32[1,4,9,10], pad=1,1,1,1)", {"s"});
  net.Pair("pad", "u8", "1,4,11,12", 0.01, 5);
  net.Add("p2", "pad2d(f32[1,4,11,12], pad=1,1,1,1)", {"pad.d"});
  net.Add("sum", "add(f32[1,4,13,14], f32[1,4,13,14])", {"p2", "p2"});
  net.Finish("sum");
  Graph graph = net.graph;
  ParameterValues values = net.values;
  Must(UseIntegers({{"w", {DType::Int(8), {0.01f}, {0}}}}, SameGrids::kByValue, &graph, &values));
  EXPECT_EQ(Texts(graph),
            "x.q = quantise(f32[1,3,9,10], f32[1], u8[1])\n"
            "c.sums = conv2d(u8[1,3,9,10], i8[4,3,1,1], u8[1])\n"
            "c = dequantise(i32[1,4,9,10], f32[4,1,1], i32[1])\n"
            "s = sigmoid(f32[1,4,9,10])\n"
            "pad = pad2d(f32[1,4,9,10], pad=1,1,1,1)\n"
            "pad.q = quantise(f32[1,4,11,12], f32[1], u8[1])\n"
            "pad.d = dequantise(u8[1,4,11,12], f32[1], u8[1])\n"
            "p2 = pad2d(f32[1,4,11,12], pad=1,1,1,1)\n"
            "sum = add(f32[1,4,13,14], f32[1,4,13,14])\n")
      << "zeros that a pad adds are not zeros of the grid";
  EXPECT_LT(Difference(net.Run(graph, values), net.Run(net.graph, net.values)).first, 0.021);
}

// A layer whose residual or other reader is real keeps its sums, dequantised.
TEST(UseIntegers, ARealResidualIsAddedToDequantisedSums) {
  Net net;
  net.Pair("x", "u8", "1,3,9,10", 0.01, 5);
  net.Weight("w", {3, 3, 1, 1}, 0.01), net.Weight("b", {3}, 0.01);
  net.Add("c", "conv2d(f32[1,3,9,10], f32[3,3,1,1]) + bias", {"x.d", "w", "b"});
  net.Add("e", "sigmoid(f32[1,3,9,10])", {"x"});
  net.Add("sum", "add(f32[1,3,9,10], f32[1,3,9,10])", {"e", "c"});
  net.Add("r", "relu6(f32[1,3,9,10])", {"sum"});
  net.Pair("r", "u8", "1,3,9,10", 0.01, 0);
  net.Finish("r.q");
  Graph graph = net.graph;
  ParameterValues values = net.values;
  Must(UseIntegers({{"w", {DType::Int(8), {0.01f}, {0}}}}, SameGrids::kByValue, &graph, &values));
  EXPECT_THAT(Texts(graph), HasSubstr("r.sums = conv2d(u8[1,3,9,10], i8[3,3,1,1], u8[1]) + bias\n"));
  EXPECT_LE(Difference(net.Run(graph, values), net.Run(net.graph, net.values)).first, 1);
}

// Sums, activations, averages and concatenations of bytes.
TEST(UseIntegers, BytesAreRequantised) {
  Net net;
  net.Pair("x", "u8", "1,3,9,10", 0.01, 5);
  net.Add("e", "sigmoid(f32[1,3,9,10])", {"x.d"});
  net.Pair("e", "i8", "1,3,9,10", 0.004, -100);
  net.Add("sum", "add(f32[1,3,9,10], f32[1,3,9,10])", {"x.d", "e.d"});
  net.Add("r", "relu6(f32[1,3,9,10])", {"sum"});
  net.Pair("r", "u8", "1,3,9,10", 0.03, 2);
  net.Add("mean", "avg_pool2d(f32[1,3,9,10], kernel=3x3, pad=1,1,1,1)", {"r.d"});
  net.Values("mean.s", "f32", {0.03}), net.Values("mean.z", "u8", {2});
  net.Add("mean.q", "quantise(f32[1,3,9,10], f32[1], u8[1])", {"mean", "mean.s", "mean.z"});
  net.Add("mean.d", "dequantise(u8[1,3,9,10], f32[1], u8[1])", {"mean.q", "mean.s", "mean.z"});
  net.Add("all", "concat(f32[1,3,9,10], f32[1,3,9,10])", {"mean.d", "e.d"});
  net.Values("all.s", "f32", {0.03}), net.Values("all.z", "u8", {2});
  net.Add("all.q", "quantise(f32[1,6,9,10], f32[1], u8[1])", {"all", "all.s", "all.z"});
  net.Finish("all.q");
  Graph graph = net.graph;
  ParameterValues values = net.values;
  Must(UseIntegers({}, SameGrids::kByValue, &graph, &values));
  EXPECT_EQ(Texts(graph),
            "x.q = quantise(f32[1,3,9,10], f32[1], u8[1])\n"
            "x.d = dequantise(u8[1,3,9,10], f32[1], u8[1])\n"
            "e = sigmoid(f32[1,3,9,10])\n"
            "e.q = quantise(f32[1,3,9,10], f32[1], i8[1])\n"
            "r.q = requantise(u8[1,3,9,10], f32[1], u8[1], i8[1,3,9,10], f32[1], i8[1], u8[1], u8[1], u8[1])\n"
            "mean.q = avg_pool2d(u8[1,3,9,10], u8[1], kernel=3x3, pad=1,1,1,1)\n"
            "all.q.part = requantise(i8[1,3,9,10], f32[1], i8[1], u8[1], u8[1], u8[1])\n"
            "all.q = concat(u8[1,3,9,10], u8[1,3,9,10])\n");
  EXPECT_EQ(values.at("r.q.least").Doubles(), std::vector<double>{2});
  EXPECT_EQ(values.at("r.q.most").Doubles(), std::vector<double>{202});
  EXPECT_LE(Difference(net.Run(graph, values), net.Run(net.graph, net.values)).first, 1)
      << "a tie may be rounded otherwise";
}

// A bias that the scale of the sums makes too large for i32, and scales whose product is no normal number.
TEST(UseIntegers, LayersThatCouldLeaveI32StayFloat) {
  for (const auto& [scale, bias] : {std::pair(0.01, 0.001), {1e-7, 100.0}, {1e-37, 0.001}}) {
    Net net;
    net.Pair("x", "u8", "1,3,9,10", 0.01, 5);
    net.Weight("w", {4, 3, 1, 1}, scale), net.Weight("b", {4}, bias);
    net.Add("c", "conv2d(f32[1,3,9,10], f32[4,3,1,1]) + bias", {"x.d", "w", "b"});
    net.Finish("c");
    const auto s = static_cast<float>(scale);
    Must(UseIntegers({{"w", {DType::Int(8), {s}, {0}}}}, SameGrids::kByValue, &net.graph, &net.values));
    EXPECT_EQ(net.graph.FindNode("c")->workload.op, scale > 0.001 ? "dequantise" : "conv2d") << scale;
  }
}

// A residual network whose scales are all powers of two.
Net PowersOfTwo(double residual_scale) {
  Net net;
  net.Pair("x", "i8", "1,3,9,10", 0x1p-7, 0);
  net.Weight("w1", {8, 3, 3, 3}, 0x1p-9), net.Weight("b1", {8}, 0x1p-8);
  net.Add("c1", "conv2d(f32[1,3,9,10], f32[8,3,3,3], pad=1,1,1,1) + bias", {"x.d", "w1", "b1"});
  net.Add("r1", "clip(f32[1,8,9,10], low=-0.5, high=6)", {"c1"});
  net.Pair("r1", "i8", "1,8,9,10", residual_scale, 0);
  net.Weight("w2", {8, 8, 1, 1}, 0x1p-8), net.Weight("b2", {8}, 0x1p-8);
  net.Add("c2", "conv2d(f32[1,8,9,10], f32[8,8,1,1]) + bias", {"r1.d", "w2", "b2"});
  net.Add("sum", "add(f32[1,8,9,10], f32[1,8,9,10])", {"r1.d", "c2"});
  net.Add("r2", "relu(f32[1,8,9,10])", {"sum"});
  net.Pair("r2", "i8", "1,8,9,10", 0x1p-4, 0);
  net.Finish("r2.q");
  return net;
}

Grid Exact(float scale) { return {DType::Int(8), {scale}, {0}}; }

TEST(UseIntegers, ShiftsWhereAllScalesArePowersOfTwo) {
  Net net = PowersOfTwo(0x1p-5);
  Graph graph = net.graph;
  ParameterValues values = net.values;
  std::vector<float> by_channel(8, 0x1p-9F);
  by_channel[2] = 0x1p-8F;
  const WeightGrids grids = {{"w1", {DType::Int(8), by_channel, std::vector<int32_t>(8, 0)}}, {"w2", Exact(0x1p-8F)}};
  Must(UseIntegers(grids, SameGrids::kByValue, &graph, &values, Rescaling::kShift));
  EXPECT_EQ(Texts(graph),
            "x.q = quantise(f32[1,3,9,10], f32[1], i8[1])\n"
            "r1.q = conv2d(i8[1,3,9,10], i8[8,3,3,3], i8[1], pad=1,1,1,1) + bias + shift(i8)\n"
            "r2.q = conv2d(i8[1,8,9,10], i8[8,8,1,1], i8[1]) + bias + add(i8) + shift(i8)\n");
  EXPECT_EQ(values.at("r1.q.shift").Doubles(), (std::vector<double>{11, 11, 10, 11, 11, 11, 11, 11}));
  EXPECT_EQ(values.at("r1.q.limits").Doubles(), (std::vector<double>{-16, 127})) << "clip(-0.5,6) * 2^5";
  EXPECT_EQ(values.at("r2.q.shift").Doubles(), std::vector<double>(8, 9));
  EXPECT_EQ(values.at("r2.q.residual_shift").Doubles(), std::vector<double>(8, 8));
  EXPECT_EQ(values.at("r2.q.limits").Doubles(), (std::vector<double>{0, 127}));
  const auto [most, count] = Difference(net.Run(graph, values), net.Run(net.graph, net.values));
  EXPECT_LE(most, 1) << "of a tie that goes to even, and of what follows from it";
  EXPECT_LT(count, 720 / 4);
  // With multipliers, the same network has the other roundings.
  Graph other = net.graph;
  ParameterValues multiplied = net.values;
  Must(UseIntegers(grids, SameGrids::kByValue, &other, &multiplied));
  EXPECT_THAT(Texts(other), HasSubstr("add(i8) + requant(i8)\n"));
  EXPECT_LE(Difference(net.Run(graph, values), net.Run(other, multiplied)).first, 1);
}

// Sums that no layer takes into its epilogue, and parts of concatenations.
TEST(UseIntegers, BytesAreRequantisedByPowersOfTwo) {
  Net net;
  net.Pair("x", "i8", "1,3,9,10", 0x1p-7, 0);
  net.Add("e", "sigmoid(f32[1,3,9,10])", {"x.d"});
  net.Pair("e", "i8", "1,3,9,10", 0x1p-8, -100);
  net.Add("sum", "add(f32[1,3,9,10], f32[1,3,9,10])", {"x.d", "e.d"});
  net.Add("r", "relu(f32[1,3,9,10])", {"sum"});
  net.Pair("r", "u8", "1,3,9,10", 0x1p-6, 2);
  net.Add("all", "concat(f32[1,3,9,10], f32[1,3,9,10])", {"r.d", "e.d"});
  net.Values("all.s", "f32", {0x1p-6}), net.Values("all.z", "u8", {2});
  net.Add("all.q", "quantise(f32[1,6,9,10], f32[1], u8[1])", {"all", "all.s", "all.z"});
  net.Finish("all.q");
  Graph graph = net.graph;
  ParameterValues values = net.values;
  Must(UseIntegers({}, SameGrids::kByValue, &graph, &values, Rescaling::kShift));
  EXPECT_THAT(Texts(graph), HasSubstr("r.q = requantise(i8[1,3,9,10], i32[1], i8[1], i8[1,3,9,10], i32[1], i8[1], "
                                      "u8[1], u8[1], u8[1])\n"
                                      "all.q.part = requantise(i8[1,3,9,10], i32[1], i8[1], u8[1], u8[1], u8[1])\n"));
  EXPECT_EQ(values.at("r.q.scale").Doubles(), std::vector<double>{-1});
  EXPECT_EQ(values.at("all.q.part.scale").Doubles(), std::vector<double>{-2});
  const auto [most, count] = Difference(net.Run(graph, values), net.Run(net.graph, net.values));
  EXPECT_LE(most, 1) << "of ties";
  EXPECT_GT(count, 0) << "some are";
  const auto refusal = [&](float scale) {
    Net other = net;
    for (Parameter& p : other.graph.parameters) {
      if (p.name == "e.s") p.init.values = {scale};
    }
    return UseIntegers({}, SameGrids::kByValue, &other.graph, &other.values, Rescaling::kShift).message();
  };
  EXPECT_EQ(refusal(0.01F), "node `r.q`, which quantises `r`: a scale of 0.01 is not a power of two, as shifts need");
  EXPECT_EQ(
      refusal(0x1p10F),
      "node `r.q`, which quantises `r`: the scales 0.015625 and 1024 of a sum are too far apart; keep its node in "
      "floats")
      << "a sum of two is exact within some exponents alone";
}

TEST(UseIntegers, WhatCannotBeShiftedIsNamed) {
  const auto refusal = [](Net net, const WeightGrids& grids) {
    return UseIntegers(grids, SameGrids::kByValue, &net.graph, &net.values, Rescaling::kShift).message();
  };
  const WeightGrids grids = {{"w1", Exact(0x1p-9F)}, {"w2", Exact(0x1p-8F)}};
  EXPECT_EQ(refusal(PowersOfTwo(0.03), grids),
            "node `r1.q`, which quantises `r1`: a scale of 0.03 is not a power of two, as shifts need");
  EXPECT_EQ(
      refusal(Residual(true), grids),
      "node `r1.q`, which quantises `r1`: its output or residual has a zero point other than 0, as shifts do not have");
  EXPECT_THAT(
      refusal(PowersOfTwo(0x1p-5), {{"w1", Exact(0x1p-9F)}, {"w2", Exact(2)}}),
      HasSubstr("node `r2.q`, which quantises `r2`: the residual of channel 0 is finer than its sums, by 1 bits"));
  EXPECT_THAT(
      refusal(PowersOfTwo(0x1p20), grids),
      HasSubstr(
          "node `r1.q`, which quantises `r1`: sums, bias and residual of channel 0 could reach 2^35, beyond 32 bits"));
}

TEST(UseIntegers, GridsThatDoNotFitAreNamed) {
  const auto refusal = [](const Grid& grid) {
    Net net = Residual(false);
    return UseIntegers({{"w2", grid}}, SameGrids::kByValue, &net.graph, &net.values).message();
  };
  EXPECT_EQ(refusal({DType::Int(8), {0.01f, 0.01f}, {0, 0}}),
            "node `r2`: the grid of its weight `w2` has 2 scales and 2 zero points of i8, for 8 channels");
  EXPECT_EQ(refusal({DType::Int(8), {0.0f}, {0}}),
            "node `r2`: a scale of its weight `w2` is not a positive normal number");
  Net net = Residual(false);
  for (Parameter& p : net.graph.parameters) {
    if (p.name == "r1.s") p.init.values = {-1};
  }
  EXPECT_EQ(UseIntegers({}, SameGrids::kByValue, &net.graph, &net.values).message(),
            "node `r1.q`, which quantises `r1`: its scale is not a positive normal number");
}

}  // namespace
}  // namespace hone::graph

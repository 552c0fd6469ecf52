#include "common/expect.h"
#include "graph/graph.h"
#include "graph/network_builder.h"
#include "graph/normalise.h"

namespace hone::graph {
namespace {

Graph Small() {
  NetworkBuilder net("small", 5);
  std::string x = net.Input("data", {1, 3, 8, 8});
  x = net.BatchNorm("bn", net.Conv("conv", x, 40, {{3}, {1}, {1}}));
  return net.Finish({net.Relu("relu", x)});
}

TEST(Parameters, HeScaled) {
  Graph graph = Small();
  auto values = Must(MakeParameters(graph, nullptr));
  const auto weight = values.at("conv.weight").as<float>();
  double sum = 0, squares = 0;
  for (float w : weight) sum += w, squares += static_cast<double>(w) * w;
  const double n = static_cast<double>(weight.size());
  EXPECT_NEAR(sum / n, 0, 0.03);
  EXPECT_NEAR(squares / n, 2.0 / 27, 0.01);  // fan in: 3 channels x 3 x 3
}

TEST(Parameters, DependOnSeedAndNameAlone) {
  Graph graph = Small();
  auto first = MakeParameters(graph, nullptr), again = MakeParameters(graph, nullptr);
  EXPECT_EQ(*first, *again);
  graph.seed = 6;
  EXPECT_NE(MakeParameters(graph, nullptr)->at("conv.weight"), first->at("conv.weight"));
  EXPECT_NE(first->at("bn.beta"), first->at("bn.mean"));
}

TEST(Parameters, FoldedOnesFollowTheFormula) {
  Graph graph = Small();
  auto raw = MakeParameters(graph, nullptr);
  ASSERT_TRUE(Normalise(&graph).ok());
  auto folded = MakeParameters(graph, nullptr);
  const size_t c = 7, i = c * 27 + 5;
  const auto at = [](const ParameterValues& values, const char* name, size_t k) {
    return values.at(name).Doubles()[k];
  };
  const double scale = at(*raw, "bn.gamma", c) / std::sqrt(at(*raw, "bn.variance", c) + 1e-5);
  EXPECT_NEAR(at(*folded, "bn.folded_weight", i), at(*raw, "conv.weight", i) * scale, 1e-6);
  EXPECT_NEAR(at(*folded, "bn.folded_bias", c), at(*raw, "bn.beta", c) - at(*raw, "bn.mean", c) * scale, 1e-6);
  KeepReadParameters(graph, &*folded);
  EXPECT_EQ(folded->size(), 2u);
}

TEST(ParameterFile, RoundTripAndDamage) {
  Graph graph = Small();
  auto values = MakeParameters(graph, nullptr);
  std::string bytes = ParameterFileBytes(graph, *values);
  EXPECT_EQ(Must(ParseParameterFile(bytes, "x")), *values);
  // Any truncation is detected, and any flipped byte.
  for (size_t cut : {size_t{0}, size_t{7}, size_t{8}, size_t{12}, size_t{30}, bytes.size() / 2, bytes.size() - 1}) {
    EXPECT_FALSE(ParseParameterFile(std::string_view(bytes).substr(0, cut), "x").ok()) << cut;
  }
  for (size_t at = 0; at < bytes.size(); at += 97) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    EXPECT_FALSE(ParseParameterFile(damaged, "x").ok()) << at;
  }
  bytes[8] = 9;
  EXPECT_EQ(ParseParameterFile(bytes, "x").status().kind(), StatusKind::kUnsupported);
}

// A tensor of another type than f32 makes the file version 2.
TEST(ParameterFile, HasOtherElementTypes) {
  Graph graph;
  graph.parameters = {
      {"w", {DType::Int(8), {2, 2}}, {}}, {"b", {DType::Int(32), {2}}, {}}, {"s", {DType::Float(32), {}}, {}}};
  graph.outputs = {"w", "b", "s"};
  const ParameterValues values = {{"w", {graph.parameters[0].type, {-128, 127, 0, 5}}},
                                  {"b", {graph.parameters[1].type, {1 << 30, -7}}},
                                  {"s", {graph.parameters[2].type, {0.5}}}};
  std::string bytes = ParameterFileBytes(graph, values);
  EXPECT_EQ(bytes[8], 2);
  EXPECT_EQ(Must(ParseParameterFile(bytes, "x")), values);
  const size_t type = bytes.find("i32");
  for (const char* other : {"i31", "f16", "i3x"}) {
    EXPECT_EQ(ParseParameterFile(bytes.replace(type, 3, other), "x").status().kind(), StatusKind::kCorrupt) << other;
  }
}

TEST(ParameterFile, GivesWhatTheGraphSaysIsInAFile) {
  Graph graph = Small();
  auto values = MakeParameters(graph, nullptr);
  for (Parameter& p : graph.parameters) p.init = {InitKind::kFile, 0, 0, 1, {}, 0};
  EXPECT_EQ(MakeParameters(graph, nullptr).status().kind(), StatusKind::kNotFound);
  EXPECT_EQ(*MakeParameters(graph, &*values), *values);
  const TensorData beta = values->at("bn.beta");
  values->at("bn.beta") = std::vector<float>(39);
  EXPECT_EQ(MakeParameters(graph, &*values).status().kind(), StatusKind::kInvalid);
  values->at("bn.beta") = TensorData(TensorType{DType::Int(32), beta.type.shape}, beta.Doubles());
  EXPECT_EQ(MakeParameters(graph, &*values).status().kind(), StatusKind::kInvalid);
  values->erase("bn.beta");
  EXPECT_EQ(MakeParameters(graph, &*values).status().kind(), StatusKind::kNotFound);
}

}  // namespace
}  // namespace hone::graph

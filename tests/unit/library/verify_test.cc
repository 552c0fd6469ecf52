// When outputs are wrong: the figures are worked out by hand.
#include "common/expect.h"
#include "library/kernels.h"
#include "library/reference.h"

namespace hone::library {
namespace {

NetworkKernel Kernel(double rounding) {
  NetworkKernel kernel;
  kernel.workload = Must(Workload::Parse("relu(f32[1,4])"));
  kernel.compiled.rounding = rounding;
  return kernel;
}

double NetworkRounding(const std::vector<NetworkKernel>& kernels, const std::vector<int>& uses) {
  return library::NetworkRounding(graph::Graph(), kernels, uses);
}

TEST(NetworkRounding, KernelsAddUpAsSquaresDo) {
  constexpr double kTf32 = 1.0 / 256, kSmall = 1.0 / 1024;
  EXPECT_EQ(NetworkRounding({}, {}), 0);
  EXPECT_DOUBLE_EQ(NetworkRounding({Kernel(kTf32)}, {1}), kTf32);
  EXPECT_DOUBLE_EQ(NetworkRounding({Kernel(kTf32)}, {16}), 4 * kTf32) << "sixteen layers are the same kernel";
  // 3^2 + 2 x 6^2 + 12^2 = 15^2.
  EXPECT_DOUBLE_EQ(NetworkRounding({Kernel(3 * kTf32), Kernel(6 * kTf32), Kernel(12 * kTf32)}, {1, 2, 1}), 15 * kTf32);
  // Errors within a network's tolerance do not widen it, however often they occur.
  EXPECT_EQ(NetworkRounding({Kernel(kSmall), Kernel(0)}, {1000, 1000}), 0);
  EXPECT_DOUBLE_EQ(NetworkRounding({Kernel(kSmall), Kernel(kTf32)}, {1000, 1}), kTf32);
}

// A graph of these nodes, each of which reads the one before it.
double RoundingOf(const std::vector<std::string>& workloads) {
  graph::Graph graph;
  for (const std::string& text : workloads) {
    const std::string number = std::to_string(graph.nodes.size());
    graph.nodes.push_back({number, Must(Workload::Parse(text)), {graph.nodes.empty() ? "x" : graph.nodes.back().name}});
  }
  return library::NetworkRounding(graph, {}, {});
}

TEST(NetworkRounding, AStepWhereComputedFloatsAreQuantised) {
  const std::string quantise = "quantise(f32[1,4], f32[1], u8[1])", dequantise = "dequantise(u8[1,4], f32[1], u8[1])";
  const std::string relu = "relu(f32[1,4])", flatten = "flatten(f32[1,4])";
  EXPECT_EQ(RoundingOf({quantise, dequantise, relu}), 0) << "an input is exact";
  EXPECT_EQ(RoundingOf({dequantise, flatten, quantise}), 0) << "so are dequantised bytes";
  EXPECT_EQ(RoundingOf({relu, quantise}), 1.0 / 64);
  EXPECT_EQ(RoundingOf({relu, flatten, quantise}), 1.0 / 64);
  EXPECT_EQ(RoundingOf({dequantise + " -> " + relu + " -> " + quantise}), 1.0 / 64);
  EXPECT_EQ(RoundingOf({dequantise + " -> " + quantise}), 0);
}

TEST(VerifyOutputs, IntegersHaveOneRightValue) {
  const TensorData found(TensorType{DType::Int(32), {2}}, std::vector<double>{-100000, 100001});
  double error = 0;
  EXPECT_TRUE(VerifyOutputs("x", 0, {found}, {{-100000, 100001}}, &error).ok());
  EXPECT_THAT(VerifyOutputs("x", 0, {found}, {{-100000, 100000}}, &error).message(),
              HasSubstr("output 0 is wrong: element 1 is 100001, expected 100000;"));
  EXPECT_TRUE(VerifyOutputs("x", 1.0 / 64, {found}, {{-100000, 100000}}, &error).ok()) << "it quantises floats";
}

TEST(VerifyOutputs, AnErrorIsMeasuredByTheDeviationOfWhatIsExpected) {
  EXPECT_EQ(RelativeError({1, 2}, {1, 2}), 0);
  EXPECT_DOUBLE_EQ(RelativeError({-4, 6}, {-4, 4}), 0.5);       // mean 0, deviation 4
  EXPECT_DOUBLE_EQ(RelativeError({96, 106}, {96, 104}), 0.5);   // the same beside 100: deviation is not size
  EXPECT_DOUBLE_EQ(RelativeError({4, 4, 5}, {4, 4, 4}), 0.25);  // a constant: relative to it
  for (const float bad : {NAN, INFINITY}) EXPECT_EQ(RelativeError({bad, 1}, {0, 1}), INFINITY);
  EXPECT_EQ(RelativeError({1}, {1, 2}), INFINITY);
  EXPECT_EQ(RelativeError({}, {}), INFINITY) << "nothing is not right";
}

TEST(VerifyOutputs, WhatKernelsMayRoundIsAllowedAndNoMore) {
  // Outputs with deviation 1, one of them off.
  const auto verify = [](double rounding, double off, double* error) {
    return VerifyOutputs("out/x", rounding, {std::vector<float>{-1, static_cast<float>(1 + off)}}, {{-1, 1}}, error);
  };
  double error = 0;
  EXPECT_TRUE(verify(0, 0.9e-3, &error).ok());
  EXPECT_NEAR(error, 0.9e-3, 1e-6);
  const Status wrong = verify(0, 1.1e-3, &error);
  EXPECT_EQ(wrong.kind(), StatusKind::kCorrupt);
  EXPECT_EQ(wrong.message().find("out/x: output 0 is wrong: off the reference by 0.0011 standard deviations"), 0u)
      << wrong.message();
  EXPECT_NEAR(error, 1.1e-3, 1e-6) << "also then";
  // Sixteen layers of TF32: 4 / 256 = 0.0156, and 0.001.
  const double rounding = NetworkRounding({Kernel(1.0 / 256)}, {16});
  EXPECT_TRUE(verify(rounding, 0.016, &error).ok());
  EXPECT_EQ(verify(rounding, 0.017, &error).kind(), StatusKind::kCorrupt);
  EXPECT_EQ(verify(0, 0.016, &error).kind(), StatusKind::kCorrupt) << "of a network in f32";
}

TEST(VerifyOutputs, TheFirstWrongOutputIsNamedAndTheLargestErrorKept) {
  using V = std::vector<float>;
  double error = 0;
  const Status wrong = VerifyOutputs("x", 0, {V{-1, 1}, V{-1, 1.5}, V{-1, 3}}, {{-1, 1}, {-1, 1}, {-1, 1}}, &error);
  EXPECT_THAT(wrong.message(), HasSubstr("output 1 is wrong"));
  EXPECT_DOUBLE_EQ(error, 2);
  EXPECT_EQ(VerifyOutputs("x", 0, {V{1, 2}}, {{1, 2}, {1, 2}}, &error).kind(), StatusKind::kInvalid);
}

}  // namespace
}  // namespace hone::library

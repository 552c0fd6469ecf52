#include "graph/reference.h"

#include <gtest/gtest.h>

namespace hone::graph {
namespace {

std::vector<double> RunOne(const std::string& workload, const std::vector<int64_t>& out,
                           std::vector<std::vector<double>> operands) {
  Node node{"n", *Workload::Parse(workload), {}, {DType::Float(32), out}};
  std::vector<const std::vector<double>*> pointers;
  for (const auto& o : operands) pointers.push_back(&o);
  return RunReferenceNode(node, pointers, 2);
}

// Expectations by hand.
TEST(Reference, ConvolutionWithStridePaddingAndDilation) {
  EXPECT_EQ(RunOne("conv2d(f32[1,1,3,3], f32[1,1,2,2], stride=2x2, pad=1,1,0,0)", {1, 1, 2, 2},
                   {{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 10, 100, 1000}}),
            (std::vector<double>{1000, 3200, 7040, 9865}));
  EXPECT_EQ(RunOne("conv2d(f32[1,1,3,3], f32[1,1,2,2], dilation=2x2)", {1, 1, 1, 1},
                   {{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 10, 100, 1000}}),
            (std::vector<double>{1 + 30 + 700 + 9000}));
}

TEST(Reference, GroupsSeeOnlyTheirChannels) {
  EXPECT_EQ(RunOne("conv2d(f32[1,2,1,2], f32[2,1,1,1], groups=2)", {1, 2, 1, 2}, {{1, 2, 3, 4}, {10, 100}}),
            (std::vector<double>{10, 20, 300, 400}));
}

TEST(Reference, EpiloguesApplyInOrder) {
  EXPECT_EQ(RunOne("dense(f32[1,2], f32[2,2]) + bias + add + relu6", {1, 2}, {{1, 2}, {1, 0, 3, 4}, {-5, -4}, {1, 2}}),
            (std::vector<double>{0, 6}));
}

TEST(Reference, PoolingIgnoresPadding) {
  EXPECT_EQ(RunOne("max_pool2d(f32[1,1,2,2], kernel=2x2, pad=1,1,0,0)", {1, 1, 2, 2}, {{-1, -2, -3, -4}}),
            (std::vector<double>{-1, -1, -1, -1}));
  EXPECT_EQ(RunOne("avg_pool2d(f32[1,1,2,2], kernel=2x2, pad=1,1,0,0)", {1, 1, 2, 2}, {{2, 4, 6, 8}}),
            (std::vector<double>{2, 3, 4, 5}));
  EXPECT_EQ(
      RunOne("avg_pool2d(f32[1,1,2,2], kernel=2x2, pad=1,1,0,0, count_include_pad=1)", {1, 1, 2, 2}, {{2, 4, 6, 8}}),
      (std::vector<double>{0.5, 1.5, 2, 5}));
}

// ceil_mode adds a window that reaches behind the padding; what lies there is counted by nobody. Four columns, one of
// padding on each side, windows of three at -1 and 3: {pad, 3, 6} and {12, pad, nothing}.
TEST(Reference, CeilModeCountsNothingBehindThePadding) {
  EXPECT_EQ(RunOne("avg_pool2d(f32[1,1,1,4], kernel=1x3, stride=1x4, pad=0,1,0,1, ceil_mode=1, count_include_pad=1)",
                   {1, 1, 1, 2}, {{3, 6, 9, 12}}),
            (std::vector<double>{3, 6}));
  EXPECT_EQ(RunOne("avg_pool2d(f32[1,1,1,4], kernel=1x3, stride=1x4, pad=0,1,0,1, ceil_mode=1)", {1, 1, 1, 2},
                   {{3, 6, 9, 12}}),
            (std::vector<double>{4.5, 12}));
  EXPECT_EQ(RunOne("max_pool2d(f32[1,1,1,4], kernel=1x2, stride=1x3, ceil_mode=1)", {1, 1, 1, 2}, {{3, 6, 9, 12}}),
            (std::vector<double>{6, 12}));
}

TEST(ReferenceDeathTest, AnUnlistedOperatorIsNoIdentity) {
  EXPECT_DEATH(RunOne("cube(f32[1,2])", {1, 2}, {{1, 2}}), "same_values");
}

TEST(Reference, ConcatAndPadding) {
  EXPECT_EQ(RunOne("concat(f32[2,1,1,2], f32[2,2,1,2])", {2, 3, 1, 2}, {{1, 2, 3, 4}, {5, 6, 7, 8, 9, 10, 11, 12}}),
            (std::vector<double>{1, 2, 5, 6, 7, 8, 3, 4, 9, 10, 11, 12}));
  EXPECT_EQ(RunOne("pad2d(f32[1,1,1,2], pad=1,0,0,1)", {1, 1, 2, 3}, {{1, 2}}),
            (std::vector<double>{0, 0, 0, 1, 2, 0}));
}

TEST(Reference, SoftmaxSumsToOneEvenForLargeValues) {
  auto out = RunOne("softmax(f32[1,3])", {1, 3}, {{1000, 1000, 1000}});
  for (double x : out) EXPECT_NEAR(x, 1.0 / 3, 1e-12);
}

}  // namespace
}  // namespace hone::graph

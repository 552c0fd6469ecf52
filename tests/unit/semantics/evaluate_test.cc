#include "common/expect.h"
#include "semantics/semantics.h"

namespace hone::semantics {
namespace {

std::vector<double> RunOne(const std::string& workload, const std::vector<int64_t>& out,
                           std::vector<std::vector<double>> operands) {
  const Workload w = *Workload::Parse(workload);
  EXPECT_EQ(Must(InferOutput(w)).shape, out) << workload;
  std::vector<const std::vector<double>*> pointers;
  for (const auto& o : operands) pointers.push_back(&o);
  return Evaluate(w, pointers, 2);
}

// Expectations by hand.
TEST(Evaluate, ConvolutionWithStridePaddingAndDilation) {
  EXPECT_EQ(RunOne("conv2d(f32[1,1,3,3], f32[1,1,2,2], stride=2x2, pad=1,1,0,0)", {1, 1, 2, 2},
                   {{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 10, 100, 1000}}),
            (std::vector<double>{1000, 3200, 7040, 9865}));
  EXPECT_EQ(RunOne("conv2d(f32[1,1,3,3], f32[1,1,2,2], dilation=2x2)", {1, 1, 1, 1},
                   {{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 10, 100, 1000}}),
            (std::vector<double>{1 + 30 + 700 + 9000}));
}

// A layout says how tensors are stored. Values are those of logical tensors.
TEST(Evaluate, LayoutsChangeNoValue) {
  for (const char* layout : {"", ", layout=plain", ", layout=nhwc"}) {
    EXPECT_EQ(RunOne("conv2d(f32[1,2,1,2], f32[2,2,1,1]" + std::string(layout) + ") + bias", {1, 2, 1, 2},
                     {{1, 2, 3, 4}, {1, 10, 100, 1000}, {0.5, 0}}),
              (std::vector<double>{31.5, 42.5, 3100, 4200}));
    EXPECT_EQ(
        RunOne("add(f32[1,2,1,2], f32[2,1,1]" + std::string(layout) + ")", {1, 2, 1, 2}, {{1, 2, 3, 4}, {10, 20}}),
        (std::vector<double>{11, 12, 23, 24}));
  }
}

TEST(Evaluate, GroupsSeeOnlyTheirChannels) {
  EXPECT_EQ(RunOne("conv2d(f32[1,2,1,2], f32[2,1,1,1], groups=2)", {1, 2, 1, 2}, {{1, 2, 3, 4}, {10, 100}}),
            (std::vector<double>{10, 20, 300, 400}));
}

TEST(Evaluate, EpiloguesApplyInOrder) {
  EXPECT_EQ(RunOne("dense(f32[1,2], f32[2,2]) + bias + add + relu6", {1, 2}, {{1, 2}, {1, 0, 3, 4}, {-5, -4}, {1, 2}}),
            (std::vector<double>{0, 6}));
}

// {1,2,3,4} + 10 = {11,12,13,14}, the maximum of pairs {12,14}; then times 2, plus {1,1}, plus {5,6}.
TEST(Evaluate, AChainIsItsMembersInTurn) {
  EXPECT_EQ(RunOne("conv2d(f32[1,1,1,4], f32[1,1,1,1]) + bias -> max_pool2d(f32[1,1,1,4], kernel=1x2, stride=1x2) -> "
                   "conv2d(f32[1,1,1,2], f32[1,1,1,1]) + bias + add",
                   {1, 1, 1, 2}, {{1, 2, 3, 4}, {1}, {10}, {2}, {1}, {5, 6}}),
            (std::vector<double>{12 * 2 + 1 + 5, 14 * 2 + 1 + 6}));
}

TEST(Evaluate, PoolingIgnoresPadding) {
  EXPECT_EQ(RunOne("max_pool2d(f32[1,1,2,2], kernel=2x2, pad=1,1,0,0)", {1, 1, 2, 2}, {{-1, -2, -3, -4}}),
            (std::vector<double>{-1, -1, -1, -1}));
  EXPECT_EQ(RunOne("avg_pool2d(f32[1,1,2,2], kernel=2x2, pad=1,1,0,0)", {1, 1, 2, 2}, {{2, 4, 6, 8}}),
            (std::vector<double>{2, 3, 4, 5}));
  EXPECT_EQ(
      RunOne("avg_pool2d(f32[1,1,2,2], kernel=2x2, pad=1,1,0,0, count_include_pad=1)", {1, 1, 2, 2}, {{2, 4, 6, 8}}),
      (std::vector<double>{0.5, 1.5, 2, 5}));
}

// ceil_mode adds a window that extends beyond the padding; elements there are not counted. Four columns, one of padding
// on each side, windows of three at -1 and 3: {pad, 3, 6} and {12, pad, nothing}.
TEST(Evaluate, CeilModeCountsNothingBehindThePadding) {
  EXPECT_EQ(RunOne("avg_pool2d(f32[1,1,1,4], kernel=1x3, stride=1x4, pad=0,1,0,1, ceil_mode=1, count_include_pad=1)",
                   {1, 1, 1, 2}, {{3, 6, 9, 12}}),
            (std::vector<double>{3, 6}));
  EXPECT_EQ(RunOne("avg_pool2d(f32[1,1,1,4], kernel=1x3, stride=1x4, pad=0,1,0,1, ceil_mode=1)", {1, 1, 1, 2},
                   {{3, 6, 9, 12}}),
            (std::vector<double>{4.5, 12}));
  EXPECT_EQ(RunOne("max_pool2d(f32[1,1,1,4], kernel=1x2, stride=1x3, ceil_mode=1)", {1, 1, 1, 2}, {{3, 6, 9, 12}}),
            (std::vector<double>{6, 12}));
}

TEST(Evaluate, ConcatAndPadding) {
  EXPECT_EQ(RunOne("concat(f32[2,1,1,2], f32[2,2,1,2])", {2, 3, 1, 2}, {{1, 2, 3, 4}, {5, 6, 7, 8, 9, 10, 11, 12}}),
            (std::vector<double>{1, 2, 5, 6, 7, 8, 3, 4, 9, 10, 11, 12}));
  EXPECT_EQ(RunOne("pad2d(f32[1,1,1,2], pad=1,0,0,1)", {1, 1, 2, 3}, {{1, 2}}),
            (std::vector<double>{0, 0, 0, 1, 2, 0}));
}

using V = std::vector<double>;

TEST(Evaluate, BroadcastingAlignsTheLastAxes) {
  EXPECT_EQ(RunOne("sub(f32[2,1], f32[3])", {2, 3}, {{10, 20}, {1, 2, 3}}), (V{9, 8, 7, 19, 18, 17}));
  EXPECT_EQ(RunOne("pow(f32[2], f32[])", {2}, {{3, 4}, {2}}), (V{9, 16}));
  EXPECT_EQ(RunOne("prelu(f32[1,2,2], f32[2,1])", {1, 2, 2}, {{-1, 1, -1, 1}, {10, 100}}), (V{-10, 1, -100, 1}));
}

TEST(Evaluate, ReductionsAndProducts) {
  EXPECT_EQ(RunOne("reduce_sum(f32[2,2,2], axes=0,2)", {2}, {{1, 2, 3, 4, 5, 6, 7, 8}}), (V{14, 22}));
  EXPECT_EQ(RunOne("reduce_prod(f32[2,2], axes=1)", {2}, {{1, -2, 3, 4}}), (V{-2, 12}));
  EXPECT_EQ(RunOne("reduce_l2(f32[2])", {}, {{3, -4}}), (V{5}));
  EXPECT_EQ(RunOne("reduce_max(f32[3])", {}, {{-3, -1, -2}}), (V{-1}));
  EXPECT_NEAR(RunOne("reduce_log_sum_exp(f32[2])", {}, {{1000, 1000}})[0], 1000.6931471805599, 1e-9);
  EXPECT_EQ(RunOne("matmul(f32[2,2], f32[2,1,2,1])", {2, 1, 2, 1}, {{1, 2, 3, 4}, {1, 10, 100, 1000}}),
            (V{21, 43, 2100, 4300}));
}

TEST(Evaluate, MovingElements) {
  EXPECT_EQ(RunOne("transpose(f32[2,3], perm=1,0)", {3, 2}, {{1, 2, 3, 4, 5, 6}}), (V{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(RunOne("slice(f32[5], begin=4, end=-1, step=-2)", {3}, {{1, 2, 3, 4, 5}}), (V{5, 3, 1}));
  EXPECT_EQ(RunOne("pad(f32[3], low=2, high=1, mode=reflect)", {6}, {{1, 2, 3}}), (V{3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(RunOne("pad(f32[3], low=2, high=1, mode=wrap)", {6}, {{1, 2, 3}}), (V{2, 3, 1, 2, 3, 1}));
  EXPECT_EQ(RunOne("pad(f32[2], low=1, high=1, value=7)", {4}, {{1, 2}}), (V{7, 1, 2, 7}));
  EXPECT_EQ(RunOne("pad(f32[2], low=1, high=1, value=-inf)", {4}, {{1, 2}}), (V{-INFINITY, 1, 2, -INFINITY}));
  EXPECT_EQ(RunOne("gather(f32[2,3], axis=1, indices=2,0, shape=2)", {2, 2}, {{1, 2, 3, 4, 5, 6}}), (V{3, 1, 6, 4}));
  EXPECT_EQ(RunOne("expand(f32[2,1], shape=2,2)", {2, 2}, {{1, 2}}), (V{1, 1, 2, 2}));
}

TEST(Evaluate, VolumesAndTransposedConvolutions) {
  EXPECT_EQ(RunOne("conv3d(f32[1,1,2,1,2], f32[1,1,2,1,1])", {1, 1, 1, 1, 2}, {{1, 2, 3, 4}, {10, 100}}),
            (V{310, 420}));
  EXPECT_EQ(RunOne("max_pool3d(f32[1,1,2,1,2], kernel=2x1x1)", {1, 1, 1, 1, 2}, {{1, 5, 3, 4}}), (V{3, 5}));
  // Each input spreads the kernel at twice its position; the two overlap in the middle.
  EXPECT_EQ(RunOne("conv_transpose2d(f32[1,1,1,2], f32[1,1,1,3], stride=1x2)", {1, 1, 1, 5}, {{1, 10}, {1, 2, 3}}),
            (V{1, 2, 13, 20, 30}));
}

TEST(Evaluate, NormsAndResizing) {
  // Squares around channel 1: 1 + 4 + 9; alpha/size = 1, beta = 1.
  EXPECT_EQ(RunOne("lrn(f32[1,3,1], size=3, alpha=3, beta=1)", {1, 3, 1}, {{1, 2, 3}}),
            (V{1.0 / 6, 2.0 / 15, 3.0 / 14}));
  V out = RunOne("layer_norm(f32[1,2], f32[2], f32[2], epsilon=0)", {1, 2}, {{1, 3}, {10, 10}, {0, 1}});
  EXPECT_NEAR(out[0], -10, 1e-9);
  EXPECT_NEAR(out[1], 11, 1e-9);
  EXPECT_EQ(RunOne("resize(f32[2], out=4)", {4}, {{1, 2}}), (V{1, 1, 2, 2}));
  EXPECT_EQ(RunOne("resize(f32[2], out=4, mode=linear)", {4}, {{1, 2}}), (V{1, 1.25, 1.75, 2}));
  EXPECT_EQ(RunOne("resize(f32[2], out=3, mode=linear, coordinate=align_corners)", {3}, {{1, 2}}), (V{1, 1.5, 2}));
  // 4 * 0.6 = 2.4 elements, of which 2 exist: the second is at 3 / 1.4 of the input.
  EXPECT_NEAR(
      RunOne("resize(f32[4], out=2, scale=0.6, mode=linear, coordinate=align_corners)", {2}, {{0, 7, 14, 21}})[1],
      7 * 3 / 1.4, 1e-9);
}

TEST(Evaluate, SoftmaxSumsToOneEvenForLargeValues) {
  auto out = RunOne("softmax(f32[1,3])", {1, 3}, {{1000, 1000, 1000}});
  for (double x : out) EXPECT_NEAR(x, 1.0 / 3, 1e-12);
}

}  // namespace
}  // namespace hone::semantics

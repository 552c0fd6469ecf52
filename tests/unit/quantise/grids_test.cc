#include "quantise/grids.h"

#include "common/expect.h"

namespace hone::quantise {
namespace {

TEST(ActivationGrid, AffineHoldsTheRangeAndZero) {
  const graph::Grid grid = ActivationGrid({-1, 3}, Scheme::kAffine);
  EXPECT_EQ(grid.type, DType::UInt(8));
  EXPECT_FLOAT_EQ(grid.scales[0], 4.0F / 255);
  EXPECT_EQ(grid.zeros[0], 64);
  EXPECT_EQ(OnGrid(0, grid), 0);
  EXPECT_NEAR(OnGrid(3, grid), 3, 0.01);
  EXPECT_NEAR(OnGrid(-1, grid), -1, 0.01);
  EXPECT_NEAR(OnGrid(9, grid), 3, 0.01);  // clipped
}

TEST(ActivationGrid, BehindAReluZeroIsTheLeast) {
  EXPECT_EQ(ActivationGrid({0, 6}, Scheme::kAffine).zeros[0], 0);
  EXPECT_EQ(ActivationGrid({-6, 0}, Scheme::kAffine).zeros[0], 255);
}

TEST(ActivationGrid, SymmetricHasNoZeroPoint) {
  const graph::Grid grid = ActivationGrid({-2, 1}, Scheme::kSymmetric);
  EXPECT_EQ(grid.type, DType::Int(8));
  EXPECT_FLOAT_EQ(grid.scales[0], 2.0F / 127);
  EXPECT_EQ(grid.zeros[0], 0);
}

TEST(ActivationGrid, PowersOfTwoAreRoundedUp) {
  const graph::Grid grid = ActivationGrid({-2, 5}, Scheme::kPower2);
  EXPECT_EQ(grid.type, DType::Int(8));
  EXPECT_EQ(grid.scales[0], 0.0625F);  // 5 / 127 is above 1 / 32
  EXPECT_EQ(ActivationGrid({0, 127}, Scheme::kPower2).scales[0], 1);
}

TEST(ActivationGrid, OnlyZerosHaveAUsableScale) {
  for (const Scheme scheme : {Scheme::kAffine, Scheme::kSymmetric, Scheme::kPower2}) {
    EXPECT_EQ(ActivationGrid({0, 0}, scheme).scales[0], 1);
    EXPECT_EQ(ActivationGrid({0, 0}, scheme).zeros[0], 0);
    // Products of two scales stay normal numbers.
    EXPECT_GT(ActivationGrid({0, 1e-38F}, scheme).scales[0], 1e-19F);
  }
}

TensorData Weight() { return {{DType::Float(32), {2, 3}}, {0.5, -1, 0.25, 0.1, 0.0, -0.2}}; }

TEST(WeightGrid, HasAScaleForEachChannel) {
  const graph::Grid grid = WeightGrid(Weight(), {}, 1, 1, {});
  EXPECT_EQ(grid.type, DType::Int(8));
  ASSERT_EQ(grid.scales.size(), 2U);
  EXPECT_FLOAT_EQ(grid.scales[0], 1.0F / 127);
  EXPECT_FLOAT_EQ(grid.scales[1], 0.2F / 127);
  EXPECT_THAT(grid.zeros, ElementsAre(0, 0));
  EXPECT_NEAR(OnGrid(-0.2, grid, 1), -0.2, 1e-7);
}

TEST(WeightGrid, OrOneForAll) {
  const graph::Grid grid = WeightGrid(Weight(), {}, 1, 1, {.per_channel = false});
  ASSERT_EQ(grid.scales.size(), 1U);
  EXPECT_FLOAT_EQ(grid.scales[0], 1.0F / 127);
}

TEST(WeightGrid, LeavesRoomForTheBias) {
  const TensorData dead{{DType::Float(32), {2, 1}}, {0, 1e-20}};
  const float input_scale = 0.01F;
  const graph::Grid grid = WeightGrid(dead, {3, -3}, input_scale, 1, {});
  for (const float scale : grid.scales) {
    EXPECT_LT(3 / (input_scale * scale), 0x1p29) << "graph::UseIntegers takes no more";
    EXPECT_GT(3 / (input_scale * scale), 0x1p20);  // the bias itself stays exact enough
  }
}

// So that no sum is shifted by more than kMostShift bits.
TEST(WeightGrid, PowersOfTwoAreNotFinerThanTheOutputNeeds) {
  const TensorData weight{{DType::Float(32), {4, 1}}, {0, 1e-20, 0.003, 100}};
  const Settings settings{.scheme = Scheme::kPower2};
  EXPECT_THAT(WeightGrid(weight, {}, 0.25F, 0.5F, settings).scales, ElementsAre(0x1p-14F, 0x1p-14F, 0x1p-14F, 1));
  EXPECT_THAT(WeightGrid(weight, {}, 0.25F, 0x1p-20F, settings).scales, ElementsAre(0x1p-33F, 0x1p-33F, 0x1p-15F, 1));
  // No limit if the output stays real.
  EXPECT_THAT(WeightGrid(weight, {}, 0.25F, 0, settings).scales, ElementsAre(1, 0x1p-60F, 0x1p-15F, 1));
}

TEST(CountClipped, CountsWhatIsBeyondHalfAStep) {
  const graph::Grid grid = ActivationGrid({0, 255}, Scheme::kAffine);
  EXPECT_EQ(CountClipped(std::vector<float>{-1, -0.4F, 0, 255.4F, 256, 1000}, grid), 3);
}

}  // namespace
}  // namespace hone::quantise

// By how many bits layers shift, and which layers could leave the 32 bits of an accelerator.
#include "graph/shifts.h"

#include "common/expect.h"

namespace hone::graph {
namespace {

constexpr DType kI8 = DType::Int(8);

std::string Refusal(const std::vector<float>& scales, const std::vector<double>& largest,
                    const std::optional<ShiftedResidual>& residual, float to) {
  return ChooseShifts(scales, largest, residual, to).status().message();
}

TEST(ChooseShifts, AreTheLogarithmsOfRatios) {
  const Shifts alone = Must(ChooseShifts({0.25F, 0x1p-20F, 8}, {100, 100, 100}, {}, 0.5F));
  EXPECT_THAT(alone.sums, ElementsAre(1, 19, -4));
  EXPECT_THAT(alone.residual, ElementsAre());
  const Shifts both = Must(ChooseShifts({0.25F, 0x1p-20F}, {100, 100}, ShiftedResidual{1, kI8}, 0.5F));
  EXPECT_THAT(both.sums, ElementsAre(1, 19));
  EXPECT_THAT(both.residual, ElementsAre(2, 20));
}

TEST(ChooseShifts, SumsStayIn32Bits) {
  const double most = 2147483647;
  // 2^(n-1) is added.
  EXPECT_EQ(Refusal({1}, {most - 4}, {}, 8), "");
  EXPECT_EQ(
      Refusal({1}, {most - 3}, {}, 8),
      "sums, bias and residual of channel 0 could reach 2^31, beyond 32 bits; keep the layer in floats, or use another "
      "scheme");
  EXPECT_EQ(Refusal({1}, {most}, {}, 1), "");
  // To the left.
  EXPECT_EQ(Refusal({4}, {(1 << 29) - 1}, {}, 1), "");
  EXPECT_THAT(Refusal({1, 4}, {1, 1 << 29}, {}, 1), HasSubstr("channel 1 could reach 2^31, beyond 32 bits"));
  EXPECT_THAT(Refusal({1}, {0}, {}, 0x1p32F), HasSubstr("could reach 2^31, beyond 32 bits"));
  // A residual of u8 reaches 255, one of i8 reaches -128.
  EXPECT_EQ(Refusal({1}, {most - 255 * 16}, ShiftedResidual{16, DType::UInt(8)}, 1), "");
  EXPECT_THAT(Refusal({1}, {most - 255 * 16 + 1}, ShiftedResidual{16, DType::UInt(8)}, 1), HasSubstr("32 bits"));
  EXPECT_EQ(Refusal({1}, {most - 128 * 16}, ShiftedResidual{16, kI8}, 1), "");
  EXPECT_THAT(Refusal({1}, {most - 128 * 16 + 1}, ShiftedResidual{16, kI8}, 1), HasSubstr("32 bits"));
  EXPECT_THAT(Refusal({1}, {1}, ShiftedResidual{0.25F, kI8}, 1),
              HasSubstr("the residual of channel 0 is finer than its sums, by 2 bits;"));
}

TEST(ChooseShifts, OtherScalesAreRefused) {
  EXPECT_EQ(Refusal({0.3F}, {1}, {}, 1), "a scale of 0.3 is not a power of two, as shifts need");
  EXPECT_THAT(Refusal({0.25F}, {1}, {}, 3), HasSubstr("a scale of 3 is not a power of two"));
  EXPECT_THAT(Refusal({0.25F}, {1}, ShiftedResidual{0.75F, kI8}, 1), HasSubstr("a scale of 0.75 is not"));
}

}  // namespace
}  // namespace hone::graph

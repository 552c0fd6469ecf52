#include "ir/scalar.h"

#include "common/expect.h"

namespace hone::ir {
namespace {

TEST(ScalarTest, FloorDivisionAndModulo) {
  // Round towards minus infinity; the remainder has the divisor's sign.
  struct {
    int64_t a, b, q, r;
  } table[] = {{7, 2, 3, 1}, {-7, 2, -4, 1}, {7, -2, -4, -1}, {-7, -2, 3, -1},
               {6, 3, 2, 0}, {-6, 3, -2, 0}, {0, 5, 0, 0},    {INT64_MIN, -1, INT64_MIN, 0}};
  for (auto [a, b, q, r] : table) {
    EXPECT_EQ(FloorDiv(a, b), q) << a << "/" << b;
    EXPECT_EQ(FloorMod(a, b), r) << a << "%" << b;
  }
}

TEST(ScalarTest, IntegersWrap) {
  EXPECT_EQ(EvalInt(ExprKind::kAdd, DType::Int(8), 127, 1), -128);
  EXPECT_EQ(EvalInt(ExprKind::kMul, DType::Int(32), 65536, 65536), 0);
  EXPECT_EQ(EvalInt(ExprKind::kSub, DType::UInt(8), 0, 1), 255);
  EXPECT_EQ(EvalInt(ExprKind::kAdd, DType::Int(64), INT64_MAX, 1), INT64_MIN);
  EXPECT_EQ(EvalInt(ExprKind::kDiv, DType::Int(8), -128, -1), -128);
  EXPECT_EQ(WrapInt(DType::Bool(), 2), 1);
}

TEST(ScalarTest, ShiftsMoveBits) {
  const DType i8 = DType::Int(8), i32 = DType::Int(32), u32 = DType::UInt(32), i64 = DType::Int(64);
  EXPECT_EQ(EvalInt(ExprKind::kShiftLeft, i32, 3, 4), 48);
  EXPECT_EQ(EvalInt(ExprKind::kShiftLeft, i32, 0x40000001, 1), INT32_MIN + 2);
  EXPECT_EQ(EvalInt(ExprKind::kShiftLeft, i8, -128, 1), 0);
  EXPECT_EQ(EvalInt(ExprKind::kShiftLeft, i64, -1, 63), INT64_MIN);
  EXPECT_EQ(EvalInt(ExprKind::kShiftRight, i32, 7, 1), 3);
  EXPECT_EQ(EvalInt(ExprKind::kShiftRight, i32, -7, 1), -4);  // towards minus infinity
  EXPECT_EQ(EvalInt(ExprKind::kShiftRight, i32, INT32_MIN, 31), -1);
  EXPECT_EQ(EvalInt(ExprKind::kShiftRight, u32, 0xfffffff0, 4), 0x0fffffff);
  EXPECT_EQ(EvalInt(ExprKind::kShiftRight, DType::UInt(64), -1, 63), 1);
}

TEST(ScalarTest, UnsignedSixtyFour) {
  int64_t big = -1;  // 2^64 - 1
  EXPECT_EQ(EvalInt(ExprKind::kLt, DType::UInt(64), 1, big), 1);
  EXPECT_EQ(EvalInt(ExprKind::kMax, DType::UInt(64), 1, big), big);
  EXPECT_EQ(EvalInt(ExprKind::kDiv, DType::UInt(64), big, 2), INT64_MAX);
}

TEST(ScalarTest, FloatsRoundToTheirType) {
  DType f32 = DType::Float(32), f16 = DType::Float(16);
  EXPECT_EQ(EvalFloat(ExprKind::kAdd, f32, 16777216.0, 1.0), 16777216.0);  // 2^24 + 1 is no f32; ties to even
  EXPECT_EQ(RoundFloat(f16, 2049), 2048);
  EXPECT_EQ(RoundFloat(f16, 65520), std::numeric_limits<double>::infinity());
  EXPECT_EQ(CastIntToFloat(DType::Int(64), f32, (int64_t{1} << 40) + 1), 1099511627776.0);
}

TEST(ScalarTest, MinAndMaxOfNaNAreTheSecondOperand) {
  double nan = std::nan("");
  DType f32 = DType::Float(32);
  EXPECT_EQ(EvalFloat(ExprKind::kMin, f32, nan, 1), 1);
  EXPECT_TRUE(std::isnan(EvalFloat(ExprKind::kMin, f32, 1, nan)));
  EXPECT_EQ(EvalFloat(ExprKind::kMax, f32, nan, 1), 1);
  EXPECT_TRUE(std::isnan(EvalFloat(ExprKind::kMax, f32, 1, nan)));
  EXPECT_TRUE(std::signbit(EvalFloat(ExprKind::kMax, f32, 0.0, -0.0)));  // 0 > -0 is false
}

TEST(ScalarTest, CastsToIntegersTruncate) {
  EXPECT_EQ(CastFloatToInt(DType::Int(32), -1.9), -1);
  EXPECT_EQ(CastFloatToInt(DType::Int(32), 1.9), 1);
  EXPECT_EQ(CastFloatToInt(DType::Bool(), 0.5), 1);
  EXPECT_EQ(CastFloatToInt(DType::Int(64), std::nan("")), 0);
}

}  // namespace
}  // namespace hone::ir

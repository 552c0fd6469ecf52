#include "arith/linear.h"

#include "common/expect.h"
#include "ir/printer.h"

namespace hone::arith {
namespace {

using ir::Expr;
using ir::Var;

TEST(LinearTest, TakesSumsApartAndPutsThemTogether) {
  Var i("i"), j("j");
  Linear l = ToLinear((i * 3 + j - 4) * 2 - i + (i / 2));
  ASSERT_EQ(l.terms.size(), 3u);
  EXPECT_EQ(l.CoefficientOf(i), 5);
  EXPECT_EQ(l.CoefficientOf(j), 2);
  EXPECT_EQ(l.CoefficientOf(i / 2), 1);
  EXPECT_EQ(l.CoefficientOf(j / 2), 0);
  EXPECT_EQ(l.constant, -8);
  EXPECT_EQ(ToString(ToExpr(l)), "i*5 + j*2 + i/2 - 8");
  EXPECT_EQ(ToString(ToExpr(Linear())), "0");
}

TEST(LinearTest, TermsThatCancelAreGone) {
  Var i("i");
  EXPECT_TRUE(ToLinear(i * 3 - (i + i + i)).IsConstant());
}

TEST(LinearTest, Stride) {
  Var i("i"), j("j");
  EXPECT_EQ(StrideOf(i * 16 + j, i), 16);
  EXPECT_EQ(StrideOf(i * 16 + j, Var("other")), 0);
  EXPECT_EQ(StrideOf(i * 16 + j / 2, i), 16);
  EXPECT_EQ(StrideOf(i * 16 + i / 2, i), std::nullopt);
  EXPECT_EQ(StrideOf(i * j, i), std::nullopt);
}

}  // namespace
}  // namespace hone::arith

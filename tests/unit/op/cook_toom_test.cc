// Cook-Toom transforms: the convolution identity holds exactly, and expressions apply them.
#include "ir/visitor.h"
#include "op/conv/cook_toom.h"

#include "common/expect.h"
#include "ir/printer.h"
#include "op/conv/cook_toom_te.h"

namespace hone::op {
namespace {

std::vector<Rational> Times(const RationalMatrix& matrix, const std::vector<Rational>& x) {
  std::vector<Rational> result;
  for (const auto& row : matrix) {
    Rational sum;
    for (size_t i = 0; i < x.size(); ++i) sum = sum + row[i] * x[i];
    result.push_back(sum);
  }
  return result;
}

// Small fractions without any pattern.
std::vector<Rational> Numbers(size_t count, int64_t seed, int64_t denominators = 4) {
  std::vector<Rational> numbers;
  for (size_t i = 0; i < count; ++i) {
    seed = (seed * 37 + 11) % 101;
    numbers.push_back({seed - 50, 1 + seed % denominators});
  }
  return numbers;
}

void ExpectIdentity(int m, int r, const std::vector<Rational>& points) {
  SCOPED_TRACE("F(" + std::to_string(m) + "," + std::to_string(r) + ")");
  CookToom t = Must(MakeCookToom(m, r, points));
  const size_t n = static_cast<size_t>(m + r - 1);
  for (int64_t seed : {3, 20, 77}) {
    const int64_t denominators = n > 8 ? 1 : 4;  // larger exact sums would overflow
    std::vector<Rational> d = Numbers(n, seed, denominators),
                          g = Numbers(static_cast<size_t>(r), seed + 1, denominators);
    std::vector<Rational> dt = Times(t.bt, d), gt = Times(t.g, g), product;
    for (size_t i = 0; i < n; ++i) product.push_back(dt[i] * gt[i]);
    std::vector<Rational> y = Times(t.at, product);
    for (int k = 0; k < m; ++k) {
      Rational want;
      for (int j = 0; j < r; ++j) want = want + d[k + j] * g[j];
      EXPECT_TRUE(y[k] == want) << "output " << k << ": " << y[k].value() << " for " << want.value();
    }
  }
}

TEST(CookToom, IdentityHoldsExactly) {
  for (int m = 1; m <= 7; ++m) {
    for (int r = 1; r <= 7; ++r) {
      if (m + r - 1 <= 10) ExpectIdentity(m, r, GoodPoints(m + r - 1));
    }
  }
  ExpectIdentity(4, 3, {0, {5, 8}, {-5, 8}, {3, 2}, {-3, 2}});
  ExpectIdentity(3, 2, {5, {-1, 3}, 7});  // asymmetric, without zero
}

// F(2,3) of the literature (Lavin and Gray), whose rows of B^T and G may differ by opposite signs.
TEST(CookToom, TheUsualF2) {
  CookToom t = *MakeCookToom(2, 3, {0, 1, -1});
  EXPECT_EQ(t.at, (RationalMatrix{{1, 1, 1, 0}, {0, 1, -1, 1}}));
  EXPECT_EQ(t.bt, (RationalMatrix{{-1, 0, 1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, -1, 0, 1}}));
  EXPECT_EQ(t.g, (RationalMatrix{{-1, 0, 0}, {{1, 2}, {1, 2}, {1, 2}}, {{1, 2}, {-1, 2}, {1, 2}}, {0, 0, 1}}));
}

TEST(CookToom, BadRequestsAreRefused) {
  EXPECT_FALSE(MakeCookToom(0, 3, {0}).ok());
  EXPECT_FALSE(MakeCookToom(2, 3, {0, 1}).ok());
  Result<CookToom> twice = MakeCookToom(2, 3, {0, {1, 2}, {2, 4}});
  EXPECT_EQ(twice.status().message(), "F(2,3): a point is given twice");
}

TEST(Rational, StaysInLowestTerms) {
  EXPECT_EQ(Rational(6, -4), Rational(-3, 2));
  EXPECT_EQ(Rational(1, 6) + Rational(1, 3), Rational(1, 2));
  EXPECT_EQ(Rational(2, 3) / Rational(-4, 9), Rational(-3, 2));
  EXPECT_EQ(Rational(0, -5), Rational(0));
}

// The value of a sum of products of immediates.
double Value(const ir::Expr& e) {
  if (const auto* imm = e.as<ir::FloatImm>()) return imm->value;
  if (const auto* b = e.as<ir::Binary>()) {
    double x = Value(b->a), y = Value(b->b);
    if (b->kind == ir::ExprKind::kAdd) return x + y;
    if (b->kind == ir::ExprKind::kSub) return x - y;
    if (b->kind == ir::ExprKind::kMul) return x * y;
  }
  ADD_FAILURE() << "unexpected " << ir::ToString(e);
  return 0;
}

TEST(ApplyMatrix, ComputesTheProduct) {
  std::vector<RationalMatrix> matrices = {
      {{1, 2, 0}, {1, -2, 0}, {0, 0, 0}},  // a pair of rows, a row of nothing
      {{1, 1, 1}, {1, -1, 3}},             // columns that meet
      {{1, 1, 5, -5}, {2, -2, 0, 0}, {2, 2, 1, -1}},
      {{{3, 4}}},
  };
  for (int n : {3, 4, 5, 6, 7, 8, 9, 10}) {
    CookToom t = *MakeCookToom(n - 2, 3, GoodPoints(n));
    matrices.insert(matrices.end(), {t.at, t.bt, t.g});
  }
  for (const RationalMatrix& matrix : matrices) {
    std::vector<Rational> x = Numbers(matrix[0].size(), 9), want = Times(matrix, x);
    ir::VarMap values;
    std::vector<ir::Expr> vars;
    for (size_t i = 0; i < x.size(); ++i) {
      vars.push_back(ir::Var("x" + std::to_string(i), DType::Float(64)));
      values[vars.back().as<ir::VarNode>()] = ir::Imm(DType::Float(64), x[i].value());
    }
    std::vector<ir::Expr> rows = ApplyMatrix(matrix, vars);
    ASSERT_EQ(rows.size(), matrix.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      EXPECT_NEAR(Value(ir::Substitute(rows[i], values)), want[i].value(), 1e-9) << ir::ToString(rows[i]);
    }
  }
}

TEST(ApplyMatrix, MultipliesByNothingTrivial) {
  CookToom t = *MakeCookToom(2, 3, GoodPoints(4));
  std::vector<ir::Expr> x;
  for (const char* name : {"a", "b", "c", "d"}) x.push_back(ir::Var(name, DType::Float(32)));
  std::vector<std::string> texts;
  for (const ir::Expr& row : ApplyMatrix(t.bt, x)) texts.push_back(ir::ToString(row));
  EXPECT_EQ(texts, (std::vector<std::string>{"c - a", "c + b", "c - b", "d - b"}));
}

TEST(Pick, ConstantIndicesLeaveOneValue) {
  std::vector<ir::Expr> x = {ir::Var("a", DType::Float(32)), ir::Var("b", DType::Float(32)),
                             ir::Var("c", DType::Float(32))};
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Pick(ir::Expr(i), x).same_as(x[i]));
}

}  // namespace
}  // namespace hone::op

// Tables of expressions before and after, in printed form. i in [0,8), j in [0,4), k in [1,5), o in [0,4), n unbound.
#include "arith/simplify.h"

#include "common/expect.h"
#include "ir/printer.h"

namespace hone::arith {
namespace {

using ir::Eq;
using ir::Expr;
using ir::Max;
using ir::Min;
using ir::Ne;
using ir::Var;

class SimplifyTest : public testing::Test {
 protected:
  SimplifyTest() {
    analyzer.Bind(i, 0, 8);
    analyzer.Bind(j, 0, 4);
    analyzer.Bind(k, 1, 4);
    analyzer.Bind(o, 0, 4);
  }
  struct Row {
    Expr before;
    const char* after;
  };
  void Check(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
      Expr after = analyzer.Simplify(row.before);
      EXPECT_EQ(ToString(after), row.after) << "before: " << ToString(row.before);
      EXPECT_EQ(after.type(), row.before.type());
      EXPECT_TRUE(analyzer.Simplify(after).same_as(after))
          << "not stable: " << ToString(after) << " -> " << ToString(analyzer.Simplify(after));
    }
  }
  Expr R(Expr base, Expr stride, int lanes = 4) { return ir::MakeRamp(base, stride, lanes); }
  Expr B(Expr value, int lanes = 4) { return ir::MakeBroadcast(value, lanes); }

  Var i{"i"}, j{"j"}, k{"k"}, o{"o"}, n{"n"}, m{"m"};
  Analyzer analyzer;
};

TEST_F(SimplifyTest, Sums) {
  Check({
      {i + 0, "i"},
      {i + i, "i*2"},
      {i - i, "0"},
      {(i + 3) + (j + 4), "i + j + 7"},
      {j + i, "i + j"},  // i was bound further out
      {o * 4 + j * 2 + i, "i + j*2 + o*4"},
      {m + n, "m + n"},  // unbound: order unchanged
      {n + m, "n + m"},
      {i + n, "n + i"},  // unbound counts as further out
      {Expr(3) + i, "i + 3"},
      {Expr(3) - i, "i*-1 + 3"},
      {(i - 5) + 2, "i - 3"},
      {(i + j) * 3 - i * 3, "j*3"},
      {Expr(2) * (n * 3), "n*6"},
      {(n * 2) * (m * 3), "n*m*6"},
      {(n + 1) * 0, "0"},
      {i * 1, "i"},
      {n * m - n * m, "0"},
  });
}

TEST_F(SimplifyTest, SimpleComesBackAsItself) {
  for (const Expr& e : {Expr(i), i + 3, i * 4 + j, i / 3, (i + 1) % 3, Min(n, 4), n < m, i * 8 + j * 2 + 1,
                        ir::MakeRamp(i * 16, 1, 16), n / 4 % 7, ir::MakeSelect(n < 3, i, j), n - m}) {
    EXPECT_TRUE(analyzer.Simplify(e).same_as(e)) << ToString(e);
  }
}

TEST_F(SimplifyTest, DivisionAndModulo) {
  Check({
      {i / 1, "i"},
      {i % 1, "0"},
      {i / 8, "0"},
      {i % 8, "i"},
      {(i + 8) / 8, "1"},
      {(i + 8) % 8, "i"},
      {(i - 8) / 8, "-1"},  // floor
      {(i - 8) % 8, "i"},
      {(k - 1) / 4, "0"},  // k in [1,5)
      {(n * 4 + j) / 4, "n"},
      {(n * 4 + j) % 4, "j"},
      {(n * 8 + j * 2) / 4, "n*2 + j/2"},
      {(n * 4 + j) / 8, "n/2"},
      {(n * 4 + k) / 8, "(n*4 + k)/8"},  // k reaches 4
      {(n * 4 + k) % 8, "(n*4 + k)%8"},
      {(n * 4 + j) % 8, "n%2*4 + j"},
      {(n * 4 + 5) / 4, "n + 1"},
      {(n * 4 + 5) % 4, "1"},
      {(n + 20) / 16, "(n + 4)/16 + 1"},
      {n / 3 / 5, "n/15"},
      {(n / 3 + 2) / 5, "(n + 6)/15"},
      {n % 12 % 4, "n%4"},
      {n % 12 / 4, "n/4%3"},
      {(n % 6 + m * 6) % 3, "n%3"},
      {n / 4 * 4 + n % 4, "n"},
      {n / 4 * 8 + n % 4 * 2 + 1, "n*2 + 1"},
      {n / 12 * 12 + n / 4 % 3 * 4 + n % 4, "n"},
      {n * 17 / 16, "n + n/16"},
      {n * 6 / 4, "n + n/2"},
      {(n * -3) / 2, "n*-1 + n*-1/2"},
      {n / 0, "n/0"},  // unchanged
  });
}

TEST_F(SimplifyTest, MinMax) {
  Check({
      {Min(i, 8), "i"},
      {Min(i, 0), "0"},
      {Max(i, 7), "7"},
      {Min(n, n + 3), "n"},
      {Max(n, n + 3), "n + 3"},
      {Min(Expr(5), n), "min(n, 5)"},
      {Min(Min(n, 5), 3), "min(n, 3)"},
      {Min(Min(n, 5), 9), "min(n, 5)"},
      {Min(Min(n, m), n), "min(n, m)"},
      {Max(Min(n, m), n), "n"},
      {Min(Expr(14), Expr(56) - o * 14), "14"},  // 56 - o*14 is at least 14
      {Min(Expr(14), Expr(55) - o * 14), "min(o*-14 + 55, 14)"},
      {Min(Min(n, m), 3) + 0, "min(min(n, m), 3)"},
  });
}

TEST_F(SimplifyTest, Comparisons) {
  Check({
      {i < 8, "true"},
      {i < 0, "false"},
      {i >= 0, "true"},
      {i > 7, "false"},
      {i <= 6, "i < 7"},
      {i >= 1, "0 < i"},
      {n + 3 < m + 3, "n < m"},
      {n * 4 < 10, "n < 3"},
      {n * 4 <= 8, "n < 3"},
      {Expr(10) < n * 4, "2 < n"},
      {Eq(n * 2, m * 2 + 1), "false"},
      {Ne(n * 2, m * 4), "n != m*2"},
      {Eq(i, 9), "false"},
      {Eq(n, n), "true"},
      {n - m < 0, "n < m"},
      {o * 14 + 13 < 56, "true"},
      {Eq(3 - n, 0), "n == 3"},
  });
}

TEST_F(SimplifyTest, Conditions) {
  Expr a = n < 3, b = m < 3;
  Check({
      {a && (i < 8), "n < 3"},
      {a && (i < 0), "false"},
      {a || (i < 8), "true"},
      {a && (n < 3), "n < 3"},
      {ir::MakeNot(a), "2 < n"},
      {ir::MakeNot(ir::MakeNot(a)), "n < 3"},
      {ir::MakeNot(a && b), "2 < n || 2 < m"},
      {ir::MakeSelect(i < 8, n, m), "n"},
      {ir::MakeSelect(a, n + 1, 1 + n), "n + 1"},
      {ir::MakeIfThenElse(i < 3, Min(i, 2), i), "i"},  // under i < 3 the min is i
      {ir::MakeIfThenElse(i < 3, n, Max(i, 3)), "if_then_else(i < 3, n, i)"},
  });
}

TEST_F(SimplifyTest, Vectors) {
  Check({
      {R(i, 1) + B(n), "ramp(n + i, 1, 4)"},
      {B(n) + R(i, 1), "ramp(n + i, 1, 4)"},
      {B(n) - R(i, 2), "ramp(n - i, -2, 4)"},
      {R(i, 2) * B(3), "ramp(i*3, 6, 4)"},
      {R(i, 1) + R(n, 2), "ramp(n + i, 3, 4)"},
      {R(i, 1) - R(n, 1), "broadcast(n*-1 + i, 4)"},
      {B(n) * B(m), "broadcast(n*m, 4)"},
      {R(n * 4, 1) / B(4), "broadcast(n, 4)"},
      {R(n * 4, 1) % B(4), "ramp(0, 1, 4)"},
      {R(n, 4) / B(4), "ramp(n/4, 1, 4)"},
      {R(n, 4) % B(4), "broadcast(n%4, 4)"},
      {R(n, 1) / B(4), "ramp(n, 1, 4)/broadcast(4, 4)"},
      {R(i, 1) < B(11), "broadcast(true, 4)"},
      {R(i, 1) < B(10), "ramp(i, 1, 4) < broadcast(10, 4)"},
      {R(i, 1) < B(0), "broadcast(false, 4)"},
      {Min(R(i, 1), B(10)), "ramp(i, 1, 4)"},
      {(R(i, 1) < B(11)) && B(n < m), "broadcast(n < m, 4)"},
      {R(n, 0), "broadcast(n, 4)"},
  });
}

TEST_F(SimplifyTest, LoadsAndFloats) {
  ir::Buffer b = ir::Buffer::Make("b", DType::Float(32), 100, ir::Scope::kArgument);
  Expr x = MakeLoad(b, n), one = ir::Imm(DType::Float(32), 1), zero = ir::Imm(DType::Float(32), 0);
  Check({
      {MakeLoad(b, B(n + 0)), "broadcast(b[n], 4)"},
      {MakeLoad(b, R(n, 1) + B(4)), "b[ramp(n + 4, 1, 4)]"},
      {x * one, "b[n]"},
      {x + zero, "b[n] + 0.0f"},  // turns -0.0 into 0.0: not the same
      {x * zero, "b[n]*0.0f"},    // NaN, infinity and sign
      {x - x, "b[n] - b[n]"},
      {Max(x, zero), "max(b[n], 0.0f)"},
      {ir::MakeNot(x < zero), "!(b[n] < 0.0f)"},  // not x >= 0: NaN
      {ir::MakeCast(DType::Float(32, 4), B(i)) * B(one), "broadcast(f32(i), 4)"},
  });
}

TEST_F(SimplifyTest, SymbolicBounds) {
  Analyzer a;
  Var outer("outer"), inner("inner");
  a.Bind(outer, 0, 5);
  a.Bind(inner, 0, Min(Expr(14), Expr(57) - outer * 14));  // a tail of 1
  EXPECT_TRUE(a.CanProve(outer * 14 + inner < 57));
  EXPECT_FALSE(a.CanProve(outer * 14 + inner < 56));
  EXPECT_TRUE(a.CanProve(inner < 14));
  EXPECT_EQ(a.ConstUpperBound(Min(Expr(14), Expr(57) - outer * 14)), 14);
  EXPECT_EQ(a.ConstBounds(Min(Expr(14), Expr(57) - outer * 14)), std::pair(int64_t{1}, int64_t{14}));
  EXPECT_EQ(a.ConstUpperBound(outer * 14 + Min(Expr(14), Expr(57) - outer * 14)), 57);
  EXPECT_EQ(a.ConstUpperBound(n), std::nullopt);
}

TEST_F(SimplifyTest, Assumptions) {
  Expr extent = Min(Expr(14), Expr(57) - o * 20);
  EXPECT_EQ(ToString(analyzer.Simplify(extent)), "min(o*-20 + 57, 14)");
  analyzer.Assume(o < 2);
  EXPECT_EQ(ToString(analyzer.Simplify(extent)), "14");
  EXPECT_TRUE(analyzer.CanProve(o * 2 < 3));
  analyzer.Forget();
  EXPECT_EQ(ToString(analyzer.Simplify(extent)), "min(o*-20 + 57, 14)");
  analyzer.Assume(n < m && m < 7);
  EXPECT_TRUE(analyzer.CanProve(n < m + 3));
  EXPECT_FALSE(analyzer.CanProve(m < n + 3));
  analyzer.Forget();
  EXPECT_FALSE(analyzer.CanProve(n < m + 3));
}

TEST_F(SimplifyTest, VariablesOfOneValue) {
  Analyzer a;
  Var one("one");
  a.Bind(one, n + 2, 1);
  EXPECT_EQ(ToString(a.Simplify(one * 4)), "n*4 + 8");
  a.Unbind(one);
  EXPECT_EQ(ToString(a.Simplify(Expr(one))), "one");
}

}  // namespace
}  // namespace hone::arith

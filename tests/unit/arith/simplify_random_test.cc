// Random expressions: the result of Simplify has the same value for all values in range, keeps its type, and is a fixed
// point. The interpreter decides.
#include "arith/simplify.h"
#include "base/rng.h"
#include "common/evaluate.h"
#include "common/expect.h"
#include "ir/printer.h"
#include "ir/scalar.h"

namespace hone::arith {
namespace {

using ir::Expr;
using ir::ExprKind;
using ir::Var;

class Generator {
 public:
  explicit Generator(uint64_t seed) : rng_(seed) {}

  Expr Index(int depth) {
    if (depth == 0 || Pick(6) == 0) return Pick(3) == 0 ? Expr(Small()) : Expr(vars[Pick(vars.size())]);
    static constexpr ExprKind kKinds[] = {ExprKind::kAdd,       ExprKind::kAdd,       ExprKind::kSub, ExprKind::kMul,
                                          ExprKind::kDiv,       ExprKind::kMod,       ExprKind::kMin, ExprKind::kMax,
                                          ExprKind::kShiftLeft, ExprKind::kShiftRight};
    ExprKind kind = kKinds[Pick(10)];
    if (ir::IsShift(kind)) return MakeBinary(kind, Index(depth - 1), Amount());
    if (kind == ExprKind::kDiv || kind == ExprKind::kMod) return MakeBinary(kind, Index(depth - 1), Expr(Divisor()));
    if (kind == ExprKind::kMul && Pick(4)) return Index(depth - 1) * Expr(Small());
    if (Pick(10) == 0) return ir::MakeSelect(Condition(depth - 1), Index(depth - 1), Index(depth - 1));
    if (Pick(12) == 0) return ir::MakeIfThenElse(Condition(depth - 1), Index(depth - 1), Index(depth - 1));
    return MakeBinary(kind, Index(depth - 1), Index(depth - 1));
  }

  Expr Condition(int depth) {
    if (depth > 0 && Pick(4) == 0) {
      Expr a = Condition(depth - 1), b = Condition(depth - 1);
      return Pick(3) == 0 ? ir::MakeNot(a) : Pick(2) ? a && b : a || b;
    }
    auto kind = static_cast<ExprKind>(static_cast<int>(ExprKind::kEq) + static_cast<int>(Pick(6)));
    return MakeBinary(kind, Index(depth), Index(depth));
  }

  Expr Vector(int depth) {
    if (depth == 0 || Pick(4) == 0) {
      return Pick(2) ? ir::MakeRamp(Index(1), Expr(Small()), 4) : ir::MakeBroadcast(Index(1), 4);
    }
    static constexpr ExprKind kKinds[] = {ExprKind::kAdd, ExprKind::kSub,       ExprKind::kMul,
                                          ExprKind::kDiv, ExprKind::kMod,       ExprKind::kMin,
                                          ExprKind::kMax, ExprKind::kShiftLeft, ExprKind::kShiftRight};
    ExprKind kind = kKinds[Pick(9)];
    if (ir::IsShift(kind)) return MakeBinary(kind, Vector(depth - 1), Amount());
    if (kind == ExprKind::kDiv || kind == ExprKind::kMod) return MakeBinary(kind, Vector(depth - 1), Expr(Divisor()));
    return MakeBinary(kind, Vector(depth - 1), Vector(depth - 1));
  }

  Expr VectorCondition() {
    auto kind = static_cast<ExprKind>(static_cast<int>(ExprKind::kEq) + static_cast<int>(Pick(6)));
    return MakeBinary(kind, Vector(1), Vector(1));
  }

  uint64_t Pick(uint64_t n) { return rng_.UniformInt(n); }
  std::vector<Var> vars;

 private:
  int64_t Small() { return static_cast<int64_t>(Pick(19)) - 6; }
  // Between 0 and 6, constant or not.
  Expr Amount() { return Pick(3) ? Expr(static_cast<int64_t>(Pick(7))) : Index(1) % Expr(5); }
  int64_t Divisor() {
    static constexpr int64_t kDivisors[] = {1, 2, 3, 4, 4, 6, 8, 12, -3};
    return kDivisors[Pick(9)];
  }
  Rng rng_;
};

class SimplifyRandomTest : public testing::TestWithParam<int> {};

TEST_P(SimplifyRandomTest, Agrees) {
  Generator generator(static_cast<uint64_t>(GetParam()));
  Var a("a"), b("b"), c("c");
  generator.vars = {a, b, c};
  for (int round = 0; round < 400; ++round) {
    Analyzer analyzer;
    int64_t a0 = static_cast<int64_t>(generator.Pick(5)) - 2, an = static_cast<int64_t>(generator.Pick(5)) + 1;
    int64_t bn = static_cast<int64_t>(generator.Pick(6)) + 1;
    // b is ragged: its extent depends on a. c is unknown.
    Expr b_extent = ir::Min(Expr(bn), Expr(a0 + an + 1) - a);
    analyzer.Bind(a, a0, an);
    analyzer.Bind(b, 0, b_extent);
    static constexpr int kShapes = 4;
    Expr e = round % kShapes == 0   ? generator.Condition(3)
             : round % kShapes == 1 ? generator.Vector(2)
             : round % kShapes == 2 ? generator.VectorCondition()
                                    : generator.Index(4);
    Expr simple = analyzer.Simplify(e);
    ASSERT_EQ(simple.type(), e.type());
    auto bounds = analyzer.ConstBounds(e);
    for (int64_t x = a0; x < a0 + an; ++x) {
      for (int64_t y = 0; y < std::min(bn, a0 + an + 1 - x); ++y) {
        for (int64_t z : {-7, -1, 0, 1, 5, 24}) {
          auto before = ir::EvaluateExpr(e, {{a, x}, {b, y}, {c, z}}),
               after = ir::EvaluateExpr(simple, {{a, x}, {b, y}, {c, z}});
          ASSERT_TRUE(before.ok() && after.ok()) << ToString(e);
          ASSERT_EQ(before->ints, after->ints)
              << ToString(e) << "\n-> " << ToString(simple) << "\nat a=" << x << " b=" << y << " c=" << z << ", a in ["
              << a0 << ", +" << an << "), b < min(" << bn << ", ..)";
          for (int64_t value : before->ints) {
            ASSERT_TRUE(!bounds || (bounds->first <= value && value <= bounds->second)) << ToString(e);
          }
        }
      }
    }
    Expr again = analyzer.Simplify(simple);
    // Rarely, one more round finds something; two must suffice.
    Expr third = analyzer.Simplify(again);
    EXPECT_TRUE(third.same_as(again)) << ToString(e) << "\n-> " << ToString(simple) << "\n-> " << ToString(again)
                                      << "\n-> " << ToString(third);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimplifyRandomTest, testing::Range(0, 6));

}  // namespace
}  // namespace hone::arith

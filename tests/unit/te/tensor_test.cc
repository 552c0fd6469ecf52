#include "te/tensor.h"

#include "common/expect.h"
#include "ir/printer.h"

namespace hone::te {
namespace {

using ir::Expr;
using Index = std::vector<ir::Var>;

TEST(TensorTest, MatrixProduct) {
  Tensor a = Placeholder("a", {4, 8}), b = Placeholder("b", {8, 5});
  ir::IterVar k = ReduceAxis(8, "k");
  Tensor c =
      Compute("c", {4, 5}, {"i", "j"}, [&](const Index& x) { return Sum(a(x[0], k.var) * b(k.var, x[1]), {k}); });
  EXPECT_EQ(ToString(c.node()->body), "sum(a(i, k)*b(k, j), k: 8)");
  EXPECT_EQ(c.shape(), (std::vector<int64_t>{4, 5}));
  EXPECT_EQ(c.type(), DType::Float(32));
  EXPECT_EQ(c.node()->kind, TensorKind::kCompute);
  ASSERT_EQ(c.node()->axes.size(), 2u);
  EXPECT_EQ(c.node()->axes[1].var.name(), "j");
  EXPECT_EQ(c.node()->axes[1].extent, 5);
  ASSERT_EQ(c.node()->reduce_axes.size(), 1u);
  EXPECT_TRUE(c.node()->reduce_axes[0].var.same_as(k.var));
  EXPECT_EQ(a.node()->kind, TensorKind::kPlaceholder);
}

TEST(TensorTest, OrderIsInputsFirstAndStable) {
  Tensor a = Placeholder("a", {4});
  auto plus = [](const std::string& name, const Tensor& x, const Tensor& y) {
    return Compute(name, {4}, {"i"}, [&](const Index& i) { return x(i[0]) + y(i[0]) * y(i[0]); });
  };
  Tensor b = plus("b", a, a), c = plus("c", b, a), d = plus("d", c, b);
  std::vector<std::string> names;
  for (const Tensor& t : TopologicalOrder({d, c})) names.push_back(t.name());
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b", "c", "d"}));
  std::vector<Tensor> inputs = InputsOf(d);
  ASSERT_EQ(inputs.size(), 2u);  // b is read twice and named once
  EXPECT_TRUE(inputs[0].same_as(c));
  EXPECT_TRUE(inputs[1].same_as(b));
}

TEST(TensorTest, InlineSubstitutesTheIndices) {
  Tensor a = Placeholder("a", {8});
  Tensor pad = Compute("pad", {10}, {"p"}, [&](const Index& p) {
    return IfThenElse(p[0] >= 1 && p[0] < 9, a(p[0] - 1), ir::Imm(DType::Float(32), 0));
  });
  ir::IterVar k = ReduceAxis(3, "k");
  Tensor sum = Compute("sum", {8}, {"i"}, [&](const Index& i) { return Sum(pad(i[0] + k.var), {k}); });
  EXPECT_EQ(ToString(Inline(sum.node()->body, pad)),
            "sum(if_then_else(i + k >= 1 && i + k < 9, a(i + k - 1), 0.0f), k: 3)");
  // A read inside the index of a read is replaced as well.
  Tensor twice = Compute("twice", {8}, {"i"}, [&](const Index& i) { return i[0] * 2; });
  Tensor nested = Compute("nested", {4}, {"i"}, [&](const Index& i) { return twice(twice(i[0])); });
  EXPECT_EQ(ToString(Inline(nested.node()->body, twice)), "i*2*2");
}

TEST(TensorTest, ReplaceReads) {
  Tensor a = Placeholder("a", {8}), copy = Placeholder("copy", {8});
  Tensor b = Compute("b", {8}, {"i"}, [&](const Index& i) { return a(i[0]) + a(7 - i[0]); });
  EXPECT_EQ(ToString(ReplaceReads(b.node()->body, a, copy)), "copy(i) + copy(7 - i)");
  EXPECT_TRUE(ReplaceReads(b.node()->body, copy, a).same_as(b.node()->body));
}

TEST(TensorTest, Reducers) {
  DType f32 = DType::Float(32);
  double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(ReduceIdentity(ir::Reducer::kSum, f32).as<ir::FloatImm>()->value, 0);
  EXPECT_EQ(ReduceIdentity(ir::Reducer::kMax, f32).as<ir::FloatImm>()->value, -inf);
  EXPECT_EQ(ReduceIdentity(ir::Reducer::kMin, f32).as<ir::FloatImm>()->value, inf);
  EXPECT_EQ(*AsIntImm(ReduceIdentity(ir::Reducer::kMax, DType::Int(8))), -128);
  EXPECT_EQ(*AsIntImm(ReduceIdentity(ir::Reducer::kMin, DType::Int(8))), 127);
  EXPECT_EQ(*AsIntImm(ReduceIdentity(ir::Reducer::kMax, DType::Int(64))), INT64_MIN);
  EXPECT_EQ(*AsIntImm(ReduceIdentity(ir::Reducer::kMin, DType::UInt(8))), 255);
  ir::Var a("a", f32), b("b", f32);
  EXPECT_EQ(ToString(CombineReduction(ir::Reducer::kSum, a, b)), "a + b");
  EXPECT_EQ(ToString(CombineReduction(ir::Reducer::kMax, a, b)), "select(b != b, b, max(b, a))");
  ir::Var i("i"), j("j");
  EXPECT_EQ(ToString(CombineReduction(ir::Reducer::kMin, i, j)), "min(j, i)");
}

}  // namespace
}  // namespace hone::te

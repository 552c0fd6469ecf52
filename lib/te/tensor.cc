#include "te/tensor.h"

#include <limits>

#include "base/check.h"

namespace hone::te {

using ir::Expr;
using ir::IterVar;

static void CheckShape(const std::vector<int64_t>& shape) {
  for (int64_t extent : shape) HONE_CHECK(extent >= 0);
}

static Tensor MakeComputation(std::string name, std::vector<int64_t> shape, std::vector<std::string> axis_names,
                              const std::function<Expr(const std::vector<ir::Var>&)>& body, bool constant) {
  CheckShape(shape);
  HONE_CHECK(shape.size() == axis_names.size());
  std::vector<IterVar> axes;
  std::vector<ir::Var> vars;
  for (size_t i = 0; i < shape.size(); ++i) {
    vars.emplace_back(std::move(axis_names[i]));
    axes.push_back({vars.back(), shape[i]});
  }
  return ComputeOver(std::move(name), std::move(axes), body(vars), constant);
}

Expr Tensor::operator()(const std::vector<Expr>& indices) const {
  HONE_CHECK(defined() && indices.size() == shape().size());
  for (const Expr& i : indices) HONE_CHECK(i.type() == DType::Int(64));
  return Expr(new ir::Access(*this, indices));
}

Tensor Placeholder(std::string name, std::vector<int64_t> shape, DType type) {
  CheckShape(shape);
  return Tensor(new TensorNode(std::move(name), type, std::move(shape)));
}

Tensor Compute(std::string name, std::vector<int64_t> shape, std::vector<std::string> axis_names,
               const std::function<Expr(const std::vector<ir::Var>&)>& body) {
  return MakeComputation(std::move(name), std::move(shape), std::move(axis_names), body, /*constant=*/false);
}

Tensor ComputeConstant(std::string name, std::vector<int64_t> shape, std::vector<std::string> axis_names,
                       const std::function<Expr(const std::vector<ir::Var>&)>& body) {
  Tensor tensor = MakeComputation(std::move(name), std::move(shape), std::move(axis_names), body, /*constant=*/true);
  for (const Tensor& input : InputsOf(tensor)) {
    HONE_CHECK(input.node()->constant || input.node()->kind == TensorKind::kPlaceholder);
  }
  return tensor;
}

Tensor ComputeOver(std::string name, std::vector<IterVar> axes, Expr body, bool constant) {
  HONE_CHECK(body.defined() && body.type().is_scalar());
  std::vector<int64_t> shape;
  for (const IterVar& axis : axes) shape.push_back(axis.extent);
  auto* node = new TensorNode(std::move(name), body.type(), std::move(shape));
  node->kind = TensorKind::kCompute;
  node->axes = std::move(axes);
  if (const auto* reduce = body.as<ir::Reduce>()) node->reduce_axes = reduce->axes;
  node->body = std::move(body);
  node->constant = constant;
  return Tensor(node);
}

IterVar ReduceAxis(int64_t extent, std::string name) {
  HONE_CHECK(extent >= 0);
  return {ir::Var(std::move(name)), extent};
}

Expr ReduceOver(ir::Reducer reducer, Expr body, std::vector<IterVar> axes) {
  return Expr(new ir::Reduce(reducer, std::move(axes), std::move(body)));
}
Expr Sum(Expr body, std::vector<IterVar> axes) { return ReduceOver(ir::Reducer::kSum, body, std::move(axes)); }
Expr MaxOver(Expr body, std::vector<IterVar> axes) { return ReduceOver(ir::Reducer::kMax, body, std::move(axes)); }
Expr MinOver(Expr body, std::vector<IterVar> axes) { return ReduceOver(ir::Reducer::kMin, body, std::move(axes)); }

Expr ReduceIdentity(ir::Reducer reducer, DType type) {
  if (reducer == ir::Reducer::kSum) return ir::Imm(type, 0);
  bool lowest = reducer == ir::Reducer::kMax;
  if (type.is_float()) {
    double inf = std::numeric_limits<double>::infinity();
    return ir::Imm(type, lowest ? -inf : inf);
  }
  HONE_CHECK(type.is_int() || type.is_uint());
  if (type.is_uint()) return ir::MakeInt(type, lowest ? 0 : -1);
  int64_t min = std::numeric_limits<int64_t>::min() >> (64 - type.bits);
  return ir::MakeInt(type, lowest ? min : ~min);
}

Expr CombineReduction(ir::Reducer reducer, Expr a, Expr b) {
  switch (reducer) {
    case ir::Reducer::kSum:
      return a + b;
    case ir::Reducer::kMax:
    case ir::Reducer::kMin: {
      const bool max = reducer == ir::Reducer::kMax;
      // If either value is NaN, ir::Max and ir::Min return the second: only a NaN in the first is lost.
      Expr most = max ? ir::Max(b, a) : ir::Min(b, a);
      return b.type().is_float() ? ir::MakeSelect(ir::Ne(b, b), b, most) : most;
    }
  }
  HONE_CHECK(false && "unknown reducer");
  return Expr();
}

Expr Exp(Expr x) { return ir::MakeCall(x.type(), ir::Intrinsic::kExp, {x}); }
Expr Sqrt(Expr x) { return ir::MakeCall(x.type(), ir::Intrinsic::kSqrt, {x}); }
Expr Tanh(Expr x) { return ir::MakeCall(x.type(), ir::Intrinsic::kTanh, {x}); }
Expr IfThenElse(Expr condition, Expr if_true, Expr if_false) {
  return ir::MakeIfThenElse(std::move(condition), std::move(if_true), std::move(if_false));
}

}  // namespace hone::te

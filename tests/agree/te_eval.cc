#include "agree/te_eval.h"

#include <cmath>
#include <unordered_map>

#include "base/check.h"

namespace hone::agree {
namespace {

using ir::Expr;
using ir::ExprKind;

class Evaluator {
 public:
  explicit Evaluator(const Values& values) : values_(values) {}

  void Element(const te::Tensor& t, int64_t flat, std::vector<double>* out) {
    const te::TensorNode& node = *t.node();
    for (size_t d = node.axes.size(); d-- > 0;) {
      env_[node.axes[d].var.node()] = flat % node.axes[d].extent;
      flat /= node.axes[d].extent;
    }
    const auto* reduce = node.body.as<ir::Reduce>();
    out->push_back(reduce ? OverAxes(*reduce) : Eval(node.body));
  }

 private:
  double OverAxes(const ir::Reduce& r) {
    double total = r.reducer == ir::Reducer::kSum ? 0 : r.reducer == ir::Reducer::kMax ? -INFINITY : INFINITY;
    Nest(r, 0, &total);
    return total;
  }
  void Nest(const ir::Reduce& r, size_t axis, double* total) {
    if (axis == r.axes.size()) {
      double v = Eval(r.body);
      const bool lost = std::isnan(*total) || std::isnan(v);
      *total = r.reducer == ir::Reducer::kSum   ? *total + v
               : lost                           ? NAN
               : r.reducer == ir::Reducer::kMax ? std::fmax(*total, v)
                                                : std::fmin(*total, v);
      return;
    }
    for (int64_t i = 0; i < r.axes[axis].extent; ++i) {
      env_[r.axes[axis].var.node()] = i;
      Nest(r, axis + 1, total);
    }
  }

  double Eval(const Expr& e) {
    if (const auto* i = e.as<ir::IntImm>()) return static_cast<double>(i->value);
    if (const auto* f = e.as<ir::FloatImm>()) return f->value;
    if (const auto* v = e.as<ir::VarNode>()) return static_cast<double>(env_.at(v));
    if (const auto* c = e.as<ir::Cast>()) return c->type.is_float() ? Eval(c->value) : std::trunc(Eval(c->value));
    if (const auto* n = e.as<ir::Not>()) return Eval(n->a) == 0;
    if (const auto* s = e.as<ir::Select>()) return Eval(s->condition) != 0 ? Eval(s->if_true) : Eval(s->if_false);
    if (const auto* c = e.as<ir::Call>()) {
      HONE_CHECK(c->fn == ir::Intrinsic::kIfThenElse);
      return Eval(c->args[Eval(c->args[0]) != 0 ? 1 : 2]);
    }
    if (const auto* a = e.as<ir::Access>()) return Read(*a);
    return OfBinary(*e.as<ir::Binary>());
  }

  double Read(const ir::Access& a) {
    int64_t flat = 0;
    for (size_t d = 0; d < a.indices.size(); ++d) {
      auto i = static_cast<int64_t>(Eval(a.indices[d]));
      HONE_CHECK(i >= 0 && i < a.tensor->shape[d]);
      flat = flat * a.tensor->shape[d] + i;
    }
    return values_.at(a.tensor->name)[flat];
  }

  double OfBinary(const ir::Binary& op) {
    double a = Eval(op.a), b = Eval(op.b);
    switch (op.kind) {
      case ExprKind::kAdd:
        return a + b;
      case ExprKind::kSub:
        return a - b;
      case ExprKind::kMul:
        return a * b;
      case ExprKind::kDiv:
        return op.type.is_float() ? a / b : std::floor(a / b);
      case ExprKind::kMod:
        return a - std::floor(a / b) * b;
      case ExprKind::kShiftLeft:
        return a * std::exp2(b);
      case ExprKind::kShiftRight:
        return std::floor(a / std::exp2(b));
      case ExprKind::kMin:
        return a < b ? a : b;
      case ExprKind::kMax:
        return a > b ? a : b;
      case ExprKind::kEq:
        return a == b;
      case ExprKind::kNe:
        return a != b;
      case ExprKind::kLt:
        return a < b;
      case ExprKind::kLe:
        return a <= b;
      case ExprKind::kGt:
        return a > b;
      case ExprKind::kGe:
        return a >= b;
      case ExprKind::kAnd:
        return a != 0 && b != 0;
      default:
        return a != 0 || b != 0;
    }
  }

  const Values& values_;
  std::unordered_map<const ir::VarNode*, int64_t> env_;
};

}  // namespace

void EvaluateDag(const std::vector<te::Tensor>& outputs, Values* values) {
  for (const te::Tensor& t : te::TopologicalOrder(outputs)) {
    if (values->count(t.name()) != 0) continue;
    int64_t size = 1;
    for (int64_t e : t.shape()) size *= e;
    std::vector<double> result;
    Evaluator evaluator(*values);
    for (int64_t i = 0; i < size; ++i) evaluator.Element(t, i, &result);
    (*values)[t.name()] = std::move(result);
  }
}

}  // namespace hone::agree

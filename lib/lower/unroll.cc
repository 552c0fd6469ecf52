// Unroll: loops of kind unrolled become copies of their body.
//
// Runs after vectorize, as the last pass that changes loops: earlier passes work on one copy of a body, later ones on
// all copies. Each copy's indices come from a template (a sum of coefficient * variable, computed once), not from
// substituting and simplifying again: a register tile of 28 accumulators unrolled 16 times has about 1,500 indices.
// Copies whose indices differ by a constant share the rest of the expression, node for node: base + constant, the form
// that a back end wants for addresses.
#include <map>
#include <memory>
#include <unordered_map>

#include "arith/linear.h"
#include "arith/simplify.h"
#include "ir/analysis.h"
#include "ir/visitor.h"
#include "ir/walk.h"
#include "lower/passes.h"

namespace hone::lower {
namespace {

// If a statement would get more copies than this, inner loops stay serial.
constexpr int64_t kMaxCopies = 1 << 15;

class Unroller final : public ir::Mutator {
 private:
  // An index as (part without unrolled variables) + sum(coefficient * unrolled variable) + constant.
  struct IndexTemplate {
    Expr index;  // kept alive, as its address is the key
    bool affine = true;
    bool unchanged = false;  // has no unrolled variable
    Expr base;               // null: 0
    std::vector<std::pair<const VarNode*, int64_t>> moving;
    int64_t constant = 0;
    std::unordered_map<int64_t, Expr> made;
  };

  Stmt MutateFor(const For& op) override {
    const int64_t *min = AsIntImm(op.min), *extent = AsIntImm(op.extent);
    const int64_t known = value_.empty() ? 0 : 1;
    if (op.for_kind == ir::ForKind::kUnrolled && min && extent &&
        copies_ * std::max<int64_t>(*extent, 1) <= kMaxCopies) {
      return Copies(op, *min, *extent);
    }
    Expr new_min = op.min, new_extent = op.extent;
    if (known) {
      new_min = Generic(op.min);
      new_extent = Generic(op.extent);
      // An extent may become constant with a copy's value.
      const int64_t *m = AsIntImm(new_min), *e = AsIntImm(new_extent);
      if (e && *e <= 0) return ir::MakeBlock({});
      if (op.for_kind == ir::ForKind::kUnrolled && m && e && copies_ * std::max<int64_t>(*e, 1) <= kMaxCopies) {
        return Copies(op, *m, *e);
      }
    }
    analyzer_.Bind(op.var, new_min, new_extent);
    Stmt body = Mutate(op.body);
    if (!body.defined()) return body;
    const ForKind kind = op.for_kind == ir::ForKind::kUnrolled ? ir::ForKind::kSerial : op.for_kind;
    if (body.same_as(op.body) && new_min.same_as(op.min) && new_extent.same_as(op.extent) && kind == op.for_kind)
      return Same(op);
    return ir::MakeFor(op.var, new_min, new_extent, kind, body);
  }

  Stmt Copies(const For& op, int64_t min, int64_t extent) {
    std::vector<Stmt> copies;
    copies.reserve(extent);
    copies_ *= std::max<int64_t>(extent, 1);
    const int outside = scope_;
    scope_ = scopes_.try_emplace({outside, op.var.node()}, static_cast<int>(scopes_.size()) + 1).first->second;
    for (int64_t i = min; i < min + extent; ++i) {
      value_[op.var.node()] = Expr(i);
      copies.push_back(Mutate(op.body));
    }
    value_.erase(op.var.node());
    scope_ = outside;
    copies_ /= std::max<int64_t>(extent, 1);
    return ir::MakeBlock(std::move(copies));
  }

  Expr MutateVar(const VarNode& op) override {
    auto it = value_.find(&op);
    return it == value_.end() ? Same(op) : it->second;
  }

  Expr Generic(const Expr& e) {
    Expr result = Mutate(e);
    return result.same_as(e) ? e : analyzer_.Simplify(result);
  }

  Expr Index(const Expr& index) {
    if (value_.empty()) return index;
    if (const auto* ramp = index.as<ir::Ramp>(); ramp && AsIntImm(ramp->stride)) {
      Expr base = Index(ramp->base);
      return base.same_as(ramp->base) ? index : ir::MakeRamp(base, ramp->stride, ramp->type.lanes);
    }
    if (index.type().is_vector() || AsIntImm(index)) return AsIntImm(index) ? index : Generic(index);
    IndexTemplate& t = TemplateOf(index);
    if (t.unchanged) return index;
    if (!t.affine) return Generic(index);
    int64_t constant = t.constant;
    for (const auto& [var, coefficient] : t.moving) constant += coefficient * *AsIntImm(value_.at(var));
    Expr& made = t.made[constant];
    if (!made.defined()) {
      if (!t.base.defined())
        made = Expr(constant);
      else
        made = constant == 0 ? t.base : t.base + constant;
    }
    return made;
  }

  IndexTemplate& TemplateOf(const Expr& index) {
    auto [it, fresh] = templates_.try_emplace({index.get(), scope_});
    if (!fresh) return *it->second;
    it->second = std::make_unique<IndexTemplate>();
    IndexTemplate& t = *it->second;
    t.index = index;
    arith::Linear linear = arith::ToLinear(index), rest;
    for (const arith::Linear::Term& term : linear.terms) {
      const auto* var = term.term.as<VarNode>();
      if (var && value_.count(var)) {
        t.moving.emplace_back(var, term.coefficient);
      } else {
        if (!var && UsesUnrolled(term.term)) t.affine = false;
        rest.terms.push_back(term);
      }
    }
    t.unchanged = t.affine && t.moving.empty();
    t.constant = linear.constant;
    if (!rest.terms.empty()) t.base = arith::ToExpr(rest);
    return t;
  }

  bool UsesUnrolled(const Expr& e) const {
    for (const Var& v : ir::FreeVars(e)) {
      if (value_.count(v.node())) return true;
    }
    return false;
  }

  // If a copy decides the condition, do not copy the other side.
  Expr MutateSelect(const ir::Select& op) override {
    if (value_.empty()) return Mutator::MutateSelect(op);
    Expr condition = Mutate(op.condition);
    const auto* all = condition.as<ir::Broadcast>();
    if (const int64_t* value = AsIntImm(all ? all->value : condition)) return Mutate(*value ? op.if_true : op.if_false);
    return ir::MakeSelect(condition, Mutate(op.if_true), Mutate(op.if_false));
  }
  Expr MutateLoad(const ir::Load& op) override {
    Expr index = Index(op.index);
    return index.same_as(op.index) ? Same(op) : ir::MakeLoad(op.buffer, index);
  }
  Stmt MutateStore(const ir::Store& op) override {
    Expr index = Index(op.index), value = Mutate(op.value);
    if (index.same_as(op.index) && value.same_as(op.value)) return Same(op);
    Stmt store = ir::MakeStore(op.buffer, index, value);
    return ir::HasNoEffect(store) ? Stmt() : store;
  }
  // A copy's value often decides its condition.
  Stmt MutateIf(const ir::If& op) override {
    Expr condition = Generic(op.condition);
    if (const int64_t* c = AsIntImm(condition)) {
      if (*c) return Mutate(op.then_case);
      return op.else_case.defined() ? Mutate(op.else_case) : ir::MakeBlock({});
    }
    Stmt then_case = Mutate(op.then_case), else_case = Mutate(op.else_case);
    if (!then_case.defined()) then_case = ir::MakeBlock({});
    if (condition.same_as(op.condition) && then_case.same_as(op.then_case) && else_case.same_as(op.else_case))
      return Same(op);
    return ir::MakeIf(condition, then_case, else_case);
  }
  Expr MutateCall(const ir::Call& op) override {
    if (op.fn != ir::Intrinsic::kIfThenElse || value_.empty()) return Mutator::MutateCall(op);
    Expr condition = Generic(op.args[0]);
    if (const int64_t* c = AsIntImm(condition)) return Mutate(op.args[*c ? 1 : 2]);
    return ir::MakeIfThenElse(condition, Mutate(op.args[1]), Mutate(op.args[2]));
  }

  std::unordered_map<const VarNode*, Expr> value_;
  // A template is valid for one list of unrolled loops around an index; places may share nodes.
  struct KeyHash {
    size_t operator()(const std::pair<const void*, int>& k) const {
      return std::hash<const void*>()(k.first) * 31 + k.second;
    }
  };
  std::unordered_map<std::pair<const void*, int>, std::unique_ptr<IndexTemplate>, KeyHash> templates_;
  std::map<std::pair<int, const VarNode*>, int> scopes_;  // (scope, unrolled variable) -> scope inside it
  int scope_ = 0;
  int64_t copies_ = 1;
  arith::Analyzer analyzer_;
};

}  // namespace

Stmt UnrollLoops(const Stmt& body) {
  bool found = false;
  ir::Walk(body,
           ir::Overloaded{[&](const For& op) { return !(found = found || op.for_kind == ir::ForKind::kUnrolled); },
                          [](const ir::Store&) { return false; }, [](const auto&) { return true; }});
  return found ? Unroller().Mutate(body) : body;
}

}  // namespace hone::lower

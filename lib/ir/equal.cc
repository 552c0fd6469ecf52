#include "ir/equal.h"

#include <bit>
#include <functional>
#include <string>
#include <utility>

#include "ir/visitor.h"

namespace hone::ir {
namespace {

class Comparer {
 public:
  bool Same(const Expr& a, const Expr& b);
  bool Same(const Stmt& a, const Stmt& b);

 private:
  bool SameVar(const VarNode* a, const VarNode* b) const;
  bool SameAll(const std::vector<Expr>& a, const std::vector<Expr>& b);
  template <typename T>
  bool SameUnder(const Var& a, const Var& b, const T& body_a, const T& body_b);

  std::vector<std::pair<const VarNode*, const VarNode*>> bound_;
};

bool Comparer::SameVar(const VarNode* a, const VarNode* b) const {
  for (auto it = bound_.rbegin(); it != bound_.rend(); ++it) {
    if (it->first == a || it->second == b) return it->first == a && it->second == b;
  }
  return a == b;
}

bool Comparer::SameAll(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!Same(a[i], b[i])) return false;
  }
  return true;
}

template <typename T>
bool Comparer::SameUnder(const Var& a, const Var& b, const T& body_a, const T& body_b) {
  if (a.type() != b.type()) return false;
  bound_.emplace_back(a.node(), b.node());
  bool same = Same(body_a, body_b);
  bound_.pop_back();
  return same;
}

bool Comparer::Same(const Expr& a, const Expr& b) {
  if (a.same_as(b) && bound_.empty()) return true;
  if (!a.defined() || !b.defined()) return !a.defined() && !b.defined();
  if (a.kind() != b.kind() || a.type() != b.type()) return false;
  switch (a.kind()) {
    case ExprKind::kIntImm:
      return a.as<IntImm>()->value == b.as<IntImm>()->value;
    case ExprKind::kFloatImm:
      return std::bit_cast<uint64_t>(a.as<FloatImm>()->value) == std::bit_cast<uint64_t>(b.as<FloatImm>()->value);
    case ExprKind::kVar:
      return SameVar(a.as<VarNode>(), b.as<VarNode>());
    case ExprKind::kCast:
      return Same(a.as<Cast>()->value, b.as<Cast>()->value);
    case ExprKind::kNot:
      return Same(a.as<Not>()->a, b.as<Not>()->a);
    case ExprKind::kSelect: {
      const auto *x = a.as<Select>(), *y = b.as<Select>();
      return Same(x->condition, y->condition) && Same(x->if_true, y->if_true) && Same(x->if_false, y->if_false);
    }
    case ExprKind::kLoad: {
      const auto *x = a.as<Load>(), *y = b.as<Load>();
      return x->buffer.same_as(y->buffer) && Same(x->index, y->index);
    }
    case ExprKind::kRamp:
      return Same(a.as<Ramp>()->base, b.as<Ramp>()->base) && Same(a.as<Ramp>()->stride, b.as<Ramp>()->stride);
    case ExprKind::kBroadcast:
      return Same(a.as<Broadcast>()->value, b.as<Broadcast>()->value);
    case ExprKind::kCall:
      return a.as<Call>()->fn == b.as<Call>()->fn && SameAll(a.as<Call>()->args, b.as<Call>()->args);
    case ExprKind::kLet: {
      const auto *x = a.as<Let>(), *y = b.as<Let>();
      return Same(x->value, y->value) && SameUnder(x->var, y->var, x->body, y->body);
    }
    case ExprKind::kAccess: {
      const auto *x = a.as<Access>(), *y = b.as<Access>();
      return x->tensor.same_as(y->tensor) && SameAll(x->indices, y->indices);
    }
    case ExprKind::kReduce: {
      const auto *x = a.as<Reduce>(), *y = b.as<Reduce>();
      if (x->reducer != y->reducer || x->axes.size() != y->axes.size()) return false;
      for (size_t i = 0; i < x->axes.size(); ++i) {
        if (x->axes[i].extent != y->axes[i].extent) return false;
        bound_.emplace_back(x->axes[i].var.node(), y->axes[i].var.node());
      }
      bool same = Same(x->body, y->body);
      bound_.resize(bound_.size() - x->axes.size());
      return same;
    }
    default:
      return Same(a.as<Binary>()->a, b.as<Binary>()->a) && Same(a.as<Binary>()->b, b.as<Binary>()->b);
  }
}

bool Comparer::Same(const Stmt& a, const Stmt& b) {
  if (a.same_as(b) && bound_.empty()) return true;
  if (!a.defined() || !b.defined()) return !a.defined() && !b.defined();
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case StmtKind::kStore: {
      const auto *x = a.as<Store>(), *y = b.as<Store>();
      return x->buffer.same_as(y->buffer) && Same(x->index, y->index) && Same(x->value, y->value);
    }
    case StmtKind::kFor: {
      const auto *x = a.as<For>(), *y = b.as<For>();
      return x->for_kind == y->for_kind && Same(x->min, y->min) && Same(x->extent, y->extent) &&
             SameUnder(x->var, y->var, x->body, y->body);
    }
    case StmtKind::kBlock: {
      const auto *x = a.as<Block>(), *y = b.as<Block>();
      if (x->stmts.size() != y->stmts.size()) return false;
      for (size_t i = 0; i < x->stmts.size(); ++i) {
        if (!Same(x->stmts[i], y->stmts[i])) return false;
      }
      return true;
    }
    case StmtKind::kIf: {
      const auto *x = a.as<If>(), *y = b.as<If>();
      return Same(x->condition, y->condition) && Same(x->then_case, y->then_case) && Same(x->else_case, y->else_case);
    }
    case StmtKind::kLetStmt: {
      const auto *x = a.as<LetStmt>(), *y = b.as<LetStmt>();
      return Same(x->value, y->value) && SameUnder(x->var, y->var, x->body, y->body);
    }
    case StmtKind::kAllocate:
      return a.as<Allocate>()->buffer.same_as(b.as<Allocate>()->buffer) &&
             Same(a.as<Allocate>()->body, b.as<Allocate>()->body);
    case StmtKind::kEvaluate:
      return Same(a.as<Evaluate>()->value, b.as<Evaluate>()->value);
    case StmtKind::kPragma: {
      const auto *x = a.as<Pragma>(), *y = b.as<Pragma>();
      return x->key == y->key && Same(x->value, y->value) && Same(x->body, y->body);
    }
    case StmtKind::kBarrier:
      return true;
  }
  return false;
}

// A bound variable hashes as its type only, so that renaming it changes nothing.
class Hasher final : public Visitor {
 public:
  size_t hash = 0;
  void Mix(size_t value) { hash = (hash ^ value) * 0x9E3779B97F4A7C15ull + (hash >> 29); }
  void Node(const ExprNode& op) {
    Mix(static_cast<size_t>(op.kind) + 1);
    Mix((static_cast<size_t>(op.type.code) << 24) | (static_cast<size_t>(op.type.bits) << 16) | op.type.lanes);
  }

 private:
  bool IsBound(const VarNode* v) const {
    for (const VarNode* b : bound_) {
      if (b == v) return true;
    }
    return false;
  }
  void VisitIntImm(const IntImm& op) override { Node(op), Mix(static_cast<size_t>(op.value)); }
  void VisitFloatImm(const FloatImm& op) override { Node(op), Mix(std::bit_cast<uint64_t>(op.value)); }
  void VisitVar(const VarNode& op) override { Node(op), Mix(IsBound(&op) ? 0 : reinterpret_cast<size_t>(&op)); }
  void VisitCast(const Cast& op) override { Node(op), Visitor::VisitCast(op); }
  void VisitBinary(const Binary& op) override { Node(op), Visitor::VisitBinary(op); }
  void VisitNot(const Not& op) override { Node(op), Visitor::VisitNot(op); }
  void VisitSelect(const Select& op) override { Node(op), Visitor::VisitSelect(op); }
  void VisitLoad(const Load& op) override {
    Node(op), Mix(reinterpret_cast<size_t>(op.buffer.get())), Visitor::VisitLoad(op);
  }
  void VisitRamp(const Ramp& op) override { Node(op), Visitor::VisitRamp(op); }
  void VisitBroadcast(const Broadcast& op) override { Node(op), Visitor::VisitBroadcast(op); }
  void VisitCall(const Call& op) override { Node(op), Mix(static_cast<size_t>(op.fn)), Visitor::VisitCall(op); }
  void VisitLet(const Let& op) override {
    Node(op);
    Visit(op.value);
    bound_.push_back(op.var.node());
    Visit(op.body);
    bound_.pop_back();
  }
  void VisitAccess(const Access& op) override {
    Node(op), Mix(reinterpret_cast<size_t>(op.tensor.get())), Visitor::VisitAccess(op);
  }
  void VisitReduce(const Reduce& op) override {
    Node(op), Mix(static_cast<size_t>(op.reducer));
    for (const IterVar& axis : op.axes) bound_.push_back(axis.var.node());
    Visit(op.body);
    bound_.resize(bound_.size() - op.axes.size());
  }
  std::vector<const VarNode*> bound_;
};

}  // namespace

bool Equal(const Expr& a, const Expr& b) { return Comparer().Same(a, b); }
bool Equal(const Stmt& a, const Stmt& b) { return Comparer().Same(a, b); }

size_t Hash(const Expr& e) {
  Hasher hasher;
  hasher.Visit(e);
  return hasher.hash;
}

}  // namespace hone::ir

// Passes over expressions and statements that keep state or build something: override the kinds that matter and call
// the base for the rest. For simple questions, ir/walk.h is enough.
#pragma once

#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "ir/stmt.h"

namespace hone::ir {

// Visits a node once for each place where it occurs, operands first, in the order of the text. The base methods only
// descend.
class Visitor {
 public:
  virtual ~Visitor() = default;
  void Visit(const Expr& e);  // skips null
  void Visit(const Stmt& s);

 protected:
#define HONE_VISIT(Name)                    \
  virtual void Visit##Name(const Name& op); \
  void VisitNode(const Name& op) { Visit##Name(op); }
  HONE_IR_EXPRS(HONE_VISIT)
  HONE_VISIT(Binary)
  HONE_IR_STMTS(HONE_VISIT)
#undef HONE_VISIT
  virtual void VisitVar(const VarNode&) {}
  void VisitNode(const VarNode& op) { VisitVar(op); }
};

// Rebuilds what an override changed. The base methods mutate the operands and return the same handle if no operand
// changed, else a new node from its maker (so constants fold, and types are checked again). A null Stmt removes the
// statement; a For, Allocate or Pragma whose body is removed is removed too.
class Mutator {
 public:
  virtual ~Mutator() = default;
  Expr Mutate(const Expr& e);
  Stmt Mutate(const Stmt& s);

 protected:
  // The unchanged node's handle: `return Same(op);`.
  static Expr Same(const ExprNode& op) { return Expr(&op); }
  static Stmt Same(const StmtNode& op) { return Stmt(&op); }
  // The mutated operands; sets *changed if any handle differs.
  template <typename T>
  std::vector<T> MutateAll(const std::vector<T>& operands, bool* changed) {
    std::vector<T> result;
    result.reserve(operands.size());
    for (const T& operand : operands) {
      result.push_back(Mutate(operand));
      if (!result.back().same_as(operand)) *changed = true;
    }
    return result;
  }
  // Mutates the operands in order; returns the node itself if no operand changed, else make(new operands..).
  template <typename Node, typename... T, typename Make>
  auto Rebuilt(const Node& op, const std::tuple<const T&...>& operands, const Make& make) {
    const auto rebuild = [&](const T&... before) {
      const std::tuple<T...> now{Mutate(before)...};
      const auto same = [&](const T&... mutated) { return (mutated.same_as(before) && ...); };
      return std::apply(same, now) ? Same(op) : std::apply(make, now);
    };
    return std::apply(rebuild, operands);
  }

#define HONE_MUTATE(Result, Name)              \
  virtual Result Mutate##Name(const Name& op); \
  Result MutateNode(const Name& op) { return Mutate##Name(op); }
#define HONE_MUTATE_EXPR(Name) HONE_MUTATE(Expr, Name)
#define HONE_MUTATE_STMT(Name) HONE_MUTATE(Stmt, Name)
  HONE_IR_EXPRS(HONE_MUTATE_EXPR)
  HONE_MUTATE_EXPR(Binary)
  HONE_IR_STMTS(HONE_MUTATE_STMT)
#undef HONE_MUTATE_STMT
#undef HONE_MUTATE_EXPR
#undef HONE_MUTATE
  virtual Expr MutateVar(const VarNode& op) { return Same(op); }
  Expr MutateNode(const VarNode& op) { return MutateVar(op); }
};

// A Mutator whose overrides are functions: fn(node, mutator), with the node's own struct type, returns the replacement,
// or nothing for what the base does. Combine several by Overloaded (ir/walk.h).
template <typename F>
class FunctionMutator final : public Mutator {
 public:
  explicit FunctionMutator(const F& fn) : fn_(fn) {}

 private:
  template <typename Handle, typename Node>
  std::optional<Handle> Replacement(const Node& op) {
    if constexpr (std::is_invocable_v<const F&, const Node&, Mutator&>) return fn_(op, *this);
    return std::nullopt;
  }
#define HONE_MUTATE(Result, Name, Node)                \
  Result Mutate##Name(const Node& op) override {       \
    if (auto by = Replacement<Result>(op)) return *by; \
    return Mutator::Mutate##Name(op);                  \
  }
#define HONE_MUTATE_EXPR(Name) HONE_MUTATE(Expr, Name, Name)
#define HONE_MUTATE_STMT(Name) HONE_MUTATE(Stmt, Name, Name)
  HONE_IR_EXPRS(HONE_MUTATE_EXPR)
  HONE_MUTATE_EXPR(Binary)
  HONE_MUTATE(Expr, Var, VarNode)
  HONE_IR_STMTS(HONE_MUTATE_STMT)
#undef HONE_MUTATE_STMT
#undef HONE_MUTATE_EXPR
#undef HONE_MUTATE
  const F& fn_;
};
template <typename T, typename F>
T Rewrite(const T& root, const F& fn) {
  return FunctionMutator<F>(fn).Mutate(root);
}

using VarMap = std::unordered_map<const VarNode*, Expr>;

// Replaces every use of a mapped variable by its expression, all at once (replacements are not searched again). Returns
// the same handle if no mapped variable is used. REQUIRES: types agree (a vector may replace a scalar: operations
// around it widen), and `e` does not bind a mapped variable or one that a replacement uses.
Expr Substitute(const Expr& e, const VarMap& map);
Stmt Substitute(const Stmt& s, const VarMap& map);
Expr Substitute(const Expr& e, const Var& var, const Expr& value);
Stmt Substitute(const Stmt& s, const Var& var, const Expr& value);

// Redirects the accesses to mapped buffers: an access to `b` at an index becomes one to its new buffer at
// place(b, index).
using BufferMap = std::unordered_map<const BufferNode*, Buffer>;
Stmt MoveAccesses(const Stmt& s, const BufferMap& to,
                  const std::function<Expr(const Buffer& from, const Expr& index)>& place);
// Allocates the new buffers instead of the mapped ones.
Stmt MoveAllocations(const Stmt& s, const BufferMap& to);

}  // namespace hone::ir

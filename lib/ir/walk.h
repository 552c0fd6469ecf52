// Walks programs without a method for each kind of node: every node lists its fields (ir/expr.h).
#pragma once

#include <tuple>
#include <type_traits>
#include <vector>

#include "ir/stmt.h"

namespace hone::ir {

// Combines several lambdas into one function object: Overloaded{[](const Load& op) {..}, [](const auto&) {..}}.
template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};

// Calls fn(node) with the node's own struct type. REQUIRES: not null.
template <typename F>
auto WithNode(const Expr& e, const F& fn) {
  switch (e.kind()) {
#define HONE_CASE(Name)   \
  case ExprKind::k##Name: \
    return fn(static_cast<const Name&>(*e.get()));
    HONE_IR_EXPRS(HONE_CASE)
    case ExprKind::kVar:
      return fn(static_cast<const VarNode&>(*e.get()));
    default:
      return fn(static_cast<const Binary&>(*e.get()));
#undef HONE_CASE
  }
}
template <typename F>
auto WithNode(const Stmt& s, const F& fn) {
  switch (s.kind()) {
#define HONE_CASE(Name)   \
  case StmtKind::k##Name: \
    return fn(static_cast<const Name&>(*s.get()));
    HONE_IR_STMTS(HONE_CASE)
#undef HONE_CASE
  }
  __builtin_unreachable();
}

template <typename Node, typename F>
void ForEachField(const Node& node, const F& fn) {
  std::apply([&](const auto&... field) { (fn(field), ...); }, node.fields());
}

// The fields that are expressions or statements, and the items of lists of them.
template <typename Node, typename F>
void ForEachChild(const Node& node, const F& fn) {
  ForEachField(node, [&]<typename T>(const T& field) {
    if constexpr (std::is_same_v<T, Expr> || std::is_same_v<T, Stmt>) {
      fn(field);
    } else if constexpr (std::is_same_v<T, std::vector<Expr>> || std::is_same_v<T, std::vector<Stmt>>) {
      for (const auto& item : field) fn(item);
    }
  });
}

// Calls fn(node), with the node's own struct type, for `root` (an Expr or a Stmt) and each node below it: parents
// first, in the order of the text. Skips null. If fn returns false, skips everything below that node.
template <typename T, typename F>
void Walk(const T& root, const F& fn) {
  if (!root.defined()) return;
  WithNode(root, [&](const auto& node) {
    if constexpr (std::is_same_v<decltype(fn(node)), bool>) {
      if (!fn(node)) return;
    } else {
      fn(node);
    }
    ForEachChild(node, [&](const auto& child) { Walk(child, fn); });
  });
}

}  // namespace hone::ir

#include "codegen/llvm/walk.h"

#include <string>

namespace hone::codegen {
namespace {

using ir::Expr;
using ir::Stmt;

void AppendBytes(const void* data, size_t size, std::string* key) { key->append(static_cast<const char*>(data), size); }

template <typename T>
void AppendValue(T value, std::string* key) {
  AppendBytes(&value, sizeof value, key);
}

}  // namespace

void WalkExpr(const Expr& root, const std::function<bool(const Expr&)>& on_expr) {
  if (!root.defined() || !on_expr(root)) return;
  auto walk = [&](const Expr& e) { WalkExpr(e, on_expr); };
  if (auto* cast = root.as<ir::Cast>()) {
    walk(cast->value);
  } else if (auto* binary = root.as<ir::Binary>()) {
    walk(binary->a);
    walk(binary->b);
  } else if (auto* negation = root.as<ir::Not>()) {
    walk(negation->a);
  } else if (auto* select = root.as<ir::Select>()) {
    walk(select->condition);
    walk(select->if_true);
    walk(select->if_false);
  } else if (auto* load = root.as<ir::Load>()) {
    walk(load->index);
  } else if (auto* ramp = root.as<ir::Ramp>()) {
    walk(ramp->base);
    walk(ramp->stride);
  } else if (auto* broadcast = root.as<ir::Broadcast>()) {
    walk(broadcast->value);
  } else if (auto* call = root.as<ir::Call>()) {
    for (const Expr& arg : call->args) walk(arg);
  } else if (auto* let = root.as<ir::Let>()) {
    walk(let->value);
    walk(let->body);
  }
}

void WalkStmt(const Stmt& root, const std::function<bool(const Stmt&)>& on_stmt,
              const std::function<bool(const Expr&)>& on_expr) {
  if (!root.defined() || !on_stmt(root)) return;
  auto walk = [&](const Stmt& s) { WalkStmt(s, on_stmt, on_expr); };
  auto walk_expr = [&](const Expr& e) { WalkExpr(e, on_expr); };
  if (auto* store = root.as<ir::Store>()) {
    walk_expr(store->index);
    walk_expr(store->value);
  } else if (auto* loop = root.as<ir::For>()) {
    walk_expr(loop->min);
    walk_expr(loop->extent);
    walk(loop->body);
  } else if (auto* block = root.as<ir::Block>()) {
    for (const Stmt& s : block->stmts) walk(s);
  } else if (auto* branch = root.as<ir::If>()) {
    walk_expr(branch->condition);
    walk(branch->then_case);
    walk(branch->else_case);
  } else if (auto* let = root.as<ir::LetStmt>()) {
    walk_expr(let->value);
    walk(let->body);
  } else if (auto* allocate = root.as<ir::Allocate>()) {
    walk(allocate->body);
  } else if (auto* evaluate = root.as<ir::Evaluate>()) {
    walk_expr(evaluate->value);
  } else if (auto* pragma = root.as<ir::Pragma>()) {
    walk_expr(pragma->value);
    walk(pragma->body);
  }
}

void AppendKey(const Expr& e, const ValueOf& value_of, std::string* key) {
  key->push_back(static_cast<char>(e.kind()));
  AppendValue(e.type(), key);
  auto append = [&](const Expr& child) { AppendKey(child, value_of, key); };
  if (auto* integer = e.as<ir::IntImm>()) {
    AppendValue(integer->value, key);
  } else if (auto* number = e.as<ir::FloatImm>()) {
    AppendValue(number->value, key);
  } else if (e.kind() == ir::ExprKind::kVar) {
    AppendValue(value_of(static_cast<const ir::VarNode*>(e.get())), key);
  } else if (auto* cast = e.as<ir::Cast>()) {
    append(cast->value);
  } else if (auto* binary = e.as<ir::Binary>()) {
    append(binary->a);
    append(binary->b);
  } else if (auto* negation = e.as<ir::Not>()) {
    append(negation->a);
  } else if (auto* select = e.as<ir::Select>()) {
    append(select->condition);
    append(select->if_true);
    append(select->if_false);
  } else if (auto* load = e.as<ir::Load>()) {
    AppendValue(load->buffer.get(), key);
    append(load->index);
  } else if (auto* ramp = e.as<ir::Ramp>()) {
    append(ramp->base);
    append(ramp->stride);
  } else if (auto* broadcast = e.as<ir::Broadcast>()) {
    append(broadcast->value);
  } else if (auto* call = e.as<ir::Call>()) {
    AppendValue(call->fn, key);
    AppendValue(call->args.size(), key);
    for (const Expr& arg : call->args) append(arg);
  } else {
    AppendValue(e.get(), key);  // let, access, reduce: equal only if the same node
  }
}

}  // namespace hone::codegen

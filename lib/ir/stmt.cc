#include "ir/stmt.h"

#include "base/check.h"

namespace hone::ir {

Stmt MakeStore(Buffer buffer, Expr index, Expr value) {
  HONE_CHECK(buffer.defined() && index.defined() && value.defined());
  HONE_CHECK(index.type().is_int() || index.type().is_uint());
  if (value.type().is_scalar() && index.type().is_vector()) value = MakeBroadcast(std::move(value), index.type().lanes);
  HONE_CHECK(value.type() == buffer->type.WithLanes(index.type().lanes));
  return Stmt(new Store(std::move(buffer), std::move(index), std::move(value)));
}

Stmt MakeFor(Var var, Expr min, Expr extent, ForKind kind, Stmt body) {
  HONE_CHECK(var.defined() && body.defined() && min.type() == var.type() && extent.type() == var.type());
  return Stmt(new For(std::move(var), std::move(min), std::move(extent), kind, std::move(body)));
}

Stmt MakeBlock(std::vector<Stmt> stmts) {
  std::vector<Stmt> flat;
  flat.reserve(stmts.size());
  for (Stmt& s : stmts) {
    if (!s.defined()) continue;
    if (const auto* block = s.as<Block>()) {
      flat.insert(flat.end(), block->stmts.begin(), block->stmts.end());
    } else {
      flat.push_back(std::move(s));
    }
  }
  if (flat.size() == 1) return flat[0];
  return Stmt(new Block(std::move(flat)));
}

Stmt MakeIf(Expr condition, Stmt then_case, Stmt else_case) {
  HONE_CHECK(condition.type() == DType::Bool() && then_case.defined());
  return Stmt(new If(std::move(condition), std::move(then_case), std::move(else_case)));
}

Stmt MakeAllocate(Buffer buffer, Stmt body) {
  HONE_CHECK(buffer.defined() && body.defined() && buffer->scope != Scope::kArgument);
  return Stmt(new Allocate(std::move(buffer), std::move(body)));
}

Stmt MakeEvaluate(Expr value) {
  HONE_CHECK(value.defined());
  return Stmt(new Evaluate(std::move(value)));
}

Stmt MakePragma(std::string key, Expr value, Stmt body) {
  HONE_CHECK(value.defined() && body.defined());
  return Stmt(new Pragma(std::move(key), std::move(value), std::move(body)));
}

Stmt MakeBarrier() { return Stmt(new Barrier()); }

bool IsEmpty(const Stmt& stmt) {
  const auto* block = stmt.as<Block>();
  return !stmt.defined() || (block && block->stmts.empty());
}

}  // namespace hone::ir

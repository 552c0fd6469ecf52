#include "ir/visitor.h"

namespace hone::ir {

Expr Mutator::Mutate(const Expr& e) {
  if (!e.defined()) return e;
  switch (e.kind()) {
    case ExprKind::kIntImm:
      return MutateIntImm(*e.as<IntImm>());
    case ExprKind::kFloatImm:
      return MutateFloatImm(*e.as<FloatImm>());
    case ExprKind::kVar:
      return MutateVar(*e.as<VarNode>());
    case ExprKind::kCast:
      return MutateCast(*e.as<Cast>());
    case ExprKind::kNot:
      return MutateNot(*e.as<Not>());
    case ExprKind::kSelect:
      return MutateSelect(*e.as<Select>());
    case ExprKind::kLoad:
      return MutateLoad(*e.as<Load>());
    case ExprKind::kRamp:
      return MutateRamp(*e.as<Ramp>());
    case ExprKind::kBroadcast:
      return MutateBroadcast(*e.as<Broadcast>());
    case ExprKind::kCall:
      return MutateCall(*e.as<Call>());
    case ExprKind::kLet:
      return MutateLet(*e.as<Let>());
    case ExprKind::kAccess:
      return MutateAccess(*e.as<Access>());
    case ExprKind::kReduce:
      return MutateReduce(*e.as<Reduce>());
    default:
      return MutateBinary(*e.as<Binary>());
  }
}

Stmt Mutator::Mutate(const Stmt& s) {
  if (!s.defined()) return s;
  switch (s.kind()) {
    case StmtKind::kStore:
      return MutateStore(*s.as<Store>());
    case StmtKind::kFor:
      return MutateFor(*s.as<For>());
    case StmtKind::kBlock:
      return MutateBlock(*s.as<Block>());
    case StmtKind::kIf:
      return MutateIf(*s.as<If>());
    case StmtKind::kLetStmt:
      return MutateLetStmt(*s.as<LetStmt>());
    case StmtKind::kAllocate:
      return MutateAllocate(*s.as<Allocate>());
    case StmtKind::kEvaluate:
      return MutateEvaluate(*s.as<Evaluate>());
    case StmtKind::kPragma:
      return MutatePragma(*s.as<Pragma>());
    case StmtKind::kBarrier:
      return MutateBarrier(*s.as<Barrier>());
  }
  return s;
}

std::vector<Expr> Mutator::MutateAll(const std::vector<Expr>& exprs, bool* changed) {
  std::vector<Expr> result;
  result.reserve(exprs.size());
  for (const Expr& e : exprs) {
    result.push_back(Mutate(e));
    if (!result.back().same_as(e)) *changed = true;
  }
  return result;
}

Expr Mutator::MutateCast(const Cast& op) {
  Expr value = Mutate(op.value);
  if (value.same_as(op.value)) return Same(op);
  return MakeCast(op.type.WithLanes(value.type().lanes), value);
}

Expr Mutator::MutateBinary(const Binary& op) {
  Expr a = Mutate(op.a), b = Mutate(op.b);
  if (a.same_as(op.a) && b.same_as(op.b)) return Same(op);
  return MakeBinary(op.kind, std::move(a), std::move(b));
}

Expr Mutator::MutateNot(const Not& op) {
  Expr a = Mutate(op.a);
  return a.same_as(op.a) ? Same(op) : MakeNot(std::move(a));
}

Expr Mutator::MutateSelect(const Select& op) {
  Expr c = Mutate(op.condition), t = Mutate(op.if_true), f = Mutate(op.if_false);
  if (c.same_as(op.condition) && t.same_as(op.if_true) && f.same_as(op.if_false)) return Same(op);
  return MakeSelect(std::move(c), std::move(t), std::move(f));
}

Expr Mutator::MutateLoad(const Load& op) {
  Expr index = Mutate(op.index);
  return index.same_as(op.index) ? Same(op) : MakeLoad(op.buffer, std::move(index));
}

Expr Mutator::MutateRamp(const Ramp& op) {
  Expr base = Mutate(op.base), stride = Mutate(op.stride);
  if (base.same_as(op.base) && stride.same_as(op.stride)) return Same(op);
  return MakeRamp(std::move(base), std::move(stride), op.type.lanes);
}

Expr Mutator::MutateBroadcast(const Broadcast& op) {
  Expr value = Mutate(op.value);
  return value.same_as(op.value) ? Same(op) : MakeBroadcast(std::move(value), op.type.lanes);
}

Expr Mutator::MutateCall(const Call& op) {
  bool changed = false;
  std::vector<Expr> args = MutateAll(op.args, &changed);
  if (!changed) return Same(op);
  if (op.fn == Intrinsic::kIfThenElse) return MakeIfThenElse(args[0], args[1], args[2]);
  DType type = op.fn == Intrinsic::kPrefetch ? op.type : op.type.WithLanes(args[0].type().lanes);
  return MakeCall(type, op.fn, std::move(args));
}

Expr Mutator::MutateLet(const Let& op) {
  Expr value = Mutate(op.value), body = Mutate(op.body);
  if (value.same_as(op.value) && body.same_as(op.body)) return Same(op);
  return MakeLet(op.var, std::move(value), std::move(body));
}

Expr Mutator::MutateAccess(const Access& op) {
  bool changed = false;
  std::vector<Expr> indices = MutateAll(op.indices, &changed);
  return changed ? Expr(new Access(op.tensor, std::move(indices))) : Same(op);
}

Expr Mutator::MutateReduce(const Reduce& op) {
  Expr body = Mutate(op.body);
  return body.same_as(op.body) ? Same(op) : Expr(new Reduce(op.reducer, op.axes, std::move(body)));
}

Stmt Mutator::MutateStore(const Store& op) {
  Expr index = Mutate(op.index), value = Mutate(op.value);
  if (index.same_as(op.index) && value.same_as(op.value)) return Same(op);
  return MakeStore(op.buffer, std::move(index), std::move(value));
}

Stmt Mutator::MutateFor(const For& op) {
  Expr min = Mutate(op.min), extent = Mutate(op.extent);
  Stmt body = Mutate(op.body);
  if (!body.defined()) return body;
  if (min.same_as(op.min) && extent.same_as(op.extent) && body.same_as(op.body)) return Same(op);
  return MakeFor(op.var, std::move(min), std::move(extent), op.for_kind, std::move(body));
}

Stmt Mutator::MutateBlock(const Block& op) {
  std::vector<Stmt> stmts;
  stmts.reserve(op.stmts.size());
  bool changed = false;
  for (const Stmt& s : op.stmts) {
    stmts.push_back(Mutate(s));
    if (!stmts.back().same_as(s)) changed = true;
  }
  return changed ? MakeBlock(std::move(stmts)) : Same(op);
}

Stmt Mutator::MutateIf(const If& op) {
  Expr condition = Mutate(op.condition);
  Stmt then_case = Mutate(op.then_case), else_case = Mutate(op.else_case);
  if (condition.same_as(op.condition) && then_case.same_as(op.then_case) && else_case.same_as(op.else_case)) {
    return Same(op);
  }
  if (!then_case.defined()) {
    if (!else_case.defined()) return else_case;
    return MakeIf(MakeNot(std::move(condition)), std::move(else_case));
  }
  return MakeIf(std::move(condition), std::move(then_case), std::move(else_case));
}

Stmt Mutator::MutateLetStmt(const LetStmt& op) {
  Expr value = Mutate(op.value);
  Stmt body = Mutate(op.body);
  if (!body.defined()) return body;
  if (value.same_as(op.value) && body.same_as(op.body)) return Same(op);
  return MakeLetStmt(op.var, std::move(value), std::move(body));
}

Stmt Mutator::MutateAllocate(const Allocate& op) {
  Stmt body = Mutate(op.body);
  if (!body.defined()) return body;
  return body.same_as(op.body) ? Same(op) : MakeAllocate(op.buffer, std::move(body));
}

Stmt Mutator::MutateEvaluate(const Evaluate& op) {
  Expr value = Mutate(op.value);
  return value.same_as(op.value) ? Same(op) : MakeEvaluate(std::move(value));
}

Stmt Mutator::MutatePragma(const Pragma& op) {
  Expr value = Mutate(op.value);
  Stmt body = Mutate(op.body);
  if (!body.defined()) return body;
  if (value.same_as(op.value) && body.same_as(op.body)) return Same(op);
  return MakePragma(op.key, std::move(value), std::move(body));
}

}  // namespace hone::ir

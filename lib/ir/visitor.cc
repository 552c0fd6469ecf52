#include "ir/visitor.h"

#include "ir/walk.h"

namespace hone::ir {

void Visitor::Visit(const Expr& e) {
  if (e.defined()) WithNode(e, [this](const auto& op) { VisitNode(op); });
}

void Visitor::Visit(const Stmt& s) {
  if (s.defined()) WithNode(s, [this](const auto& op) { VisitNode(op); });
}

#define HONE_DESCEND(Name)                                               \
  void Visitor::Visit##Name(const Name& op) {                            \
    ForEachChild(op, [this](const auto& child) { this->Visit(child); }); \
  }
HONE_IR_EXPRS(HONE_DESCEND)
HONE_DESCEND(Binary)
HONE_IR_STMTS(HONE_DESCEND)
#undef HONE_DESCEND

Expr Mutator::Mutate(const Expr& e) {
  return e.defined() ? WithNode(e, [this](const auto& op) { return MutateNode(op); }) : e;
}

Stmt Mutator::Mutate(const Stmt& s) {
  return s.defined() ? WithNode(s, [this](const auto& op) { return MutateNode(op); }) : s;
}

Expr Mutator::MutateIntImm(const IntImm& op) { return Same(op); }
Expr Mutator::MutateFloatImm(const FloatImm& op) { return Same(op); }

Expr Mutator::MutateCast(const Cast& op) {
  return Rebuilt(op, std::tie(op.value), [&](const Expr& x) { return MakeCast(op.type.WithLanes(x.type().lanes), x); });
}

Expr Mutator::MutateBinary(const Binary& op) {
  return Rebuilt(op, std::tie(op.a, op.b), [&](const Expr& a, const Expr& b) { return MakeBinary(op.kind, a, b); });
}

Expr Mutator::MutateNot(const Not& op) { return Rebuilt(op, std::tie(op.a), MakeNot); }

Expr Mutator::MutateSelect(const Select& op) {
  return Rebuilt(op, std::tie(op.condition, op.if_true, op.if_false), MakeSelect);
}

Expr Mutator::MutateLoad(const Load& op) {
  return Rebuilt(op, std::tie(op.index), [&](const Expr& index) { return MakeLoad(op.buffer, index); });
}

Expr Mutator::MutateRamp(const Ramp& op) {
  const auto make = [&](const Expr& base, const Expr& stride) { return MakeRamp(base, stride, op.type.lanes); };
  return Rebuilt(op, std::tie(op.base, op.stride), make);
}

Expr Mutator::MutateBroadcast(const Broadcast& op) {
  return Rebuilt(op, std::tie(op.value), [&](const Expr& x) { return MakeBroadcast(x, op.type.lanes); });
}

Expr Mutator::MutateCall(const Call& op) {
  bool changed = false;
  std::vector<Expr> args = MutateAll(op.args, &changed);
  if (!changed) return Same(op);
  if (op.fn == Intrinsic::kIfThenElse) return MakeIfThenElse(args[0], args[1], args[2]);
  DType type = op.fn == Intrinsic::kPrefetch ? op.type : op.type.WithLanes(args[0].type().lanes);
  return MakeCall(type, op.fn, std::move(args));
}

Expr Mutator::MutateAccess(const Access& op) {
  bool changed = false;
  std::vector<Expr> indices = MutateAll(op.indices, &changed);
  return changed ? Expr(new Access(op.tensor, std::move(indices))) : Same(op);
}

Expr Mutator::MutateReduce(const Reduce& op) {
  return Rebuilt(op, std::tie(op.body), [&](const Expr& body) { return Expr(new Reduce(op.reducer, op.axes, body)); });
}

Stmt Mutator::MutateStore(const Store& op) {
  const auto make = [&](const Expr& index, const Expr& value) { return MakeStore(op.buffer, index, value); };
  return Rebuilt(op, std::tie(op.index, op.value), make);
}

Stmt Mutator::MutateFor(const For& op) {
  const auto make = [&](const Expr& min, const Expr& extent, const Stmt& body) {
    return body.defined() ? MakeFor(op.var, min, extent, op.for_kind, body) : body;
  };
  return Rebuilt(op, std::tie(op.min, op.extent, op.body), make);
}

Stmt Mutator::MutateBlock(const Block& op) {
  bool changed = false;
  std::vector<Stmt> stmts = MutateAll(op.stmts, &changed);
  return changed ? MakeBlock(std::move(stmts)) : Same(op);
}

Stmt Mutator::MutateIf(const If& op) {
  const auto make = [](const Expr& condition, const Stmt& then_case, const Stmt& else_case) {
    if (then_case.defined()) return MakeIf(condition, then_case, else_case);
    return else_case.defined() ? MakeIf(MakeNot(condition), else_case) : else_case;
  };
  return Rebuilt(op, std::tie(op.condition, op.then_case, op.else_case), make);
}

Stmt Mutator::MutateAllocate(const Allocate& op) {
  return Rebuilt(op, std::tie(op.body),
                 [&](const Stmt& body) { return body.defined() ? MakeAllocate(op.buffer, body) : body; });
}

Stmt Mutator::MutateEvaluate(const Evaluate& op) { return Rebuilt(op, std::tie(op.value), MakeEvaluate); }

Stmt Mutator::MutatePragma(const Pragma& op) {
  const auto make = [&](const Expr& value, const Stmt& body) {
    return body.defined() ? MakePragma(op.key, value, body) : body;
  };
  return Rebuilt(op, std::tie(op.value, op.body), make);
}

Stmt Mutator::MutateBarrier(const Barrier& op) { return Same(op); }

template <typename T>
static T Substituted(const T& where, const VarMap& map) {
  if (map.empty()) return where;
  return Rewrite(where, [&](const VarNode& op, Mutator&) -> std::optional<Expr> {
    const auto it = map.find(&op);
    return it == map.end() ? std::nullopt : std::optional(it->second);
  });
}

Expr Substitute(const Expr& e, const VarMap& map) { return Substituted(e, map); }
Stmt Substitute(const Stmt& s, const VarMap& map) { return Substituted(s, map); }
Expr Substitute(const Expr& e, const Var& var, const Expr& value) { return Substitute(e, {{var.node(), value}}); }
Stmt Substitute(const Stmt& s, const Var& var, const Expr& value) { return Substitute(s, {{var.node(), value}}); }

Stmt MoveAccesses(const Stmt& s, const BufferMap& to,
                  const std::function<Expr(const Buffer& from, const Expr& index)>& place) {
  const auto load = [&](const Load& op, Mutator& self) -> std::optional<Expr> {
    const auto it = to.find(op.buffer.get());
    if (it == to.end()) return std::nullopt;
    return MakeLoad(it->second, place(op.buffer, self.Mutate(op.index)));
  };
  const auto store = [&](const Store& op, Mutator& self) -> std::optional<Stmt> {
    const auto it = to.find(op.buffer.get());
    if (it == to.end()) return std::nullopt;
    const Expr index = place(op.buffer, self.Mutate(op.index));
    return MakeStore(it->second, index, self.Mutate(op.value));
  };
  return Rewrite(s, Overloaded{load, store});
}

Stmt MoveAllocations(const Stmt& s, const BufferMap& to) {
  return Rewrite(s, [&](const Allocate& op, Mutator& self) -> std::optional<Stmt> {
    const auto it = to.find(op.buffer.get());
    if (it == to.end()) return std::nullopt;
    return MakeAllocate(it->second, self.Mutate(op.body));
  });
}

}  // namespace hone::ir

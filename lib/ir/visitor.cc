#include "ir/visitor.h"

namespace hone::ir {

void Visitor::Visit(const Expr& e) {
  if (!e.defined()) return;
  switch (e.kind()) {
    case ExprKind::kIntImm:
      return VisitIntImm(*e.as<IntImm>());
    case ExprKind::kFloatImm:
      return VisitFloatImm(*e.as<FloatImm>());
    case ExprKind::kVar:
      return VisitVar(*e.as<VarNode>());
    case ExprKind::kCast:
      return VisitCast(*e.as<Cast>());
    case ExprKind::kNot:
      return VisitNot(*e.as<Not>());
    case ExprKind::kSelect:
      return VisitSelect(*e.as<Select>());
    case ExprKind::kLoad:
      return VisitLoad(*e.as<Load>());
    case ExprKind::kRamp:
      return VisitRamp(*e.as<Ramp>());
    case ExprKind::kBroadcast:
      return VisitBroadcast(*e.as<Broadcast>());
    case ExprKind::kCall:
      return VisitCall(*e.as<Call>());
    case ExprKind::kLet:
      return VisitLet(*e.as<Let>());
    case ExprKind::kAccess:
      return VisitAccess(*e.as<Access>());
    case ExprKind::kReduce:
      return VisitReduce(*e.as<Reduce>());
    default:
      return VisitBinary(*e.as<Binary>());
  }
}

void Visitor::Visit(const Stmt& s) {
  if (!s.defined()) return;
  switch (s.kind()) {
    case StmtKind::kStore:
      return VisitStore(*s.as<Store>());
    case StmtKind::kFor:
      return VisitFor(*s.as<For>());
    case StmtKind::kBlock:
      return VisitBlock(*s.as<Block>());
    case StmtKind::kIf:
      return VisitIf(*s.as<If>());
    case StmtKind::kLetStmt:
      return VisitLetStmt(*s.as<LetStmt>());
    case StmtKind::kAllocate:
      return VisitAllocate(*s.as<Allocate>());
    case StmtKind::kEvaluate:
      return VisitEvaluate(*s.as<Evaluate>());
    case StmtKind::kPragma:
      return VisitPragma(*s.as<Pragma>());
    case StmtKind::kBarrier:
      return VisitBarrier(*s.as<Barrier>());
  }
}

void Visitor::VisitCast(const Cast& op) { Visit(op.value); }
void Visitor::VisitBinary(const Binary& op) {
  Visit(op.a);
  Visit(op.b);
}
void Visitor::VisitNot(const Not& op) { Visit(op.a); }
void Visitor::VisitSelect(const Select& op) {
  Visit(op.condition);
  Visit(op.if_true);
  Visit(op.if_false);
}
void Visitor::VisitLoad(const Load& op) { Visit(op.index); }
void Visitor::VisitRamp(const Ramp& op) {
  Visit(op.base);
  Visit(op.stride);
}
void Visitor::VisitBroadcast(const Broadcast& op) { Visit(op.value); }
void Visitor::VisitCall(const Call& op) {
  for (const Expr& a : op.args) Visit(a);
}
void Visitor::VisitLet(const Let& op) {
  Visit(op.value);
  Visit(op.body);
}
void Visitor::VisitAccess(const Access& op) {
  for (const Expr& i : op.indices) Visit(i);
}
void Visitor::VisitReduce(const Reduce& op) { Visit(op.body); }

void Visitor::VisitStore(const Store& op) {
  Visit(op.index);
  Visit(op.value);
}
void Visitor::VisitFor(const For& op) {
  Visit(op.min);
  Visit(op.extent);
  Visit(op.body);
}
void Visitor::VisitBlock(const Block& op) {
  for (const Stmt& s : op.stmts) Visit(s);
}
void Visitor::VisitIf(const If& op) {
  Visit(op.condition);
  Visit(op.then_case);
  Visit(op.else_case);
}
void Visitor::VisitLetStmt(const LetStmt& op) {
  Visit(op.value);
  Visit(op.body);
}
void Visitor::VisitAllocate(const Allocate& op) { Visit(op.body); }
void Visitor::VisitEvaluate(const Evaluate& op) { Visit(op.value); }
void Visitor::VisitPragma(const Pragma& op) {
  Visit(op.value);
  Visit(op.body);
}

}  // namespace hone::ir

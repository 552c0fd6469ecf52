// Walks over expressions and statements. Override the kinds that matter and call the base for the rest.
#pragma once

#include <vector>

#include "ir/stmt.h"

namespace hone::ir {

// Visits every node once per place where it stands, operands before what stands beside them, in the order of the text.
// The base methods only descend.
class Visitor {
 public:
  virtual ~Visitor() = default;
  void Visit(const Expr& e);  // null is skipped
  void Visit(const Stmt& s);

 protected:
  virtual void VisitIntImm(const IntImm&) {}
  virtual void VisitFloatImm(const FloatImm&) {}
  virtual void VisitVar(const VarNode&) {}
  virtual void VisitCast(const Cast& op);
  virtual void VisitBinary(const Binary& op);
  virtual void VisitNot(const Not& op);
  virtual void VisitSelect(const Select& op);
  virtual void VisitLoad(const Load& op);
  virtual void VisitRamp(const Ramp& op);
  virtual void VisitBroadcast(const Broadcast& op);
  virtual void VisitCall(const Call& op);
  virtual void VisitLet(const Let& op);
  virtual void VisitAccess(const Access& op);
  virtual void VisitReduce(const Reduce& op);

  virtual void VisitStore(const Store& op);
  virtual void VisitFor(const For& op);
  virtual void VisitBlock(const Block& op);
  virtual void VisitIf(const If& op);
  virtual void VisitLetStmt(const LetStmt& op);
  virtual void VisitAllocate(const Allocate& op);
  virtual void VisitEvaluate(const Evaluate& op);
  virtual void VisitPragma(const Pragma& op);
  virtual void VisitBarrier(const Barrier&) {}
};

// Rebuilds what an override changed. The base methods mutate the operands and return the same handle if none changed,
// else the node made anew by its maker (so constants fold and types must agree again). A null Stmt removes the
// statement; a For, LetStmt, Allocate or Pragma whose body is removed goes with it.
class Mutator {
 public:
  virtual ~Mutator() = default;
  Expr Mutate(const Expr& e);
  Stmt Mutate(const Stmt& s);

 protected:
  // The handle of a node as it stands: `return Same(op);`.
  static Expr Same(const ExprNode& op) { return Expr(&op); }
  static Stmt Same(const StmtNode& op) { return Stmt(&op); }
  // The operands, each mutated; sets *changed if one is another handle.
  std::vector<Expr> MutateAll(const std::vector<Expr>& exprs, bool* changed);

  virtual Expr MutateIntImm(const IntImm& op) { return Same(op); }
  virtual Expr MutateFloatImm(const FloatImm& op) { return Same(op); }
  virtual Expr MutateVar(const VarNode& op) { return Same(op); }
  virtual Expr MutateCast(const Cast& op);
  virtual Expr MutateBinary(const Binary& op);
  virtual Expr MutateNot(const Not& op);
  virtual Expr MutateSelect(const Select& op);
  virtual Expr MutateLoad(const Load& op);
  virtual Expr MutateRamp(const Ramp& op);
  virtual Expr MutateBroadcast(const Broadcast& op);
  virtual Expr MutateCall(const Call& op);
  virtual Expr MutateLet(const Let& op);
  virtual Expr MutateAccess(const Access& op);
  virtual Expr MutateReduce(const Reduce& op);

  virtual Stmt MutateStore(const Store& op);
  virtual Stmt MutateFor(const For& op);
  virtual Stmt MutateBlock(const Block& op);
  virtual Stmt MutateIf(const If& op);
  virtual Stmt MutateLetStmt(const LetStmt& op);
  virtual Stmt MutateAllocate(const Allocate& op);
  virtual Stmt MutateEvaluate(const Evaluate& op);
  virtual Stmt MutatePragma(const Pragma& op);
  virtual Stmt MutateBarrier(const Barrier& op) { return Same(op); }
};

}  // namespace hone::ir

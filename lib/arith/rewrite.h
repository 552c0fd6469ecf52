// Inside of Simplify: the rewriting mutator. Split over rewrite.cc (dispatch, vectors, everything that is not an
// integer sum) and rewrite_int.cc (i64 sums, division, comparison). Not for other layers.
#pragma once

#include "arith/context.h"
#include "ir/visitor.h"

namespace hone::arith {

class Rewriter : public ir::Mutator {
 public:
  explicit Rewriter(Context* context) : context_(*context) {}

 protected:
  ir::Expr MutateVar(const ir::VarNode& op) override;
  ir::Expr MutateCast(const ir::Cast& op) override;
  ir::Expr MutateBinary(const ir::Binary& op) override;
  ir::Expr MutateNot(const ir::Not& op) override;
  ir::Expr MutateSelect(const ir::Select& op) override;
  ir::Expr MutateLoad(const ir::Load& op) override;
  ir::Expr MutateRamp(const ir::Ramp& op) override;
  ir::Expr MutateCall(const ir::Call& op) override;

  Context& context_;

 private:
  // i64 scalars. Each returns the simplified form, not necessarily the same handle.
  ir::Expr Index(const ir::Binary& op);
  void Collect(const ir::Expr& e, int64_t factor, Linear* out);  // simplifies the terms
  Linear Simplified(const ir::Expr& e);
  ir::Expr Rebuild(Linear linear);  // merges div with mod, sorts
  void MergeDivMod(Linear* linear);
  Linear Divide(const Linear& x, int64_t c);
  Linear Modulo(const Linear& x, int64_t c);
  ir::Expr Product(const ir::Expr& a, const ir::Expr& b, int64_t* factor);
  ir::Expr MinMax(ir::ExprKind kind, const ir::Expr& a, const ir::Expr& b);
  ir::Expr Compare(ir::ExprKind kind, const ir::Expr& a, const ir::Expr& b);

  ir::Expr Vector(ir::ExprKind kind, const ir::Expr& a, const ir::Expr& b);  // null if no rule applies
  ir::Expr IndexVector(ir::ExprKind kind, const ir::Expr& a, const ir::Expr& b);
  ir::Expr Data(ir::ExprKind kind, const ir::Expr& a,
                const ir::Expr& b);  // floats, narrow integers, bools; null if no rule applies
};

}  // namespace hone::arith

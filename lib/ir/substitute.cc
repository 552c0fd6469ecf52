#include "ir/substitute.h"

#include "ir/visitor.h"

namespace hone::ir {
namespace {

class Substituter final : public Mutator {
 public:
  explicit Substituter(const VarMap& map) : map_(map) {}

 private:
  Expr MutateVar(const VarNode& op) override {
    auto it = map_.find(&op);
    return it == map_.end() ? Same(op) : it->second;
  }
  const VarMap& map_;
};

}  // namespace

Expr Substitute(const Expr& e, const VarMap& map) { return map.empty() ? e : Substituter(map).Mutate(e); }
Stmt Substitute(const Stmt& s, const VarMap& map) { return map.empty() ? s : Substituter(map).Mutate(s); }
Expr Substitute(const Expr& e, const Var& var, const Expr& value) { return Substitute(e, {{var.node(), value}}); }
Stmt Substitute(const Stmt& s, const Var& var, const Expr& value) { return Substitute(s, {{var.node(), value}}); }

}  // namespace hone::ir

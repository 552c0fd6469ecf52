// Internals of the analyzer: facts about variables, and the questions that rewriting asks about them. Not for other
// layers.
#pragma once

#include <unordered_map>
#include <vector>

#include "arith/const_interval.h"
#include "arith/linear.h"
#include "ir/expr.h"

namespace hone::arith {

class Rewriter;

struct Context {
  struct Binding {
    ir::Expr value;     // if set, the variable equals it
    ir::Expr min, max;  // inclusive; set for ranges
    ConstInterval bounds;
    int depth = 0;          // 1 is the outermost
    bool symbolic = false;  // min or max is not constant: proofs may expand them
  };
  struct Narrowed {  // undoes an assumption
    const ir::VarNode* var;
    ConstInterval before;
  };
  struct Frame {
    size_t facts;
    std::vector<Narrowed> narrowed;
  };

  std::unordered_map<const ir::VarNode*, Binding> bindings;
  int next_depth = 1;
  std::vector<Linear> facts;  // each is >= 0
  std::vector<Frame> frames;

  const Binding* Find(const ir::VarNode* var) const;
  int DepthOf(const ir::Expr& e) const;  // depth of its innermost variable; 0 if no variable is bound

  ConstInterval BoundsOf(const ir::Expr& e) const;
  ConstInterval BoundsOf(const Linear& linear) const;
  // True only if linear >= 0 is certain. `effort` limits how many symbolic bounds are expanded.
  bool ProveNonNegative(const Linear& linear, int effort = 4) const;

  // Implements Analyzer's functions of the same names; arguments are already simplified.
  void Bind(const ir::Var& var, const ir::Expr& min, const ir::Expr& extent, Rewriter* rewriter);
  void Push(const ir::Expr& condition);
  void Pop();

 private:
  void Assume(const ir::Expr& condition);
  void AssumeNonNegative(const Linear& linear);
};

}  // namespace hone::arith

// Simplifies expressions, and bounds and proves integer expressions whose variables have known ranges.
//
// Index arithmetic (i64) is assumed not to overflow. Floats are folded only where the result is bit-identical.
//
// Simplify returns
// - sums as canonical linear forms (arith/linear.h). Terms whose innermost variable was bound further out come first,
//   so that partial sums can leave loops; otherwise terms keep their order. The constant comes last;
// - floor division and modulo by positive constants, with everything divided out that can be;
// - comparisons of integers as ==, != and <, with common terms and factors cancelled. Min, max, comparisons and
//   conditions are folded where the ranges decide them;
// - merged ramps and broadcasts: arithmetic on indices stays scalar inside one Ramp or Broadcast.
// An expression that is already simple comes back as the same handle.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "ir/stmt.h"

namespace hone::arith {

struct Context;

// A set of known variables, built up on the way into a program. Not thread-safe.
class Analyzer {
 public:
  Analyzer();
  ~Analyzer();
  Analyzer(const Analyzer&) = delete;
  Analyzer& operator=(const Analyzer&) = delete;

  // From now on min <= var < min + extent, in scope of all that was bound before (which both may use). A variable of
  // extent 1 is replaced by its min. Later bindings count as further in. Binding again replaces.
  void Bind(const ir::Var& var, const ir::Expr& min, const ir::Expr& extent);
  void Unbind(const ir::Var& var);

  // `condition` holds until the matching Forget(). A condition of no use is ignored.
  void Assume(const ir::Expr& condition);
  void Forget();

  ir::Expr Simplify(const ir::Expr& e);
  // Constant bounds (both inclusive) that hold for all values of the variables; nothing if either end is unknown. For a
  // vector: over all lanes. REQUIRES: an integer.
  std::optional<std::pair<int64_t, int64_t>> ConstBounds(const ir::Expr& e);
  // The upper one alone.
  std::optional<int64_t> ConstUpperBound(const ir::Expr& e);
  // True only if `condition` holds for all values of the variables; false also means unknown.
  bool CanProve(const ir::Expr& condition);

  Context& context() { return *context_; }

 private:
  std::unique_ptr<Context> context_;
};

ir::Expr Simplify(const ir::Expr& e);

// Also: loops of extent 1 become their body, loops of extent 0, empty statements and unused allocations go, conditions
// that the loops' ranges decide are decided. Never null: nothing left is an empty Block. `analyzer` holds what is known
// about free variables; may be null.
ir::Stmt SimplifyStmt(const ir::Stmt& s, Analyzer* analyzer = nullptr);

}  // namespace hone::arith

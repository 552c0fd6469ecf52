// Simplifies expressions, and bounds and proves integer expressions whose variables have known ranges.
//
// Index arithmetic (i64) is assumed not to overflow. Floats are folded only if the result is bit-identical.
//
// Simplify returns
// - sums as canonical linear forms (arith/linear.h). Terms whose innermost variable was bound further out come first,
//   so that partial sums can leave loops; otherwise terms keep their order. The constant comes last;
// - floor division and modulo by positive constants, with everything possible divided out;
// - comparisons of integers as ==, != and <, with common terms and factors cancelled. Min, max, comparisons and
//   conditions are folded if the ranges decide them;
// - merged ramps and broadcasts: arithmetic on indices stays scalar inside one Ramp or Broadcast.
// An expression that is already simple is returned as the same handle.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "ir/stmt.h"

namespace hone::arith {

struct Context;

// A set of known variables, extended on the way into a program. Not thread-safe.
class Analyzer {
 public:
  Analyzer();
  ~Analyzer();
  Analyzer(const Analyzer&) = delete;
  Analyzer& operator=(const Analyzer&) = delete;

  // States that min <= var < min + extent, which may use all variables bound so far. A variable of extent 1 is replaced
  // by its min. Later bindings count as further in. Binding a variable again replaces its range.
  void Bind(const ir::Var& var, const ir::Expr& min, const ir::Expr& extent);
  void Unbind(const ir::Var& var);

  // States that `condition` holds until the matching Forget(). Ignores conditions that it cannot use.
  void Assume(const ir::Expr& condition);
  void Forget();

  ir::Expr Simplify(const ir::Expr& e);
  // Constant bounds (both inclusive) for all values of the variables, and over all lanes of a vector; nothing if either
  // end is unknown. REQUIRES: an integer.
  std::optional<std::pair<int64_t, int64_t>> ConstBounds(const ir::Expr& e);
  // Only the upper bound.
  std::optional<int64_t> ConstUpperBound(const ir::Expr& e);
  // True only if `condition` certainly holds for all values of the variables; false may mean unknown.
  bool CanProve(const ir::Expr& condition);

  Context& context() { return *context_; }

 private:
  std::unique_ptr<Context> context_;
};

ir::Expr Simplify(const ir::Expr& e);

// Simplifies expressions, replaces loops of extent 1 by their body, removes loops of extent 0, empty statements and
// unused allocations, and decides conditions that the loops' ranges decide. Never returns null: if nothing is left, an
// empty Block. `analyzer` knows the free variables; may be null.
ir::Stmt SimplifyStmt(const ir::Stmt& s, Analyzer* analyzer = nullptr);

}  // namespace hone::arith

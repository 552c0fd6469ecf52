// Partition: moves conditions out of inner loops, so that padding becomes "zeros, copy, zeros" instead of a test for
// each element.
//
// Runs after specialize and before simplify and vectorize, as a vectorized loop cannot contain a condition on its own
// variable. Idea: cut a loop where a condition changes its value. For a condition c1 && c2 && .. (of if_then_else or
// If) and each loop, take the part that this loop's variable is the last to decide:
// - If constants decide where the part holds, the loop is cut into at most three: false, the rest of the condition,
//   false.
// - If constants and unrolled or vectorized loops inside decide (the border of an image in a tile), the iterations in
//   which the part always holds become one loop. At most kMostSingle iterations before and after it are written out for
//   unroll.
// - Otherwise the part becomes an If right inside the loop, in whose else branch the condition is false.
// A reduction's update by its identity (x = x + 0) is removed.
//
// Invariants: the pieces run the same iterations in the same order. Each condition doubles a body, so a body with more
// than kMaxConditions different ones is left unchanged.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "arith/linear.h"
#include "arith/simplify.h"
#include "ir/analysis.h"
#include "ir/scalar.h"
#include "ir/visitor.h"
#include "ir/walk.h"
#include "lower/passes.h"

namespace hone::lower {
namespace {

using ir::Binary;
using ir::ExprKind;

constexpr int kMaxConditions = 2;
constexpr int kMostSingle = 3;

// The different conditions in a body, and the variables that it binds.
struct Conditions {
  explicit Conditions(const Stmt& body) {
    ir::Walk(body, ir::Overloaded{[&](const ir::If& op) { Add(op.condition); },
                                  [&](const ir::Call& op) {
                                    if (op.fn == ir::Intrinsic::kIfThenElse) Add(op.args[0]);
                                  },
                                  [&](const For& op) { Add(op); }, [](const auto&) {}});
  }
  void Add(const Expr& condition) {
    if (AsIntImm(condition) || ir::HasLoad(condition)) return;
    for (const Expr& c : all) {
      if (ir::Equal(c, condition)) return;
    }
    all.push_back(condition);
  }
  void Add(const For& op) {
    bound.insert(op.var.node());
    const int64_t *min = AsIntImm(op.min), *extent = AsIntImm(op.extent);
    const bool written_out = op.for_kind == ForKind::kUnrolled || op.for_kind == ForKind::kVectorized;
    if (written_out && min && extent) tile[op.var.node()] = {*min, *min + *extent - 1};
  }

  std::vector<Expr> all;
  std::unordered_set<const VarNode*> bound;
  using Tile = std::unordered_map<const VarNode*, std::pair<int64_t, int64_t>>;
  Tile tile;  // first and last value of unrolled and vectorized loops
};

// Replaces one condition by another expression, usually a constant.
class ConditionReplacer final : public ir::Mutator {
 public:
  ConditionReplacer(const Expr& from, const Expr& to) : from_(from), to_(to) {}

 private:
  Expr MutateCall(const ir::Call& op) override {
    if (op.fn != ir::Intrinsic::kIfThenElse || !ir::Equal(op.args[0], from_)) return Mutator::MutateCall(op);
    return ir::MakeIfThenElse(to_, Mutate(op.args[1]), Mutate(op.args[2]));
  }
  Stmt MutateStore(const ir::Store& op) override {
    Stmt store = Mutator::MutateStore(op);
    return !store.same_as(Same(op)) && ir::HasNoEffect(store) ? Stmt() : store;
  }
  Stmt MutateIf(const ir::If& op) override {
    if (!ir::Equal(op.condition, from_)) return Mutator::MutateIf(op);
    const int64_t* value = AsIntImm(to_);
    if (value && *value) return Mutate(op.then_case);
    if (value) return op.else_case.defined() ? Mutate(op.else_case) : ir::MakeBlock({});
    return ir::MakeIf(to_, Mutate(op.then_case), op.else_case.defined() ? Mutate(op.else_case) : Stmt());
  }
  const Expr &from_, &to_;
};

void Conjuncts(const Expr& e, std::vector<Expr>* out) {
  const auto* op = e.as<Binary>();
  if (op && op->kind == ExprKind::kAnd) {
    Conjuncts(op->a, out);
    Conjuncts(op->b, out);
  } else {
    out->push_back(e);
  }
}

Expr And(const std::vector<Expr>& conjuncts) {
  Expr all;
  for (const Expr& c : conjuncts) all = all.defined() ? all && c : c;
  return all.defined() ? all : ir::Imm(DType::Bool(), 1);
}

class Partitioner final : public ir::Mutator {
 private:
  Stmt MutateFor(const For& op) override {
    // Copies of a body share variables: facts about one must not outlive its loop.
    analyzer_.Bind(op.var, op.min, op.extent);
    Stmt result = Partition(op);
    analyzer_.Unbind(op.var);
    return result;
  }

  Stmt Partition(const For& op) {
    const Conditions conditions(op.body);
    if (conditions.all.size() <= kMaxConditions && op.for_kind != ForKind::kUnrolled) {
      for (const Expr& condition : conditions.all) {
        std::vector<Expr> all, mine, rest;
        Conjuncts(condition, &all);
        for (const Expr& raw : all) {
          Expr c = analyzer_.Simplify(raw);
          const bool decided = ir::UsesVar(c, op.var) && !ir::UsesAnyVar(c, conditions.bound);
          (decided ? mine : rest).push_back(c);
        }
        if (mine.empty()) {
          if (Stmt cut = CutInside(op, condition, conditions); cut.defined()) return cut;
          continue;
        }
        if (Stmt cut = Cut(op, condition, mine, And(rest)); cut.defined()) return cut;
        if (op.for_kind != ForKind::kVectorized) return Hoist(op, condition, And(mine), And(rest));
      }
    }
    return Mutator::MutateFor(op);
  }

  static Stmt With(const Stmt& body, const Expr& condition, const Expr& value) {
    return ConditionReplacer(condition, value).Mutate(body);
  }

  // Narrows the iterations first .. last-1 of a loop to those in which `c` holds for all values of the variables of
  // `tile`. Returns false if `c` depends on anything else than these, the loop's variable and constants.
  bool Narrow(const Expr& c, const Var& var, const Conditions::Tile& tile, int64_t* first, int64_t* last) {
    const auto* less = c.as<Binary>();
    if (!less || less->kind != ExprKind::kLt || !less->a.type().is_int()) return false;
    arith::Linear d = arith::ToLinear(analyzer_.Simplify(less->b - less->a - 1));  // >= 0
    int64_t stride = 0, low = d.constant;
    for (const arith::Linear::Term& term : d.terms) {
      auto range = tile.find(term.term.as<VarNode>());
      if (term.term.same_as(var)) {
        stride = term.coefficient;
      } else if (range == tile.end()) {
        return false;
      } else {
        low += term.coefficient * (term.coefficient > 0 ? range->second.first : range->second.second);
      }
    }
    if (stride > 0) *first = std::max(*first, -ir::FloorDiv(low, stride));
    if (stride < 0) *last = std::min(*last, ir::FloorDiv(low, -stride) + 1);
    return stride != 0;
  }

  // Null if not only constants decide.
  Stmt Cut(const For& op, const Expr& condition, const std::vector<Expr>& mine, const Expr& rest) {
    const int64_t *min = AsIntImm(op.min), *extent = AsIntImm(op.extent);
    if (!min || !extent || op.for_kind == ForKind::kParallel) return Stmt();
    const int64_t end = *min + *extent;
    int64_t first = *min, last = end;
    for (const Expr& c : mine) {
      if (!Narrow(c, op.var, {}, &first, &last)) return Stmt();
    }
    first = std::min(first, end);
    last = std::max(last, first);
    const Expr no = ir::Imm(DType::Bool(), 0);
    return ir::MakeBlock({Loop(op, *min, first, With(op.body, condition, no)),
                          Loop(op, first, last, With(op.body, condition, rest)),
                          Loop(op, last, end, With(op.body, condition, no))});
  }

  // A register tile's condition depends on this loop and on unrolled or vectorized ones inside. Cuts the loop into the
  // part where the condition holds for all of those, and single iterations before and after it, whose copies decide it
  // individually. Null if there is no such part, or too many single iterations.
  Stmt CutInside(const For& op, const Expr& condition, const Conditions& conditions) {
    const int64_t *min = AsIntImm(op.min), *extent = AsIntImm(op.extent);
    if (!min || !extent || *extent < 2 || op.for_kind != ForKind::kSerial) return Stmt();
    const int64_t end = *min + *extent;
    int64_t first = *min, last = end;
    bool found = false;
    std::vector<Expr> all, rest;
    Conjuncts(condition, &all);
    for (const Expr& raw : all) {
      Expr c = analyzer_.Simplify(raw);
      if (Narrow(c, op.var, conditions.tile, &first, &last)) {
        found = true;
      } else {
        rest.push_back(c);
      }
    }
    first = std::min(first, end);
    last = std::max(last, first);
    if (!found || first == last || first - *min > kMostSingle || end - last > kMostSingle) return Stmt();
    if (first == *min && last == end && rest.size() == all.size()) return Stmt();
    std::vector<Stmt> parts;
    for (int64_t i = *min; i < first; ++i) parts.push_back(Loop(op, i, i + 1, op.body));
    parts.push_back(Loop(op, first, last, With(op.body, condition, And(rest))));
    for (int64_t i = last; i < end; ++i) parts.push_back(Loop(op, i, i + 1, op.body));
    return ir::MakeBlock(std::move(parts));
  }

  Stmt Loop(const For& op, int64_t begin, int64_t end, const Stmt& body) {
    if (begin >= end || !body.defined()) return Stmt();
    if (end - begin == 1) return Mutate(ir::Substitute(body, op.var, Expr(begin)));
    return Mutate(ir::MakeFor(op.var, Expr(begin), Expr(end - begin), op.for_kind, body));
  }

  Stmt Hoist(const For& op, const Expr& condition, const Expr& mine, const Expr& rest) {
    Stmt yes = With(op.body, condition, rest), no = With(op.body, condition, ir::Imm(DType::Bool(), 0));
    // Partition the sides first: the new If's own condition must not be found again.
    Stmt then_case = ir::IsEmpty(yes) ? ir::MakeBlock({}) : Mutate(yes);
    Stmt else_case = ir::IsEmpty(no) ? Stmt() : Mutate(no);
    return ir::MakeFor(op.var, op.min, op.extent, op.for_kind, ir::MakeIf(mine, then_case, else_case));
  }

  arith::Analyzer analyzer_;
};

}  // namespace

Stmt PartitionConditions(const Stmt& body) { return Partitioner().Mutate(body); }

}  // namespace hone::lower

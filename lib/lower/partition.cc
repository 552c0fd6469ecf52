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
//   unroll. In those further out, it is false.
// - If constants and loops inside decide that it holds except in the last iteration of a parallel loop (a tail in the
//   last thread's share), that iteration gets its own body.
// - Otherwise the part becomes an If right inside the loop, in whose else branch the condition is false.
// A reduction's update by its identity (x = x + 0) is removed.
//
// Invariants: the pieces run the same iterations in the same order. Each condition may double a body, so a body with
// more than kMaxConditions different ones is left unchanged, unless it would have at most kMostCopies stores if each
// doubled it.
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

constexpr size_t kMaxConditions = 2;
constexpr int64_t kMostCopies = 128;
constexpr int kMostSingle = 3;

// The different conditions in a body, and the variables that it binds.
struct Conditions {
  explicit Conditions(const Stmt& body) {
    ir::Walk(body,
             ir::Overloaded{[&](const ir::If& op) { Add(op.condition); },
                            [&](const ir::Call& op) {
                              if (op.fn == ir::Intrinsic::kIfThenElse) Add(op.args[0]);
                            },
                            [&](const ir::Store&) { ++stores; }, [&](const For& op) { Add(op); }, [](const auto&) {}});
    for (const VarNode* var : unknown) tile.erase(var), inner.erase(var);
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
    if (!min || !extent) return void(unknown.insert(op.var.node()));
    const bool written_out = op.for_kind == ForKind::kUnrolled || op.for_kind == ForKind::kVectorized;
    if (written_out) Widen(&tile, op.var.node(), *min, *min + *extent - 1);
    Widen(&inner, op.var.node(), *min, *min + *extent - 1);
  }

  bool AreFew() const {
    const size_t n = all.size();
    return n <= kMaxConditions || (n < 63 && std::max<int64_t>(stores, 1) <= kMostCopies >> n);
  }

  std::vector<Expr> all;
  int64_t stores = 0;
  std::unordered_set<const VarNode*> bound;
  using Tile = std::unordered_map<const VarNode*, std::pair<int64_t, int64_t>>;
  Tile tile;   // first and last value of unrolled and vectorized loops
  Tile inner;  // .. of all loops with constant bounds

 private:
  // Copies of a loop share its variable.
  static void Widen(Tile* ranges, const VarNode* var, int64_t low, int64_t high) {
    auto& [first, last] = ranges->try_emplace(var, low, high).first->second;
    first = std::min(first, low), last = std::max(last, high);
  }

  std::unordered_set<const VarNode*> unknown;  // some copy has no constant bounds
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
    if (conditions.AreFew() && op.for_kind != ForKind::kUnrolled) {
      for (const Expr& condition : conditions.all) {
        std::vector<Expr> all, mine, rest;
        Conjuncts(condition, &all);
        for (const Expr& raw : all) {
          Expr c = analyzer_.Simplify(raw);
          const bool decided = ir::UsesVar(c, op.var) && !ir::UsesAnyVar(c, conditions.bound);
          (decided ? mine : rest).push_back(c);
        }
        if (mine.empty()) {
          Stmt cut = op.for_kind == ForKind::kParallel ? CutTail(op, condition, conditions.inner)
                                                       : CutInside(op, condition, conditions.tile);
          if (cut.defined()) return cut;
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
  // `tile`, or with `some` to those in which it holds for some values. Returns false if `c` depends on anything else
  // than these, the loop's variable and constants.
  bool Narrow(const Expr& c, const Var& var, const Conditions::Tile& tile, int64_t* first, int64_t* last,
              bool some = false) {
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
        low += term.coefficient * ((term.coefficient > 0) != some ? range->second.first : range->second.second);
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

  // The iterations first .. last-1 in which the parts of a condition that `tile` decides always hold, and the ones from
  // some_first to some_last-1 in which they hold for some values.
  struct Range {
    int64_t first, last, some_first, some_last;
    std::vector<Expr> rest;  // the other parts
    bool found = false;
  };
  Range RangeOf(const For& op, const Expr& condition, const Conditions::Tile& tile, int64_t min, int64_t end) {
    Range range{min, end, min, end, {}, false};
    std::vector<Expr> all;
    Conjuncts(condition, &all);
    for (const Expr& raw : all) {
      Expr c = analyzer_.Simplify(raw);
      if (Narrow(c, op.var, tile, &range.first, &range.last)) {
        Narrow(c, op.var, tile, &range.some_first, &range.some_last, /*some=*/true);
        range.found = true;
      } else {
        range.rest.push_back(c);
      }
    }
    range.first = std::min(range.first, end);
    range.last = std::max(range.last, range.first);
    range.some_first = std::clamp(range.some_first, min, range.first);
    range.some_last = std::clamp(range.some_last, range.last, end);
    return range;
  }

  // A register tile's condition depends on this loop and on unrolled or vectorized ones inside. Cuts the loop into the
  // part where the condition holds for all of those, and single iterations before and after it, whose copies decide it
  // individually. The part may be empty. Null if no part of the condition is like that, or there are too many single
  // iterations.
  Stmt CutInside(const For& op, const Expr& condition, const Conditions::Tile& tile) {
    const int64_t *min = AsIntImm(op.min), *extent = AsIntImm(op.extent);
    if (!min || !extent || *extent < 2 || op.for_kind != ForKind::kSerial) return Stmt();
    const int64_t end = *min + *extent;
    const Range r = RangeOf(op, condition, tile, *min, end);
    if (!r.found || r.first - r.some_first > kMostSingle || r.some_last - r.last > kMostSingle) return Stmt();
    const Stmt never = With(op.body, condition, ir::Imm(DType::Bool(), 0));
    std::vector<Stmt> parts = {Loop(op, *min, r.some_first, never)};
    for (int64_t i = r.some_first; i < r.first; ++i) parts.push_back(Loop(op, i, i + 1, op.body));
    parts.push_back(Loop(op, r.first, r.last, With(op.body, condition, And(r.rest))));
    for (int64_t i = r.last; i < r.some_last; ++i) parts.push_back(Loop(op, i, i + 1, op.body));
    parts.push_back(Loop(op, r.some_last, end, never));
    return ir::MakeBlock(std::move(parts));
  }

  // The same for a parallel loop and all loops inside: cuts off the last iteration.
  Stmt CutTail(const For& op, const Expr& condition, const Conditions::Tile& inner) {
    const int64_t *min = AsIntImm(op.min), *extent = AsIntImm(op.extent);
    if (!min || !extent) return Stmt();
    const int64_t last = *min + *extent - 1;
    const Range r = RangeOf(op, condition, inner, *min, last + 1);
    if (!r.found || r.first > *min || r.last != last || last == *min) return Stmt();
    const Stmt whole = Mutate(With(op.body, condition, And(r.rest))), tail = Loop(op, last, last + 1, op.body);
    return ir::MakeFor(op.var, op.min, op.extent, op.for_kind, ir::MakeIf(Expr(op.var) < Expr(last), whole, tail));
  }

  Stmt Loop(const For& op, int64_t begin, int64_t end, const Stmt& body) {
    if (begin >= end || !body.defined() || ir::IsEmpty(body)) return Stmt();
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

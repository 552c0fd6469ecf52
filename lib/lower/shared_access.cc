#include "lower/shared_access.h"

#include <algorithm>
#include <optional>

#include "ir/analysis.h"
#include "ir/visitor.h"

namespace hone::lower {

using ir::Buffer;
using ir::Expr;
using ir::For;
using ir::VarNode;

// The condition and multiples of it: if threads copy several neighbours each, the condition is about threads and the
// index about elements, and the analyzer does not multiply facts.
static Expr WithMultiples(const Expr& condition) {
  const auto* op = condition.as<ir::Binary>();
  if (!op || op->kind != ir::ExprKind::kLt || op->a.type() != DType::Int(64)) return condition;
  Expr all = condition;
  for (int64_t n : {2, 3, 4, 8, 16}) all = all && op->a * n < (op->b - 1) * n + 1;
  return all;
}

void SharedAccesses::EnterIndex(const For& loop) {
  analyzer_.Bind(loop.var, loop.min, loop.extent);
  if (ir::IsThreadLoop(loop.for_kind)) threads_.push_back({loop.var, *ir::AsIntImm(loop.extent)});
}

void SharedAccesses::LeaveIndex(const For& loop) {
  if (ir::IsThreadLoop(loop.for_kind)) threads_.pop_back();
  analyzer_.Unbind(loop.var);
}

void SharedAccesses::EnterLoop(const For& loop, bool together) {
  analyzer_.Bind(loop.var, loop.min, loop.extent);
  if (together) scope_.insert(loop.var.node());
}

void SharedAccesses::LeaveLoop(const For& loop) {
  scope_.erase(loop.var.node());
  analyzer_.Unbind(loop.var);
}

void SharedAccesses::EnterIf(const Expr& condition) {
  analyzer_.Assume(WithMultiples(condition));
  conditions_.push_back(condition);
}

void SharedAccesses::LeaveIf() {
  conditions_.pop_back();
  analyzer_.Forget();
}

bool SharedAccesses::Uniform(const Expr& e) const {
  return !ir::HasLoad(e) && std::ranges::none_of(ir::FreeVars(e), [&](const ir::Var& v) { return IsThread(v); });
}

size_t SharedAccesses::ThreadOf(const Expr& e) const {
  const auto is_it = [&](const Thread& thread) { return thread.var.same_as(e); };
  return static_cast<size_t>(std::ranges::find_if(threads_, is_it) - threads_.begin());
}

Access SharedAccesses::Describe(const Buffer& buffer, const Expr& index, bool write) {
  Access a;
  a.buffer = buffer.get();
  a.write = write;
  a.index = index;
  a.conditions = conditions_;
  if (auto bounds = analyzer_.ConstBounds(index)) a.range = *bounds;
  for (const Thread& t : threads_) {
    auto bounds = analyzer_.ConstBounds(t.var);
    a.only.push_back(bounds && bounds->first == bounds->second ? bounds->first : -1);
  }
  if (index.type().is_vector()) return a;
  arith::Linear linear = arith::ToLinear(index);
  for (const arith::Linear::Term& term : linear.terms) FindCopy(term, &a);
  a.constant = linear.constant;
  FindRange(linear, &a);
  std::vector<int64_t> factors(threads_.size(), 0);
  for (const arith::Linear::Term& term : linear.terms) {
    if (const size_t k = ThreadOf(term.term); k < threads_.size()) {
      if (a.only[k] >= 0)
        a.constant += term.coefficient * a.only[k];
      else
        factors[k] = term.coefficient;
      continue;
    }
    auto bounds = analyzer_.ConstBounds(term.term);
    if (!bounds || !Uniform(term.term)) return a;
    a.constant += term.coefficient * bounds->first;
    if (bounds->first < bounds->second) a.others.emplace_back(term.coefficient, bounds->second - bounds->first);
  }
  std::sort(a.others.begin(), a.others.end());
  a.per_thread = std::move(factors);
  return a;
}

bool SharedAccesses::Conflict(const std::vector<Access>& before, const std::vector<Access>& after,
                              const VarNode* carried) {
  for (const Access& a : before) {
    for (const Access& b : after) {
      if (a.buffer != b.buffer || !(a.write || b.write) || (a.own && b.own)) continue;
      if (a.range.second < b.range.first || b.range.second < a.range.first) continue;
      if (SameThread(a, b) || OtherCopy(a, b, carried) || Apart(a, b, carried)) continue;
      return true;
    }
  }
  return false;
}

// Whether the element identifies the thread that accesses it, the same for both accesses, or the accesses cannot meet.
bool SharedAccesses::SameThread(const Access& a, const Access& b) const {
  const bool one = a.only == b.only && std::none_of(a.only.begin(), a.only.end(), [](int64_t x) { return x < 0; });
  if (one) return true;
  if (a.per_thread.empty() || b.per_thread.empty() || a.others != b.others) return false;
  // Each term exceeds the sum of all smaller ones, so different values of the terms give different sums.
  std::vector<std::pair<int64_t, int64_t>> digits = a.others;
  int64_t apart = a.constant - b.constant;
  for (size_t k = 0; k < threads_.size(); ++k) {
    if (threads_[k].extent == 1) continue;
    if (a.only[k] >= 0 && b.only[k] >= 0) {
      if (a.only[k] != b.only[k]) return false;
      continue;
    }
    // If only one thread gets there, treat it as if all did, with the other access's factor.
    const int64_t factor = a.only[k] >= 0 ? b.per_thread[k] : a.per_thread[k];
    if (a.only[k] >= 0) apart -= factor * a.only[k];
    if (b.only[k] >= 0) apart += factor * b.only[k];
    if (factor == 0 || (a.only[k] < 0 && b.only[k] < 0 && a.per_thread[k] != b.per_thread[k])) return false;
    digits.emplace_back(factor, threads_[k].extent - 1);
  }
  for (auto& [factor, most] : digits) factor = std::abs(factor);
  std::sort(digits.begin(), digits.end());
  int64_t reach = std::abs(apart);
  for (const auto& [factor, most] : digits) {
    if (factor <= reach) return false;
    reach += factor * most;
  }
  return true;
}

void SharedAccesses::FindCopy(const arith::Linear::Term& term, Access* a) {
  const auto* mod = term.term.as<ir::Binary>();
  const int64_t* count = mod && mod->kind == ir::ExprKind::kMod ? ir::AsIntImm(mod->b) : nullptr;
  if (!count || *count < 2 || term.coefficient <= 0) return;
  // Conditions restrict threads; everything else enters by its bounds.
  Expr low(0), high(0);
  for (const arith::Linear::Term& t :
       arith::ToLinear(analyzer_.Simplify(a->index - term.term * term.coefficient)).terms) {
    auto bounds = IsThread(t.term) ? std::nullopt : analyzer_.ConstBounds(t.term * t.coefficient);
    low = low + (bounds ? Expr(bounds->first) : t.term * t.coefficient);
    high = high + (bounds ? Expr(bounds->second) : t.term * t.coefficient);
  }
  const int64_t constant = arith::ToLinear(a->index).constant;
  if (analyzer_.CanProve(high + constant < Expr(term.coefficient)) && analyzer_.CanProve(Expr(0) <= low + constant))
    a->copies.push_back({mod->a, *count, term.coefficient});
}

// x%2*n + .. and (x + 1)%2*n + ..: the two halves of a double buffer, or more copies.
bool SharedAccesses::OtherCopy(const Access& a, const Access& b, const VarNode* carried) {
  for (const Access::Copy& x : a.copies) {
    for (const Access::Copy& y : b.copies) {
      if (x.size != y.size || x.count != y.count) continue;
      if (!IsSameForBoth(x.which, carried) || !IsSameForBoth(y.which, carried)) continue;
      Expr apart = analyzer_.Simplify(x.which - y.which);
      const int64_t* rounds = ir::AsIntImm(apart);
      if (rounds && *rounds % x.count != 0) return true;
    }
  }
  return false;
}

void SharedAccesses::FindRange(const arith::Linear& index, Access* a) {
  Expr low(index.constant), high(index.constant);
  for (const arith::Linear::Term& t : index.terms) {
    const Expr term = t.term * t.coefficient;
    if (IsSameForBoth(t.term, nullptr)) {
      low = low + term, high = high + term;
      continue;
    }
    const auto bounds = analyzer_.ConstBounds(term);
    if (!bounds) return;
    low = low + bounds->first, high = high + bounds->second;
  }
  // Conditions on the whole index are known there.
  if (const int64_t* first = ir::AsIntImm(low)) low = Expr(std::max(*first, a->range.first));
  if (const int64_t* last = ir::AsIntImm(high)) high = Expr(std::min(*last, a->range.second));
  a->low = low, a->high = high;
}

// Whether one is entirely below the other in every iteration of the loops around both.
bool SharedAccesses::Apart(const Access& a, const Access& b, const VarNode* carried) {
  for (const Expr& end : {a.low, a.high, b.low, b.high}) {
    if (!end.defined() || !IsSameForBoth(end, carried)) return false;
  }
  int assumed = 0;
  for (const Access* access : {&a, &b}) {
    for (const Expr& condition : access->conditions) {
      if (!IsSameForBoth(condition, carried)) continue;
      analyzer_.Assume(condition);
      ++assumed;
    }
  }
  const bool apart = analyzer_.CanProve(a.high < b.low) || analyzer_.CanProve(b.high < a.low);
  for (; assumed > 0; --assumed) analyzer_.Forget();
  return apart;
}

// Whether it has the same value at both accesses: it uses only variables of loops around both, in the same iteration.
bool SharedAccesses::IsSameForBoth(const Expr& e, const VarNode* carried) const {
  const auto same = [&](const ir::Var& v) { return v.node() != carried && scope_.count(v.node()) != 0; };
  return !ir::HasLoad(e) && std::ranges::all_of(ir::FreeVars(e), same);
}

void SharedAccesses::Widen(const For& loop, Rounds rounds, std::vector<Access>* accesses) {
  const Expr last = loop.min + loop.extent - 1;
  const auto in_round = [&](const Expr& e) {
    return analyzer_.Simplify(ir::Substitute(e, loop.var, rounds == Rounds::kFirst ? loop.min : last));
  };
  // The lower or upper end of a range; undefined if unknown.
  const auto widened = [&](const Expr& end, bool lower) {
    if (rounds != Rounds::kAll) return in_round(end);
    const arith::Linear linear = arith::ToLinear(end);
    Expr sum(linear.constant);
    for (const arith::Linear::Term& t : linear.terms) {
      if (loop.var.same_as(t.term)) {
        sum = sum + ((t.coefficient > 0) == lower ? loop.min : last) * t.coefficient;
      } else if (ir::UsesVar(t.term, loop.var)) {
        const auto bounds = analyzer_.ConstBounds(t.term * t.coefficient);
        if (!bounds) return Expr();
        sum = sum + (lower ? bounds->first : bounds->second);
      } else {
        sum = sum + t.term * t.coefficient;
      }
    }
    return sum;
  };
  for (Access& a : *accesses) {
    if (a.low.defined()) a.low = widened(a.low, true);
    if (a.high.defined()) a.high = widened(a.high, false);
  }
  if (rounds == Rounds::kAll) return;
  // The last iteration omits the fetch.
  std::erase_if(*accesses, [&](const Access& a) {
    return std::any_of(a.conditions.begin(), a.conditions.end(), [&](const Expr& condition) {
      const Expr there = in_round(condition);
      const int64_t* holds = ir::AsIntImm(there);
      return holds && *holds == 0;
    });
  });
}

}  // namespace hone::lower

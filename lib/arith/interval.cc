#include "arith/interval.h"

#include <unordered_set>

#include "arith/linear.h"
#include "base/check.h"
#include "ir/analysis.h"

namespace hone::arith {

namespace {

class Finder {
 public:
  Finder(const std::vector<RunningVar>& running, Analyzer* analyzer) : running_(running), analyzer_(*analyzer) {
    for (const RunningVar& r : running) vars_.insert(r.var.node());
  }

  // The least (or greatest) value of e; null if unknown.
  Expr End(const Expr& e, bool greatest) {
    Expr simple = analyzer_.Simplify(e);
    Expr end = EndOf(ToLinear(simple), greatest);
    return end.defined() ? analyzer_.Simplify(end) : end;
  }

 private:
  Expr EndOf(const Linear& linear, bool greatest) {
    // Replace terms that are not variables first: their replacements may use running variables again.
    for (size_t i = 0; i < linear.terms.size(); ++i) {
      const Linear::Term& t = linear.terms[i];
      if (t.term.as<ir::VarNode>() || !UsesAnyVar(t.term, vars_)) continue;
      return EndWithTerm(linear, i, greatest);
    }
    for (auto r = running_.rbegin(); r != running_.rend(); ++r) {
      int64_t c = linear.CoefficientOf(r->var);
      if (c == 0) continue;
      const Expr& end = (c > 0) == greatest ? r->range.max : r->range.min;
      if (!end.defined()) return Expr();
      Linear rest = linear;
      rest.Add(r->var, -c);
      rest.AddScaled(ToLinear(analyzer_.Simplify(end)), c);
      return EndOf(ToLinear(analyzer_.Simplify(ToExpr(rest))), greatest);
    }
    return ToExpr(linear);
  }

  Expr EndWithTerm(const Linear& linear, size_t i, bool greatest) {
    Linear rest = linear;
    rest.terms.erase(rest.terms.begin() + static_cast<std::ptrdiff_t>(i));
    const Linear::Term& t = linear.terms[i];
    bool up = (t.coefficient > 0) == greatest;  // whether the term's greatest value is needed
    const auto* op = t.term.as<Binary>();
    if (op && (op->kind == ExprKind::kMin || op->kind == ExprKind::kMax)) {
      // Each side includes the rest, so that common terms cancel.
      Linear a = rest, b = rest;
      a.AddScaled(ToLinear(op->a), t.coefficient);
      b.AddScaled(ToLinear(op->b), t.coefficient);
      Expr x = EndOf(ToLinear(analyzer_.Simplify(ToExpr(a))), greatest);
      Expr y = EndOf(ToLinear(analyzer_.Simplify(ToExpr(b))), greatest);
      bool smaller = (op->kind == ExprKind::kMin) == (t.coefficient > 0);
      if (!x.defined() || !y.defined()) {
        // min(a, b) is at most either of them, so one known end suffices for the greatest; likewise for max.
        return smaller == greatest ? (x.defined() ? x : y) : Expr();
      }
      return smaller ? Min(x, y) : Max(x, y);
    }
    Expr end = TermEnd(t.term, up);
    if (!end.defined()) return Expr();
    rest.AddScaled(ToLinear(analyzer_.Simplify(end)), t.coefficient);
    return EndOf(rest, greatest);
  }

  Expr TermEnd(const Expr& term, bool up) {
    const auto* op = term.as<Binary>();
    const int64_t* c = op ? AsIntImm(op->b) : nullptr;
    if (c && *c > 0 && op->kind == ExprKind::kDiv) {
      Expr end = End(op->a, up);
      return end.defined() ? Divide(end, *c) : end;
    }
    if (c && *c > 0 && op->kind == ExprKind::kMod) {
      Expr low = End(op->a, false), high = End(op->a, true);
      if (low.defined() && high.defined() && analyzer_.CanProve(Eq(low / *c, high / *c))) return (up ? high : low) % *c;
      return up ? Expr(*c - 1) : Expr(0);
    }
    if (op && op->kind == ExprKind::kMul) {
      // A product of a running factor and a fixed one whose sign is known.
      bool a_runs = UsesAnyVar(op->a, vars_), b_runs = UsesAnyVar(op->b, vars_);
      if (a_runs != b_runs) {
        const Expr &fixed = a_runs ? op->b : op->a, &runs = a_runs ? op->a : op->b;
        bool positive = analyzer_.CanProve(fixed >= Expr(0)),
             negative = !positive && analyzer_.CanProve(fixed <= Expr(0));
        if (positive || negative) {
          Expr end = End(runs, up == positive);
          return end.defined() ? end * fixed : end;
        }
      }
    }
    if (const auto* call = term.as<ir::Call>(); call && call->fn == ir::Intrinsic::kIfThenElse) {
      return Either(call->args[1], call->args[2], up);
    }
    if (const auto* select = term.as<ir::Select>()) return Either(select->if_true, select->if_false, up);
    auto bounds = analyzer_.ConstBounds(term);
    return bounds ? Expr(up ? bounds->second : bounds->first) : Expr();
  }

  // floor(e / c): division is monotonic, so it moves into min and max, where each side may become simple.
  static Expr Divide(const Expr& e, int64_t c) {
    const auto* op = e.as<Binary>();
    if (op && op->kind == ExprKind::kMin) return Min(Divide(op->a, c), Divide(op->b, c));
    if (op && op->kind == ExprKind::kMax) return Max(Divide(op->a, c), Divide(op->b, c));
    return e / c;
  }

  Expr Either(const Expr& a, const Expr& b, bool up) {
    Expr x = End(a, up), y = End(b, up);
    if (!x.defined() || !y.defined()) return Expr();
    return up ? Max(x, y) : Min(x, y);
  }

  const std::vector<RunningVar>& running_;
  Analyzer& analyzer_;
  std::unordered_set<const ir::VarNode*> vars_;
};

}  // namespace

Interval IntervalOf(const Expr& e, const std::vector<RunningVar>& running, Analyzer* analyzer) {
  HONE_CHECK(e.type() == DType::Int(64));
  Finder finder(running, analyzer);
  return {finder.End(e, false), finder.End(e, true)};
}

Interval Union(const Interval& a, const Interval& b, Analyzer* analyzer) {
  Interval result;
  if (a.min.defined() && b.min.defined()) result.min = analyzer->Simplify(Min(a.min, b.min));
  if (a.max.defined() && b.max.defined()) result.max = analyzer->Simplify(Max(a.max, b.max));
  return result;
}

Expr ExtentOf(const Interval& interval, Analyzer* analyzer) {
  HONE_CHECK(interval.known());
  return analyzer->Simplify(interval.max - interval.min + Expr(1));
}

}  // namespace hone::arith

// Specialize: makes extents constant where loops need that, by separating tails.
//
// Runs right after loop_nest, since vectorize and unroll need constant extents, and since its copies are cheap only
// while bodies are small. A loop must be constant if it is unrolled or vectorized, or if it counts through a register
// buffer. If its extent is a min or max that an outer loop `o` decides (min(14, 50 - o*14)), the outer loop is cut in
// two: the part where one side always holds, and the rest, which is usually one iteration. A serial loop becomes two; a
// parallel one keeps its range and gets `if (o < t)` inside. Outermost loops come first: inner ones then find their own
// bounds constant.
//
// At most kMaxCuts cuts are made. A loop whose extent is still not constant becomes serial: slower, never wrong.
#include <optional>
#include <unordered_set>

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

using VarSet = std::unordered_set<const VarNode*>;

constexpr int kMaxCuts = 24;

// Variables that index register buffers.
VarSet RegisterIndexVars(const Stmt& body) {
  VarSet vars;
  const auto add = [&](const auto& access) {
    if (access.buffer->scope != ir::Scope::kRegister) return;
    for (const Var& v : ir::FreeVars(access.index)) vars.insert(v.node());
  };
  ir::Walk(body, ir::Overloaded{[&](const ir::Load& op) { add(op); }, [&](const ir::Store& op) { add(op); },
                                [](const auto&) {}});
  return vars;
}

bool MustBeConstant(const For& loop, const VarSet& register_vars) {
  return loop.for_kind == ForKind::kUnrolled || loop.for_kind == ForKind::kVectorized ||
         register_vars.count(loop.var.node()) > 0;
}

// Looks for a value of `var` at which to cut: min <= var < cut decides some min or max in the extent of a loop that
// must be constant, or cut <= var does.
class CutFinder final : public ir::Visitor {
 public:
  CutFinder(const For& loop, int64_t min, int64_t end, const VarSet& register_vars, arith::Analyzer* analyzer)
      : loop_(loop), min_(min), end_(end), register_vars_(register_vars), analyzer_(*analyzer) {}

  std::optional<int64_t> cut;
  bool needed = false;  // some extent depends on the variable

 private:
  void VisitFor(const For& op) override {
    Expr extent = analyzer_.Simplify(op.extent);
    analyzer_.Bind(op.var, analyzer_.Simplify(op.min), extent);
    if (MustBeConstant(op, register_vars_) && ir::UsesVar(extent, loop_.var)) {
      needed = true;
      in_extent_ = true;
      Visit(extent);
      in_extent_ = false;
    }
    Visit(op.body);
  }

  void VisitBinary(const Binary& op) override {
    if (in_extent_ && (op.kind == ExprKind::kMin || op.kind == ExprKind::kMax)) {
      Consider(analyzer_.Simplify(op.a - op.b));
      Consider(analyzer_.Simplify(op.b - op.a));
    }
    Visitor::VisitBinary(op);
  }

  // Finds where `difference` >= 0 for all values of the inner loops.
  void Consider(const Expr& difference) {
    std::optional<int64_t> stride = arith::StrideOf(difference, loop_.var);
    if (!stride || *stride == 0) return;
    std::optional<std::pair<int64_t, int64_t>> rest =
        analyzer_.ConstBounds(analyzer_.Simplify(difference - Expr(loop_.var) * *stride));
    if (!rest) return;
    int64_t at = *stride < 0 ? ir::FloorDiv(rest->first, -*stride) + 1 : -ir::FloorDiv(rest->first, *stride);
    if (at <= min_ || at >= end_) return;
    if (!cut || at < *cut) cut = at;
  }

  const For& loop_;
  int64_t min_, end_;
  const VarSet& register_vars_;
  arith::Analyzer& analyzer_;
  bool in_extent_ = false;
};

class Specializer final : public ir::Mutator {
 public:
  explicit Specializer(const Stmt& body) : register_vars_(RegisterIndexVars(body)) {}

 private:
  Stmt MutateFor(const For& op) override {
    Expr min = analyzer_.Simplify(op.min), extent = analyzer_.Simplify(op.extent);
    const int64_t *begin = AsIntImm(min), *count = AsIntImm(extent);
    if (count && *count <= 0) return ir::MakeBlock({});
    analyzer_.Bind(op.var, min, extent);
    if (begin && count && *count > 1 && op.for_kind != ForKind::kVectorized && cuts_ < kMaxCuts) {
      CutFinder finder(op, *begin, *begin + *count, register_vars_, &analyzer_);
      finder.Visit(op.body);
      if (finder.cut) return Cut(op, *begin, *finder.cut, *begin + *count);
      // No single cut decides it; a short loop can still be written out.
      if (finder.needed && *count <= 4 && op.for_kind != ForKind::kParallel) return WriteOut(op, *begin, *count);
    }
    if (begin && count && *count == 1) return One(op.body, op.var, *begin);
    ForKind kind = op.for_kind;
    if (!(begin && count) && (kind == ForKind::kUnrolled || kind == ForKind::kVectorized)) kind = ForKind::kSerial;
    analyzer_.Bind(op.var, min, extent);  // the finder visited only inner loops, but Cut may have bound it anew
    return ir::MakeFor(op.var, min, extent, kind, Mutate(op.body));
  }

  // Remove guards that a cut has decided at once: their bodies may be out of bounds.
  Stmt MutateIf(const ir::If& op) override {
    Expr condition = analyzer_.Simplify(op.condition);
    const int64_t* value = AsIntImm(condition);
    if (!value) return Mutator::MutateIf(op);
    if (*value) return Mutate(op.then_case);
    return op.else_case.defined() ? Mutate(op.else_case) : ir::MakeBlock({});
  }

  Stmt Cut(const For& op, int64_t begin, int64_t at, int64_t end) {
    ++cuts_;
    if (op.for_kind == ForKind::kParallel) {
      analyzer_.Bind(op.var, Expr(begin), Expr(at - begin));
      Stmt first = Part(op, begin, at, /*loop=*/false);
      Stmt second = Part(op, at, end, /*loop=*/false);
      Stmt body = ir::MakeIf(Expr(op.var) < Expr(at), first, second);
      return ir::MakeFor(op.var, Expr(begin), Expr(end - begin), op.for_kind, body);
    }
    return ir::MakeBlock({Part(op, begin, at, true), Part(op, at, end, true)});
  }

  // The iterations begin .. end-1, as a loop or (inside a parallel one) as the body of one iteration.
  Stmt Part(const For& op, int64_t begin, int64_t end, bool loop) {
    if (end - begin == 1) return One(op.body, op.var, begin);
    if (loop) return MutateFor(For(op.var, Expr(begin), Expr(end - begin), op.for_kind, op.body));
    analyzer_.Bind(op.var, Expr(begin), Expr(end - begin));
    if (cuts_ < kMaxCuts) {
      CutFinder finder(op, begin, end, register_vars_, &analyzer_);
      finder.Visit(op.body);
      if (finder.cut) {
        ++cuts_;
        Stmt first = Part(op, begin, *finder.cut, false);
        return ir::MakeIf(Expr(op.var) < Expr(*finder.cut), first, Part(op, *finder.cut, end, false));
      }
    }
    return Mutate(op.body);
  }

  Stmt WriteOut(const For& op, int64_t begin, int64_t count) {
    ++cuts_;
    std::vector<Stmt> parts;
    for (int64_t i = begin; i < begin + count; ++i) parts.push_back(One(op.body, op.var, i));
    return ir::MakeBlock(std::move(parts));
  }

  Stmt One(const Stmt& body, const Var& var, int64_t value) { return Mutate(ir::Substitute(body, var, Expr(value))); }

  arith::Analyzer analyzer_;
  const VarSet register_vars_;
  int cuts_ = 0;
};

}  // namespace

Stmt Specialize(const Stmt& body) { return Specializer(body).Mutate(body); }

}  // namespace hone::lower

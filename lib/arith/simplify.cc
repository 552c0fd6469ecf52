#include "arith/simplify.h"

#include "arith/rewrite.h"
#include "ir/analysis.h"

namespace hone::arith {

using ir::Expr;
using ir::Stmt;

namespace {

class StmtRewriter final : public Rewriter {
 public:
  using Rewriter::Rewriter;

 private:
  Stmt MutateFor(const ir::For& op) override {
    Expr min = Mutate(op.min), extent = Mutate(op.extent);
    ConstInterval count = context_.BoundsOf(extent);
    if (count.max <= 0) return Stmt();
    context_.Bind(op.var, min, extent, this);
    Stmt body = Mutate(op.body);
    context_.bindings.erase(op.var.node());
    if (IsEmpty(body)) return Stmt();
    // The set of loops over blocks and threads tells where a device's kernels begin.
    const bool marks = ir::IsBlockLoop(op.for_kind) || ir::IsThreadLoop(op.for_kind);
    if (count == ConstInterval::Point(1) && !marks) return body;
    if (min.same_as(op.min) && extent.same_as(op.extent) && body.same_as(op.body)) return Same(op);
    return MakeFor(op.var, min, extent, op.for_kind, body);
  }

  Stmt MutateBlock(const ir::Block& op) override {
    Stmt result = Mutator::MutateBlock(op);
    return IsEmpty(result) ? Stmt() : result;
  }

  Stmt MutateIf(const ir::If& op) override {
    Expr c = Mutate(op.condition);
    if (const int64_t* value = AsIntImm(c)) return *value ? Mutate(op.then_case) : Mutate(op.else_case);
    Expr negated = Mutate(ir::MakeNot(c));
    Stmt then_case = Under(c, op.then_case), else_case = Under(negated, op.else_case);
    if (IsEmpty(then_case) && IsEmpty(else_case)) return Stmt();
    if (IsEmpty(then_case)) return ir::MakeIf(negated, else_case);
    if (c.same_as(op.condition) && then_case.same_as(op.then_case) && else_case.same_as(op.else_case)) return Same(op);
    return ir::MakeIf(c, then_case, else_case);
  }

  Stmt MutateAllocate(const ir::Allocate& op) override {
    Stmt body = Mutate(op.body);
    if (IsEmpty(body)) return Stmt();
    auto is_it = [&](const ir::Buffer& b) { return b.same_as(op.buffer); };
    std::vector<ir::Buffer> read = BuffersRead(body), written = BuffersWritten(body);
    bool used = std::any_of(read.begin(), read.end(), is_it) || std::any_of(written.begin(), written.end(), is_it);
    if (!used) return body;
    return body.same_as(op.body) ? Same(op) : MakeAllocate(op.buffer, body);
  }

  Stmt MutateEvaluate(const ir::Evaluate& op) override {
    const auto* call = op.value.as<ir::Call>();
    if (!call || call->fn != ir::Intrinsic::kPrefetch) return Stmt();
    return Mutator::MutateEvaluate(op);
  }

  Stmt Under(const Expr& condition, const Stmt& s) {
    if (!s.defined()) return s;
    context_.Push(condition);
    Stmt result = Mutate(s);
    context_.Pop();
    return result;
  }
};

}  // namespace

void Context::Bind(const ir::Var& var, const Expr& min, const Expr& extent, Rewriter* rewriter) {
  Binding binding;
  binding.depth = next_depth++;
  ConstInterval low = BoundsOf(min), count = BoundsOf(extent);
  if (count == ConstInterval::Point(1)) {
    binding.value = min;
    binding.bounds = low;
    bindings[var.node()] = std::move(binding);
    return;
  }
  Linear last = ToLinear(min);
  last.AddScaled(ToLinear(extent), 1);
  last.constant -= 1;
  binding.min = min;
  binding.max = rewriter->Mutate(ToExpr(last));
  binding.bounds = {low.min, BoundsOf(binding.max).max};
  // The body of a loop with an empty range never runs; just keep the interval well formed.
  if (binding.bounds.max < binding.bounds.min) binding.bounds.max = binding.bounds.min;
  binding.symbolic = !AsIntImm(binding.min) || !AsIntImm(binding.max);
  bindings[var.node()] = std::move(binding);
}

void Context::Push(const Expr& condition) {
  frames.push_back({facts.size(), {}});
  Assume(condition);
}

void Context::Pop() {
  Frame& frame = frames.back();
  facts.resize(frame.facts);
  for (auto it = frame.narrowed.rbegin(); it != frame.narrowed.rend(); ++it) {
    if (auto binding = bindings.find(it->var); binding != bindings.end()) binding->second.bounds = it->before;
  }
  frames.pop_back();
}

Analyzer::Analyzer() : context_(std::make_unique<Context>()) {}
Analyzer::~Analyzer() = default;

void Analyzer::Bind(const ir::Var& var, const Expr& min, const Expr& extent) {
  Rewriter rewriter(context_.get());
  Expr low = rewriter.Mutate(min), count = rewriter.Mutate(extent);
  context_->Bind(var, low, count, &rewriter);
}

void Analyzer::Unbind(const ir::Var& var) { context_->bindings.erase(var.node()); }
void Analyzer::Assume(const Expr& condition) { context_->Push(Simplify(condition)); }
void Analyzer::Forget() { context_->Pop(); }

Expr Analyzer::Simplify(const Expr& e) { return Rewriter(context_.get()).Mutate(e); }

std::optional<std::pair<int64_t, int64_t>> Analyzer::ConstBounds(const Expr& e) {
  ConstInterval bounds = context_->BoundsOf(Simplify(e));
  if (!bounds.finite()) return std::nullopt;
  return std::pair(bounds.min, bounds.max);
}

std::optional<int64_t> Analyzer::ConstUpperBound(const Expr& e) {
  ConstInterval bounds = context_->BoundsOf(Simplify(e));
  if (bounds.max == ConstInterval::kPlusInf) return std::nullopt;
  return bounds.max;
}

bool Analyzer::CanProve(const Expr& condition) {
  Expr simple = Simplify(condition);
  if (const auto* b = simple.as<ir::Broadcast>()) simple = b->value;
  const int64_t* value = AsIntImm(simple);
  return value && *value;
}

Expr Simplify(const Expr& e) { return Analyzer().Simplify(e); }

Stmt SimplifyStmt(const Stmt& s, Analyzer* analyzer) {
  Analyzer fresh;
  Stmt result = StmtRewriter(&(analyzer ? analyzer : &fresh)->context()).Mutate(s);
  return result.defined() ? result : ir::MakeBlock({});
}

}  // namespace hone::arith

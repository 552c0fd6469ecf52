#include "lower/prefetch.h"

#include <unordered_map>
#include <unordered_set>

#include "ir/analysis.h"
#include "ir/equal.h"
#include "ir/visitor.h"

namespace hone::lower {
namespace {

using ir::Expr;
using ir::Stmt;

// Where the body loads from a buffer: the first element of each distinct contiguous access.
class LoadFinder final : public ir::Visitor {
 public:
  explicit LoadFinder(const ir::Buffer& buffer) : buffer_(buffer) {}
  std::vector<Expr> starts;

 private:
  void VisitLoad(const ir::Load& op) override {
    Visitor::VisitLoad(op);
    if (!op.buffer.same_as(buffer_)) return;
    const auto* ramp = op.index.as<ir::Ramp>();
    const Expr& start = ramp ? ramp->base : op.index;
    if (start.type().is_vector() || ir::UsesAnyVar(start, bound_)) return;
    auto [first, last] = seen_.equal_range(ir::Hash(start));
    for (auto it = first; it != last; ++it) {
      if (ir::Equal(it->second, start)) return;
    }
    seen_.emplace(ir::Hash(start), start);
    starts.push_back(start);
  }
  void VisitCall(const ir::Call& op) override {
    if (op.fn != ir::Intrinsic::kPrefetch) Visitor::VisitCall(op);
  }
  void VisitFor(const ir::For& op) override {
    bound_.insert(op.var.node());
    Visitor::VisitFor(op);
  }
  void VisitLetStmt(const ir::LetStmt& op) override {
    bound_.insert(op.var.node());
    Visitor::VisitLetStmt(op);
  }

  const ir::Buffer& buffer_;
  std::unordered_set<const ir::VarNode*> bound_;
  std::unordered_multimap<size_t, Expr> seen_;
};

// base + c, plus more: still one constant, and the base of the load itself.
Expr Plus(const Expr& index, int64_t more) {
  const auto* sum = index.as<ir::Binary>();
  const int64_t* c = sum && sum->kind == ir::ExprKind::kAdd ? ir::AsIntImm(sum->b) : nullptr;
  return c ? sum->a + (*c + more) : index + more;
}

class Injector final : public ir::Mutator {
 private:
  Stmt MutatePragma(const ir::Pragma& op) override {
    const auto* note = op.key == "prefetch" ? op.value.as<ir::Call>() : nullptr;
    if (!note) return Mutator::MutatePragma(op);
    const auto& ahead = *note->args[0].as<ir::Load>();
    LoadFinder finder(ahead.buffer);
    finder.Visit(op.body);
    std::vector<Stmt> stmts;
    for (const Expr& start : finder.starts) {
      Expr address = ir::MakeLoad(ahead.buffer, Plus(start, *ir::AsIntImm(ahead.index)));
      stmts.push_back(ir::MakeEvaluate(ir::MakeCall(note->type, ir::Intrinsic::kPrefetch, {address, note->args[1]})));
    }
    stmts.push_back(Mutate(op.body));
    return ir::MakeBlock(std::move(stmts));
  }
};

}  // namespace

Stmt InjectPrefetches(const Stmt& body) { return Injector().Mutate(body); }

}  // namespace hone::lower

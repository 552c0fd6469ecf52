#include "lower/prefetch.h"

#include <unordered_map>
#include <unordered_set>

#include "ir/analysis.h"
#include "ir/equal.h"
#include "ir/visitor.h"
#include "lower/loop_nest.h"

namespace hone::lower {
namespace {

using ir::Expr;
using ir::Stmt;

constexpr int kLocality = 3;  // keep in all levels

// Where the body loads from a buffer: the first element of each distinct contiguous access.
class LoadFinder final : public ir::Visitor {
 public:
  explicit LoadFinder(std::string buffer) : name_(std::move(buffer)) {}
  std::vector<Expr> starts;
  ir::Buffer buffer;

 private:
  void VisitLoad(const ir::Load& op) override {
    Visitor::VisitLoad(op);
    // What the body itself allocates is made there: nothing to fetch ahead.
    if (op.buffer.name() != name_ || allocated_.count(op.buffer.get())) return;
    buffer = op.buffer;
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
  void VisitAllocate(const ir::Allocate& op) override {
    allocated_.insert(op.buffer.get());
    Visitor::VisitAllocate(op);
  }
  void VisitLetStmt(const ir::LetStmt& op) override {
    bound_.insert(op.var.node());
    Visitor::VisitLetStmt(op);
  }

  const std::string name_;
  std::unordered_set<const ir::VarNode*> bound_;
  std::unordered_set<const ir::BufferNode*> allocated_;
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
    const std::string prefix = kPrefetchPragma;
    if (op.key.compare(0, prefix.size(), prefix) != 0) return Mutator::MutatePragma(op);
    LoadFinder finder(op.key.substr(prefix.size()));
    finder.Visit(op.body);
    const int64_t distance = *ir::AsIntImm(op.value);
    std::vector<Stmt> stmts;
    for (const Expr& start : finder.starts) {
      Expr address = ir::MakeLoad(finder.buffer, Plus(start, distance));
      stmts.push_back(
          ir::MakeEvaluate(ir::MakeCall(address.type(), ir::Intrinsic::kPrefetch, {address, Expr(kLocality)})));
    }
    stmts.push_back(Mutate(op.body));
    return ir::MakeBlock(std::move(stmts));
  }
};

}  // namespace

Stmt InjectPrefetches(const Stmt& body) { return Injector().Mutate(body); }

}  // namespace hone::lower

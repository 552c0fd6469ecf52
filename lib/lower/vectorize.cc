// Vectorize: loops of kind vectorized become operations on vectors.
//
// Runs after specialize, which made their extents constant, and before unroll, to work on one copy of a body. The lanes
// of a vectorized loop run in lock step, which is legal since iterations of a spatial axis are independent (schedule/
// checks).
//
// - Stores and loads at an index that is linear in the variable become Ramps; others get a vector index (gather,
//   scatter).
// - if_then_else whose condition does not depend on the variable keeps a scalar condition and gets vector branches.
// - With `whole_vectors` (tails on a GPU are conditions), a comparison on which all lanes agree is made only for the
//   first lane: 4*t + lane < n, for example, if 4 divides n.
// - A loop that cannot be vectorized (a condition or an inner extent depends on its variable) becomes serial.
#include "arith/linear.h"
#include "arith/simplify.h"
#include "ir/analysis.h"
#include "ir/visitor.h"
#include "lower/passes.h"

namespace hone::lower {
namespace {

constexpr int kMaxLanes = 64;

// Computes one loop's body for all values of its variable at once.
class Widener final : public ir::Mutator {
 public:
  Widener(const Var& var, const Expr& min, int lanes, bool whole_vectors)
      : var_(var), min_(min), lanes_(lanes), whole_vectors_(whole_vectors) {}

  bool failed() const { return failed_; }

 private:
  Stmt Fail(const ir::StmtNode& op) {
    failed_ = true;
    return Same(op);
  }
  Expr At(const Expr& e) { return simplify_.Simplify(ir::Substitute(e, var_, min_)); }

  // The condition, if all lanes agree on it; else null.
  Expr OfAllLanes(const Expr& condition) {
    if (!ir::UsesVar(condition, var_)) return condition;
    const auto* op = whole_vectors_ ? condition.as<ir::Binary>() : nullptr;
    if (!op) return Expr();
    if (op->kind == ir::ExprKind::kAnd) {
      Expr a = OfAllLanes(op->a), b = OfAllLanes(op->b);
      return a.defined() && b.defined() ? a && b : Expr();
    }
    // Linear, so if two lanes agree, all lanes between them do.
    if (op->kind != ir::ExprKind::kLt || !op->a.type().is_int() || op->a.type().bits != 64) return Expr();
    if (!arith::StrideOf(op->b - op->a, var_)) return Expr();
    Expr first = At(condition), last = simplify_.Simplify(ir::Substitute(condition, var_, min_ + (lanes_ - 1)));
    return ir::Equal(first, last) ? first : Expr();
  }

  Expr Index(const Expr& index) {
    if (!ir::UsesVar(index, var_)) return index;
    if (std::optional<int64_t> stride = arith::StrideOf(index, var_))
      return ir::MakeRamp(At(index), Expr(*stride), lanes_);
    return simplify_.Simplify(Mutate(index));
  }

  Expr MutateVar(const VarNode& op) override {
    return &op == var_.node() ? ir::MakeRamp(min_, Expr(1), lanes_) : Same(op);
  }
  Expr MutateLoad(const ir::Load& op) override {
    Expr index = Index(op.index);
    return index.same_as(op.index) ? Same(op) : ir::MakeLoad(op.buffer, index);
  }
  Expr MutateCall(const ir::Call& op) override {
    if (op.fn == ir::Intrinsic::kPrefetch) return Same(op);
    if (op.fn == ir::Intrinsic::kDot4) return WidenDot4(op);
    if (op.fn != ir::Intrinsic::kIfThenElse) {
      bool changed = false;
      std::vector<Expr> args = MutateAll(op.args, &changed);
      if (!changed) return Same(op);
      for (Expr& arg : args) arg = ir::MakeBroadcast(arg, lanes_);
      return ir::MakeCall(op.type.WithLanes(lanes_), op.fn, std::move(args));
    }
    Expr condition = OfAllLanes(op.args[0]);
    if (!condition.defined()) {
      failed_ = true;
      return Same(op);
    }
    Expr a = Mutate(op.args[1]), b = Mutate(op.args[2]);
    if (condition.same_as(op.args[0]) && a.same_as(op.args[1]) && b.same_as(op.args[2])) return Same(op);
    return ir::MakeIfThenElse(condition, a, b);
  }
  // Four factors of each lane, side by side for neighbouring lanes; or the same ones for all lanes.
  Expr WidenDot4(const ir::Call& op) {
    std::vector<Expr> args = {ir::MakeBroadcast(Mutate(op.args[0]), lanes_)};
    for (size_t i = 1; i < op.args.size(); ++i) {
      const auto* load = op.args[i].as<ir::Load>();
      const auto* four = load ? load->index.as<ir::Ramp>() : nullptr;
      const std::optional<int64_t> stride = four ? arith::StrideOf(four->base, var_) : std::nullopt;
      const bool same = stride == 0 && i == 1;
      if (four == nullptr || (!same && stride != four->type.lanes)) {
        failed_ = true;
        return Same(op);
      }
      args.push_back(
          same ? op.args[i]
               : ir::MakeLoad(load->buffer, ir::MakeRamp(At(four->base), Expr(1), four->type.lanes * lanes_)));
    }
    return ir::MakeCall(op.type.WithLanes(lanes_), op.fn, std::move(args));
  }
  Stmt MutateStore(const ir::Store& op) override {
    Expr index = Index(op.index), value = Mutate(op.value);
    // Every iteration writes the same place: the order would matter.
    if (index.type().is_scalar() && (value.type().is_vector() || !value.same_as(op.value))) return Fail(op);
    return ir::MakeStore(op.buffer, index, value);
  }
  Stmt MutateFor(const For& op) override {
    if (ir::UsesVar(op.min, var_) || ir::UsesVar(op.extent, var_)) return Fail(op);
    return Mutator::MutateFor(op);
  }
  Stmt MutateIf(const ir::If& op) override {
    Expr condition = OfAllLanes(op.condition);
    if (!condition.defined()) return Fail(op);
    if (condition.same_as(op.condition)) return Mutator::MutateIf(op);
    return ir::MakeIf(condition, Mutate(op.then_case), Mutate(op.else_case));
  }
  Stmt MutateAllocate(const ir::Allocate& op) override { return Fail(op); }

  const Var& var_;
  const Expr min_;
  const int lanes_;
  const bool whole_vectors_;
  bool failed_ = false;
  arith::Analyzer simplify_;
};

class Vectorizer final : public ir::Mutator {
 public:
  explicit Vectorizer(bool whole_vectors) : whole_vectors_(whole_vectors) {}
  Status status;

 private:
  Stmt MutateFor(const For& op) override {
    if (op.for_kind != ir::ForKind::kVectorized) return Mutator::MutateFor(op);
    Stmt body = Mutate(op.body);
    const int64_t* extent = AsIntImm(op.extent);
    auto serial = [&] { return ir::MakeFor(op.var, op.min, op.extent, ir::ForKind::kSerial, body); };
    if (!extent) return serial();
    if (*extent > kMaxLanes) {
      if (status.ok()) {
        status = Status::Invalid("the vectorized loop `{}` has {} iterations, more than {}; split it first",
                                 op.var.name(), *extent, kMaxLanes);
      }
      return Same(op);
    }
    if (*extent < 1) return ir::MakeBlock({});
    if (*extent == 1) return ir::Substitute(body, op.var, op.min);
    Widener widener(op.var, op.min, static_cast<int>(*extent), whole_vectors_);
    Stmt wide = widener.Mutate(body);
    return widener.failed() ? serial() : wide;
  }
  const bool whole_vectors_;
};

}  // namespace

Result<Stmt> VectorizeLoops(const Stmt& body, bool whole_vectors) {
  Vectorizer vectorizer(whole_vectors);
  Stmt result = vectorizer.Mutate(body);
  HONE_RETURN_IF_ERROR(vectorizer.status);
  return result;
}

}  // namespace hone::lower

#include "lower/tensorize.h"

#include <unordered_set>

#include "arith/simplify.h"
#include "ir/analysis.h"
#include "ir/visitor.h"
#include "lower/warp_product.h"

namespace hone::lower {
namespace {

using ir::Stmt;

// Finds the hints, and the facts known at their places: the block's threads, and whether all of them come there.
class Tensorizer final : public ir::Mutator {
 public:
  Status status;

 private:
  Stmt MutateFor(const ir::For& op) override {
    analyzer_.Bind(op.var, op.min, op.extent);
    ConstantLoop* thread = op.for_kind == ir::ForKind::kThreadX   ? &warp_.x
                           : op.for_kind == ir::ForKind::kThreadY ? &warp_.y
                                                                  : nullptr;
    if (thread) *thread = {op.var, ir::AsIntImm(op.extent) ? *ir::AsIntImm(op.extent) : 0};
    if (ir::IsThreadLoop(op.for_kind)) threads_.insert(op.var.node());
    Stmt body = Mutate(op.body);
    if (thread) *thread = {};
    analyzer_.Unbind(op.var);
    return body.same_as(op.body) ? Same(op) : ir::MakeFor(op.var, op.min, op.extent, op.for_kind, body);
  }

  Stmt MutateIf(const ir::If& op) override {
    const bool before = part_;
    part_ = part_ || ir::HasLoad(op.condition) || ir::UsesAnyVar(op.condition, threads_);
    Stmt result = Mutator::MutateIf(op);
    part_ = before;
    return result;
  }

  Stmt MutatePragma(const ir::Pragma& op) override {
    if (op.key != kTensorizeMmaTf32) return Mutator::MutatePragma(op);
    Result<Stmt> code = Together(op.body);
    if (code.ok()) return *code;
    if (status.ok()) status = code.status().WithContext("tensorize mma_tf32");
    return Same(op);
  }

  Result<Stmt> Together(const Stmt& nest) {
    if (part_) return Status::Invalid("not all threads of the block come there");
    HONE_ASSIGN_OR_RETURN(const WarpProduct product, MatchWarpProduct(nest, warp_));
    return WarpProductCode(product, warp_, &analyzer_);
  }

  arith::Analyzer analyzer_;
  WarpThreads warp_;
  std::unordered_set<const ir::VarNode*> threads_;  // indices of the block
  bool part_ = false;                               // under a condition on which threads differ
};

}  // namespace

Result<Stmt> Tensorize(const Stmt& body) {
  Tensorizer pass;
  Stmt result = pass.Mutate(body);
  HONE_RETURN_IF_ERROR(pass.status);
  return result;
}

}  // namespace hone::lower

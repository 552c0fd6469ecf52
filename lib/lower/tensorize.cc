// Tensorize: lets the threads of a warp compute together the products and sums that each computes alone.
//
// Runs after simplify and before PlaceBarriers, as threads then read elements that other threads would have read. It
// handles the hints of `tensorize S axis mma_tf32` (Pragma "tensorize_mma_tf32") around a loop of 8 iterations k of a
// reduction:
//
//   for k < 8 { for r.. { for c.. { s[r, c] = s[r, c] + a[k, r, y] * b[k, c, x] } } }
//
// Conditions: s is private to the thread, and each r and c counts places of s. a and b are loads of memory that is not
// private, or tf32() of such loads. x and y are threadIdx.x and .y, of 4 and of a multiple of 8 threads. a does not
// depend on x or on c.., and b does not depend on y or on r... Then the 4 x 8 threads of a warp have 16 rows (y % 8 and
// two values of r) and 8 columns (x and two values of c) of a product, at any addresses. With the fragments of
// ir::Intrinsic::kMmaTf32 the same sums are, for each pair of r and each pair of c,
//
//   A[0..3] = a for k = x, x + 4 and both r
//   B[0..1] = b for k = x, x + 4 and column y % 8
//   s[r, c] = mma_tf32(A, B, s)
//
// Each thread keeps its sums, so the surrounding code does not change.
#include <unordered_set>

#include "arith/simplify.h"
#include "ir/analysis.h"
#include "ir/visitor.h"
#include "lower/passes.h"
#include "lower/warp_product.h"

namespace hone::lower {
namespace {

// Finds the hints, and the facts at their places: the block's threads, and whether all of them get there.
class Tensorizer final : public ir::Mutator {
 public:
  Status status;

 private:
  Stmt MutateFor(const For& op) override {
    analyzer_.Bind(op.var, op.min, op.extent);
    ConstantLoop* thread = op.for_kind == ir::ForKind::kThreadX   ? &warp_.x
                           : op.for_kind == ir::ForKind::kThreadY ? &warp_.y
                                                                  : nullptr;
    if (thread) *thread = {op.var, AsIntImm(op.extent) ? *AsIntImm(op.extent) : 0};
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
  std::unordered_set<const VarNode*> threads_;  // thread indices of the block
  bool part_ = false;                           // under a condition that differs between threads
};

}  // namespace

Result<Stmt> Tensorize(const Stmt& body) {
  Tensorizer pass;
  Stmt result = pass.Mutate(body);
  HONE_RETURN_IF_ERROR(pass.status);
  return result;
}

}  // namespace hone::lower

#include <utility>

#include "ir/analysis.h"
#include "lower/warp_product.h"

namespace hone::lower {
namespace {

using ir::Expr;
using ir::Stmt;

constexpr int64_t kDepth = 8, kThreadsX = 4, kThreadsY = 8;

bool IsPrivate(const ir::Buffer& buffer) {
  return buffer->scope == ir::Scope::kRegister || buffer->scope == ir::Scope::kScratch;
}

// The loops of the nest from the outermost, and their body.
Result<const Stmt*> Unnest(const Stmt& nest, std::vector<ConstantLoop>* loops) {
  const Stmt* at = &nest;
  while (const auto* loop = at->as<ir::For>()) {
    const int64_t *min = ir::AsIntImm(loop->min), *extent = ir::AsIntImm(loop->extent);
    if (!min || *min != 0 || !extent) return Status::Invalid("a loop without constant limits inside");
    loops->push_back({loop->var, *extent});
    at = &loop->body;
  }
  return at;
}

// Matches store s[i] = u + v for any u and v.
const ir::Binary* SumStored(const Stmt& stmt) {
  const auto* store = stmt.as<ir::Store>();
  const auto* sum = store ? store->value.as<ir::Binary>() : nullptr;
  return sum && sum->kind == ir::ExprKind::kAdd ? sum : nullptr;
}

// The u * v of s[i] = s[i] + u * v, where s is private to the thread; else null.
const ir::Binary* ProductAdded(const ir::Store& store, const ir::Binary& sum) {
  const auto is_old = [&](const Expr& e) {
    const auto* load = e.as<ir::Load>();
    return load && load->buffer.same_as(store.buffer) && ir::Equal(load->index, store.index);
  };
  if (!is_old(sum.a) && !is_old(sum.b)) return nullptr;
  const auto* product = (is_old(sum.a) ? sum.b : sum.a).as<ir::Binary>();
  const bool of_floats = product && product->kind == ir::ExprKind::kMul && product->type == DType::Float(32);
  return of_floats && IsPrivate(store.buffer) ? product : nullptr;
}

// a is the factor that does not depend on x, b the one that does not depend on y.
Status SetFactors(const ir::Binary& product, const WarpThreads& threads, WarpProduct* out) {
  Factor a = Factor::Of(product.a), b = Factor::Of(product.b);
  if (!a.load || !b.load) return Status::Invalid("a factor is not an element of a buffer");
  // Threads other than the one that filled it would read it, and find their own values.
  if (IsPrivate(a.load->buffer) || IsPrivate(b.load->buffer)) return Status::Invalid("a factor is private to a thread");
  if (ir::UsesVar(a.load->index, threads.x.var)) std::swap(a, b);
  if (ir::UsesVar(a.load->index, threads.x.var) || ir::UsesVar(b.load->index, threads.y.var))
    return Status::Invalid("the factors do not depend on one of threadIdx.x and threadIdx.y each");
  out->a = a;
  out->b = b;
  return Status();
}

// The first loop is the reduction's; the others count rows (of a) or columns (of b).
Status SetLoops(const std::vector<ConstantLoop>& loops, WarpProduct* out) {
  out->depth = loops[0];
  const Expr& place = out->store->index;
  for (size_t i = 1; i < loops.size(); ++i) {
    const ir::Var& var = loops[i].var;
    const bool row = ir::UsesVar(out->a.load->index, var), column = ir::UsesVar(out->b.load->index, var);
    // A loop that the sum also runs over is neither: its iterations add to the same place.
    if (row == column || !ir::UsesVar(place, var))
      return Status::Invalid("`{}` counts not one of rows and columns", var.name());
    (row ? out->rows : out->columns).loops.push_back(loops[i]);
  }
  if (ir::UsesVar(place, out->depth.var)) return Status::Invalid("the loop is not a reduction");
  if (!out->rows.FindPair() || !out->columns.FindPair())
    return Status::Invalid("a thread needs pairs of rows and pairs of columns");
  return Status();
}

}  // namespace

Factor Factor::Of(const Expr& e) {
  const auto* call = e.as<ir::Call>();
  if (call && call->fn == ir::Intrinsic::kTf32) return {call->args[0].as<ir::Load>(), true};
  return {e.as<ir::Load>(), false};
}

bool Side::FindPair() {
  tiles = 1;
  for (const ConstantLoop& loop : loops) tiles *= loop.extent;
  while (pair < loops.size() && loops[pair].extent % 2 != 0) ++pair;
  tiles /= 2;
  return pair < loops.size();
}

Result<WarpProduct> MatchWarpProduct(const Stmt& nest, const WarpThreads& threads) {
  std::vector<ConstantLoop> loops;
  HONE_ASSIGN_OR_RETURN(const Stmt* repeated, Unnest(nest, &loops));
  const ir::Binary* sum = SumStored(*repeated);
  if (!sum) return Status::Invalid("its body is not an unconditional sum");
  if (loops.empty() || loops[0].extent != kDepth) return Status::Invalid("the loop has to be of {} rounds", kDepth);
  WarpProduct product;
  product.store = repeated->as<ir::Store>();
  const ir::Binary* added = ProductAdded(*product.store, *sum);
  if (!added) return Status::Invalid("its body does not add a product of floats to a value of the thread");
  if (threads.x.extent != kThreadsX || threads.y.extent % kThreadsY != 0 || threads.y.extent == 0)
    return Status::Invalid("there have to be {} threads along x and a multiple of {} along y", kThreadsX, kThreadsY);
  HONE_RETURN_IF_ERROR(SetFactors(*added, threads, &product));
  HONE_RETURN_IF_ERROR(SetLoops(loops, &product));
  return product;
}

}  // namespace hone::lower

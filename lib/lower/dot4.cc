// Tensorize on CPUs: four products of 8-bit integers and their sum become one operation.
//
// Runs after simplify, when indices are sums, and before vectorize, which makes one operation for all lanes. It handles
// the hints of `tensorize S axis dot4` (Pragma "tensorize_dot4") around a loop of 4 iterations q of a reduction:
//
//   for q < 4 { s[i] = s[i] + i32(a[j + q]) * i32(b[k + q]) }      s[i] = dot4(s[i], a[j .. j+3], b[k .. k+3])
//
// with i8 or u8 elements of one buffer and i8 elements of the other.
#include <utility>

#include "arith/linear.h"
#include "arith/simplify.h"
#include "ir/analysis.h"
#include "ir/visitor.h"
#include "lower/passes.h"

namespace hone::lower {
namespace {

constexpr int kFactors = 4;

// The element of 8 bits whose value as an i32 `e` is; null for anything else.
const ir::Load* ByteOf(const Expr& e) {
  const auto* cast = e.type() == DType::Int(32) ? e.as<ir::Cast>() : nullptr;
  const auto* load = cast ? cast->value.as<ir::Load>() : nullptr;
  const bool byte = load && (load->type == DType::Int(8) || load->type == DType::UInt(8));
  return byte ? load : nullptr;
}

Result<Stmt> Product(const Stmt& nest) {
  const auto* loop = nest.as<For>();
  const int64_t* extent = loop ? AsIntImm(loop->extent) : nullptr;
  if (!extent || *extent != kFactors) return Status::Invalid("the loop has to be of {} rounds", kFactors);
  const auto* store = loop->body.as<ir::Store>();
  const auto* sum = store ? store->value.as<ir::Binary>() : nullptr;
  if (!sum || sum->kind != ir::ExprKind::kAdd) return Status::Invalid("its body is not an unconditional sum");
  const Expr old = ir::MakeLoad(store->buffer, store->index);
  const Expr& added = ir::Equal(sum->a, old) ? sum->b : sum->a;
  const auto* product = added.as<ir::Binary>();
  if (!ir::Equal(&added == &sum->b ? sum->a : sum->b, old) || !product || product->kind != ir::ExprKind::kMul) {
    return Status::Invalid("its body does not add a product to a value");
  }
  const ir::Load *a = ByteOf(product->a), *b = ByteOf(product->b);
  if (b && b->type != DType::Int(8)) std::swap(a, b);
  if (!a || !b || b->type != DType::Int(8)) {
    return Status::Invalid("the factors are not two elements of 8 bits, one of them signed, as i32");
  }
  if (ir::UsesVar(store->index, loop->var)) return Status::Invalid("the loop is not a reduction");
  arith::Analyzer analyzer;
  std::vector<Expr> args = {old};
  for (const ir::Load* factor : {a, b}) {
    if (arith::StrideOf(factor->index, loop->var) != 1) {
      return Status::Invalid("`{}` does not have the factors side by side", factor->buffer.name());
    }
    const Expr first = analyzer.Simplify(ir::Substitute(factor->index, loop->var, loop->min));
    args.push_back(ir::MakeLoad(factor->buffer, ir::MakeRamp(first, Expr(1), kFactors)));
  }
  return ir::MakeStore(store->buffer, store->index, ir::MakeCall(DType::Int(32), ir::Intrinsic::kDot4, args));
}

class Tensorizer final : public ir::Mutator {
 public:
  Status status;

 private:
  Stmt MutatePragma(const ir::Pragma& op) override {
    if (op.key != kTensorizeDot4) return Mutator::MutatePragma(op);
    Result<Stmt> code = Product(op.body);
    if (code.ok()) return *code;
    if (status.ok()) status = code.status().WithContext("tensorize dot4");
    return Same(op);
  }
};

}  // namespace

Result<Stmt> TensorizeDot4(const Stmt& body) {
  Tensorizer pass;
  Stmt result = pass.Mutate(body);
  HONE_RETURN_IF_ERROR(pass.status);
  return result;
}

}  // namespace hone::lower

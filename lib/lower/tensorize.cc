#include "lower/tensorize.h"

#include <fmt/format.h>

#include <unordered_set>
#include <vector>

#include "arith/linear.h"
#include "arith/simplify.h"
#include "ir/analysis.h"
#include "ir/equal.h"
#include "ir/substitute.h"
#include "ir/visitor.h"

namespace hone::lower {
namespace {

using ir::Buffer;
using ir::Expr;
using ir::For;
using ir::Stmt;

constexpr int64_t kDepth = 8;
const DType kValue = DType::Float(32);

bool IsPrivate(const Buffer& buffer) {
  return buffer->scope == ir::Scope::kRegister || buffer->scope == ir::Scope::kScratch;
}

struct Loop {
  ir::Var var;
  int64_t extent = 0;
};

// a or b: a load, rounded or not.
struct Operand {
  const ir::Load* load = nullptr;
  bool rounded = false;

  static Operand Of(const Expr& e) {
    const auto* call = e.as<ir::Call>();
    if (call && call->fn == ir::Intrinsic::kTf32) return {call->args[0].as<ir::Load>(), true};
    return {e.as<ir::Load>(), false};
  }
  Expr At(const Expr& index) const {
    Expr value = ir::MakeLoad(load->buffer, index);
    return rounded ? ir::MakeCall(kValue, ir::Intrinsic::kTf32, {value}) : value;
  }
};

// Loops that count the rows or the columns of a thread; the values of one of them are taken in pairs.
struct Side {
  std::vector<Loop> loops;
  size_t pair = 0;
  int64_t tiles = 0;  // pairs, over all loops

  bool FindPair() {
    tiles = 1;
    for (const Loop& loop : loops) tiles *= loop.extent;
    while (pair < loops.size() && loops[pair].extent % 2 != 0) ++pair;
    tiles /= 2;
    return pair < loops.size();
  }
  // The loops' variables in tile `tile`, in its first or second half.
  void Set(int64_t tile, int64_t half, ir::VarMap* to) const {
    for (size_t i = loops.size(); i-- > 0;) {
      const int64_t count = i == pair ? loops[i].extent / 2 : loops[i].extent, at = tile % count;
      (*to)[loops[i].var.node()] = Expr(i == pair ? 2 * at + half : at);
      tile /= count;
    }
  }
};

class Tensorizer final : public ir::Mutator {
 public:
  Status status;

 private:
  Stmt MutateFor(const For& op) override {
    analyzer_.Bind(op.var, op.min, op.extent);
    Loop* thread = op.for_kind == ir::ForKind::kThreadX ? &x_ : op.for_kind == ir::ForKind::kThreadY ? &y_ : nullptr;
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
    Result<Stmt> product = part_ ? Status::Invalid("not all threads of the block come there") : Product(op.body);
    if (product.ok()) return *product;
    if (status.ok()) status = product.status().WithContext("tensorize mma_tf32");
    return Same(op);
  }

  Result<Stmt> Product(const Stmt& nest) {
    std::vector<Loop> loops;
    const Stmt* at = &nest;
    while (const auto* loop = at->as<For>()) {
      const int64_t *min = ir::AsIntImm(loop->min), *extent = ir::AsIntImm(loop->extent);
      if (!min || *min != 0 || !extent) return Status::Invalid("a loop without constant limits inside");
      loops.push_back({loop->var, *extent});
      at = &loop->body;
    }
    const auto* store = at->as<ir::Store>();
    const auto* sum = store ? store->value.as<ir::Binary>() : nullptr;
    if (!sum || sum->kind != ir::ExprKind::kAdd)
      return Status::Invalid("what it repeats is no sum without a condition");
    if (loops.empty() || loops[0].extent != kDepth)
      return Status::Invalid(fmt::format("the loop has to be of {} rounds", kDepth));
    const auto is_old = [&](const Expr& e) {
      const auto* load = e.as<ir::Load>();
      return load && load->buffer.same_as(store->buffer) && ir::Equal(load->index, store->index);
    };
    const Expr& added = is_old(sum->a) ? sum->b : sum->a;
    const auto* product = added.as<ir::Binary>();
    if (!(is_old(sum->a) || is_old(sum->b)) || !product || product->kind != ir::ExprKind::kMul ||
        !IsPrivate(store->buffer) || product->type != kValue)
      return Status::Invalid("what it repeats does not add a product of floats to a value of the thread");
    if (x_.extent != 4 || y_.extent % 8 != 0 || y_.extent == 0)
      return Status::Invalid("there have to be 4 threads along x and a multiple of 8 along y");

    Operand a = Operand::Of(product->a), b = Operand::Of(product->b);
    if (!a.load || !b.load) return Status::Invalid("a factor is no element of a buffer");
    // Others than who filled it would read it, and find their own.
    if (IsPrivate(a.load->buffer) || IsPrivate(b.load->buffer))
      return Status::Invalid("a factor is private to a thread");
    if (ir::UsesVar(a.load->index, x_.var)) std::swap(a, b);
    if (ir::UsesVar(a.load->index, x_.var) || ir::UsesVar(b.load->index, y_.var))
      return Status::Invalid("the factors do not depend on one of threadIdx.x and threadIdx.y each");
    const Loop k = loops[0];
    Side rows, columns;
    for (size_t i = 1; i < loops.size(); ++i) {
      const bool row = ir::UsesVar(a.load->index, loops[i].var), column = ir::UsesVar(b.load->index, loops[i].var);
      // A loop that the sum runs over, too, is none of them: its rounds add to the same place.
      if (row == column || !ir::UsesVar(store->index, loops[i].var))
        return Status::Invalid(fmt::format("`{}` counts not one of rows and columns", loops[i].var.name()));
      (row ? rows : columns).loops.push_back(loops[i]);
    }
    if (ir::UsesVar(store->index, k.var)) return Status::Invalid("the loop is no reduction");
    if (!rows.FindPair() || !columns.FindPair())
      return Status::Invalid("a thread needs pairs of rows and pairs of columns");

    // Fragments: all of the thread's rows and columns.
    const Buffer wide = Buffer::Make("a.fragments", kValue, 4 * rows.tiles, ir::Scope::kRegister);
    const Buffer high = Buffer::Make("b.fragments", kValue, 2 * columns.tiles, ir::Scope::kRegister);
    std::vector<Stmt> stmts;
    const auto fetch = [&](const Buffer& to, int64_t at, const Operand& from, const Expr& index,
                           const ir::VarMap& values) {
      const Expr place = analyzer_.Simplify(ir::Substitute(index, values));
      stmts.push_back(ir::MakeStore(to, Expr(at), from.At(place)));
    };
    for (int64_t i = 0; i < 4 * rows.tiles; ++i) {
      ir::VarMap values;
      rows.Set(i / 4, i % 2, &values);
      values[k.var.node()] = x_.var + 4 * (i / 2 % 2);
      fetch(wide, i, a, a.load->index, values);
    }
    const Expr column = ColumnIndex(b.load->index, columns);
    for (int64_t i = 0; i < 2 * columns.tiles; ++i) {
      ir::VarMap values;
      columns.Set(i / 2, 0, &values);
      values[k.var.node()] = x_.var + 4 * (i % 2);
      values[column_.node()] = y_.var % 8;
      Expr& pair = values.at(columns.loops[columns.pair].var.node());
      pair = pair + y_.var % 2;
      values[x_.var.node()] = y_.var % 8 / 2;
      fetch(high, i, b, column, values);
    }
    for (int64_t m = 0; m < rows.tiles; ++m) {
      for (int64_t n = 0; n < columns.tiles; ++n) {
        HONE_ASSIGN_OR_RETURN(const Expr index, FourOf(store->index, [&](int64_t column, int64_t row, ir::VarMap* to) {
                                rows.Set(m, row, to);
                                columns.Set(n, column, to);
                              }));
        const DType four = kValue.WithLanes(4);
        stmts.push_back(ir::MakeStore(store->buffer, index,
                                      ir::MakeCall(four, ir::Intrinsic::kMmaTf32,
                                                   {ir::MakeLoad(wide, ir::MakeRamp(Expr(4 * m), Expr(1), 4)),
                                                    ir::MakeLoad(high, ir::MakeRamp(Expr(2 * n), Expr(1), 2)),
                                                    ir::MakeLoad(store->buffer, index)})));
      }
    }
    return ir::MakeAllocate(wide, ir::MakeAllocate(high, ir::MakeBlock(std::move(stmts))));
  }

  // `index` in terms of column_ where x and the variable of pairs c stand in it as 2 x + c: most often.
  Expr ColumnIndex(const Expr& index, const Side& columns) {
    const ir::Var& c = columns.loops[columns.pair].var;
    const auto along_x = arith::StrideOf(index, x_.var), along_c = arith::StrideOf(index, c);
    if (columns.loops[columns.pair].extent != 2 || !along_x || !along_c || *along_x != 2 * *along_c) return index;
    return ir::Substitute(index, {{x_.var.node(), Expr(0)}, {c.node(), Expr(column_)}});
  }

  // The sums that a thread has of a product, with the values that `set` gives the variables in the first or second
  // column and row.
  template <typename Set>
  Result<Expr> FourOf(const Expr& index, const Set& set) {
    int64_t apart[4];
    Expr first;
    for (int64_t i = 0; i < 4; ++i) {
      ir::VarMap values;
      set(i % 2, i / 2, &values);
      const Expr at = ir::Substitute(index, values);
      if (i == 0) first = analyzer_.Simplify(at);
      const Expr distance = analyzer_.Simplify(at - first);
      if (!ir::AsIntImm(distance)) break;
      apart[i] = *ir::AsIntImm(distance);
      if (i < 3) continue;
      if (apart[3] != apart[1] + apart[2]) break;
      if (apart[1] == 0 || apart[2] == 0 || apart[3] == 0 || apart[1] == apart[2])
        return Status::Invalid("two of the sums are at one place");
      if (apart[2] == 2 * apart[1]) return ir::MakeRamp(first, Expr(apart[1]), 4);
      const Expr lane = ir::MakeRamp(Expr(0), Expr(1), 4);
      return ir::MakeBroadcast(first, 4) + (lane % 2 * apart[1] + lane / 2 * apart[2]);
    }
    return Status::Invalid("where the sums are is no sum of multiples of the loops' variables");
  }

  arith::Analyzer analyzer_;
  Loop x_, y_;
  std::unordered_set<const ir::VarNode*> threads_;  // indices of the block
  bool part_ = false;                               // under a condition on which threads differ
  const ir::Var column_{"column"};
};

}  // namespace

Result<Stmt> Tensorize(const Stmt& body) {
  Tensorizer pass;
  Stmt result = pass.Mutate(body);
  HONE_RETURN_IF_ERROR(pass.status);
  return result;
}

}  // namespace hone::lower

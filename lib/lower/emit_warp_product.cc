#include "arith/linear.h"
#include "lower/warp_product.h"

namespace hone::lower {
namespace {

using ir::Buffer;
using ir::Expr;
using ir::Stmt;

const DType kValue = DType::Float(32);

class ProductCode {
 public:
  ProductCode(const WarpProduct& product, const WarpThreads& threads, arith::Analyzer* analyzer)
      : product_(product), x_(threads.x.var), y_(threads.y.var), analyzer_(*analyzer) {}

  Result<Stmt> Make() {
    FetchRows();
    FetchColumns();
    for (int64_t m = 0; m < product_.rows.tiles; ++m) {
      for (int64_t n = 0; n < product_.columns.tiles; ++n) HONE_RETURN_IF_ERROR(Multiply(m, n));
    }
    return ir::MakeAllocate(row_values_, ir::MakeAllocate(column_values_, ir::MakeBlock(std::move(stmts_))));
  }

 private:
  // Loads element `at` of a fragment from `index` with these values of its variables.
  void Fetch(const Buffer& fragment, int64_t at, const Factor& from, const Expr& index, const ir::VarMap& values) {
    const Expr place = analyzer_.Simplify(ir::Substitute(index, values));
    stmts_.push_back(ir::MakeStore(fragment, Expr(at), from.At(place)));
  }

  void FetchRows() {
    for (int64_t i = 0; i < 4 * product_.rows.tiles; ++i) {
      ir::VarMap values;
      product_.rows.Set(i / 4, i % 2, &values);
      values[product_.depth.var.node()] = x_ + 4 * (i / 2 % 2);
      Fetch(row_values_, i, product_.a, product_.a.load->index, values);
    }
  }

  void FetchColumns() {
    const Side& columns = product_.columns;
    const Expr index = ByColumn(product_.b.load->index);
    for (int64_t i = 0; i < 2 * columns.tiles; ++i) {
      ir::VarMap values;
      columns.Set(i / 2, 0, &values);
      values[product_.depth.var.node()] = x_ + 4 * (i % 2);
      values[column_.node()] = y_ % 8;
      Expr& pair = values.at(columns.loops[columns.pair].var.node());
      pair = pair + y_ % 2;
      values[x_.node()] = y_ % 8 / 2;
      Fetch(column_values_, i, product_.b, index, values);
    }
  }

  // `index` in terms of column_, if x and the variable of pairs c occur in it as 2 x + c, as they usually do.
  Expr ByColumn(const Expr& index) const {
    const ConstantLoop& pairs = product_.columns.loops[product_.columns.pair];
    const auto along_x = arith::StrideOf(index, x_), along_c = arith::StrideOf(index, pairs.var);
    if (pairs.extent != 2 || !along_x || !along_c || *along_x != 2 * *along_c) return index;
    return ir::Substitute(index, {{x_.node(), Expr(0)}, {pairs.var.node(), Expr(column_)}});
  }

  // One instruction: the sums in the rows of tile m and the columns of tile n.
  Status Multiply(int64_t m, int64_t n) {
    HONE_ASSIGN_OR_RETURN(const Expr index, SumsOf(m, n));
    const Buffer& sums = product_.store->buffer;
    stmts_.push_back(ir::MakeStore(sums, index,
                                   ir::MakeCall(kValue.WithLanes(4), ir::Intrinsic::kMmaTf32,
                                                {ir::MakeLoad(row_values_, ir::MakeRamp(Expr(4 * m), Expr(1), 4)),
                                                 ir::MakeLoad(column_values_, ir::MakeRamp(Expr(2 * n), Expr(1), 2)),
                                                 ir::MakeLoad(sums, index)})));
    return Status();
  }

  // The place of the four sums of a thread in it: first row and column, second column, second row, both.
  Result<Expr> SumsOf(int64_t m, int64_t n) {
    int64_t apart[4];
    Expr first;
    for (int64_t i = 0; i < 4; ++i) {
      ir::VarMap values;
      product_.rows.Set(m, i / 2, &values);
      product_.columns.Set(n, i % 2, &values);
      const Expr at = ir::Substitute(product_.store->index, values);
      if (i == 0) first = analyzer_.Simplify(at);
      const Expr distance = analyzer_.Simplify(at - first);
      if (!ir::AsIntImm(distance)) return NotLinear();
      apart[i] = *ir::AsIntImm(distance);
    }
    if (apart[3] != apart[1] + apart[2]) return NotLinear();
    if (apart[1] == 0 || apart[2] == 0 || apart[3] == 0 || apart[1] == apart[2])
      return Status::Invalid("two of the sums are at one place");
    if (apart[2] == 2 * apart[1]) return ir::MakeRamp(first, Expr(apart[1]), 4);
    const Expr lane = ir::MakeRamp(Expr(0), Expr(1), 4);
    return ir::MakeBroadcast(first, 4) + (lane % 2 * apart[1] + lane / 2 * apart[2]);
  }

  static Status NotLinear() { return Status::Invalid("the sums' addresses are not linear in the loops' variables"); }

  const WarpProduct& product_;
  const ir::Var &x_, &y_;
  arith::Analyzer& analyzer_;
  const ir::Var column_{"column"};
  // All of the thread's rows, four values per tile, and all of its columns, two.
  const Buffer row_values_ = Buffer::Make("a.fragments", kValue, 4 * product_.rows.tiles, ir::Scope::kRegister);
  const Buffer column_values_ = Buffer::Make("b.fragments", kValue, 2 * product_.columns.tiles, ir::Scope::kRegister);
  std::vector<Stmt> stmts_;
};

}  // namespace

Expr Factor::At(const Expr& index) const {
  Expr value = ir::MakeLoad(load->buffer, index);
  return rounded ? ir::MakeCall(kValue, ir::Intrinsic::kTf32, {value}) : value;
}

void Side::Set(int64_t tile, int64_t half, ir::VarMap* to) const {
  for (size_t i = loops.size(); i-- > 0;) {
    const int64_t count = i == pair ? loops[i].extent / 2 : loops[i].extent, at = tile % count;
    (*to)[loops[i].var.node()] = Expr(i == pair ? 2 * at + half : at);
    tile /= count;
  }
}

Result<Stmt> WarpProductCode(const WarpProduct& product, const WarpThreads& threads, arith::Analyzer* analyzer) {
  return ProductCode(product, threads, analyzer).Make();
}

}  // namespace hone::lower

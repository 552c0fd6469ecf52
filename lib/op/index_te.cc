
#include <algorithm>
#include <numeric>

#include "op/plain_te.h"
#include "semantics/indices.h"

namespace hone::op {

using ir::Expr;

Partial SplitWhole(const std::vector<int64_t>& in, const std::vector<int64_t>& out, const std::vector<bool>& whole) {
  Partial p;
  for (size_t i = 0; i < in.size(); ++i) {
    if (whole[i] && in[i] == 1) continue;
    if (whole[i] && !p.axis.empty() && p.axis.back() < 0) {
      p.in.back() *= in[i], p.out.back() *= in[i];
      continue;
    }
    p.in.push_back(in[i]), p.out.push_back(whole[i] ? in[i] : out[i]);
    p.axis.push_back(whole[i] ? -1 : static_cast<int64_t>(i));
  }
  if (p.in.empty()) p.in.push_back(1), p.out.push_back(1), p.axis.push_back(-1);
  return p;
}

Expr IndexAt(const std::vector<int64_t>& indices, const Expr& p) {
  const std::vector<semantics::IndexRun> pieces = semantics::IndexRuns(indices);
  if (pieces.size() > semantics::kMostIndexRuns) return Expr();
  Expr value;
  for (size_t i = pieces.size(); i-- > 0;) {
    Expr here = (p - pieces[i].begin) * pieces[i].step + pieces[i].first;
    if (pieces[i].step == 0 || pieces[i].end == pieces[i].begin + 1) here = Expr(pieces[i].first);
    value = value.defined() ? ir::MakeSelect(p < pieces[i].end, here, value) : here;
  }
  return value;
}

Expr Covered(Expr start, int64_t count, int64_t step, int64_t low, int64_t high) {
  if (step == 1) return ir::Min(start + count, high) - ir::Max(start, low);
  Expr last = ir::Min((Expr(high - 1) - start) / step, count - 1),
       first = ir::Max((Expr(low + step - 1) - start) / step, 0);
  return last - first + 1;
}

Expr NearestIndex(const semantics::ResizeAxis& axis, const std::vector<int64_t>& indices, const Expr& p) {
  const int64_t common = std::gcd(axis.in, axis.out), up = axis.in / common, down = axis.out / common;
  for (int64_t offset : {int64_t{0}, down / 2, down - 1, up / 2}) {
    bool fits = true;
    for (int64_t i = 0; fits && i < axis.out; ++i) {
      fits = std::min((i * up + offset) / down, axis.in - 1) == indices[static_cast<size_t>(i)];
    }
    if (fits) return (p * up + offset) / down;
  }
  if (Expr runs = IndexAt(indices, p); runs.defined()) return runs;
  Expr place = ir::MakeCast(DType::Float(32), p) * Float(axis.a()) + Float(axis.b());
  Expr index = CallMath(ir::Intrinsic::kCeil, place - Float(0.5));
  if (axis.round == "round_prefer_ceil") index = CallMath(ir::Intrinsic::kFloor, place + Float(0.5));
  if (axis.round == "floor") index = CallMath(ir::Intrinsic::kFloor, place);
  if (axis.round == "ceil") index = CallMath(ir::Intrinsic::kCeil, place);
  return ir::MakeCast(DType::Int(64), index);
}

}  // namespace hone::op

#include "op/plain_te.h"

#include <algorithm>
#include <numeric>

#include "op/shapes.h"
#include "op/steps.h"

namespace hone::op {

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

std::vector<int64_t> ReduceAxes::Kept() const {
  std::vector<int64_t> kept;
  for (size_t i = 0; i < extents.size(); ++i) {
    if (!reduced[i]) kept.push_back(extents[i]);
  }
  return kept;
}

std::vector<Expr> ReduceAxes::KeptOf(const std::vector<Expr>& all) const {
  std::vector<Expr> kept;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!reduced[i]) kept.push_back(all[i]);
  }
  return kept;
}

Tensor ElementWise(const std::string& name, const std::vector<int64_t>& extents,
                   const std::function<Expr(const std::vector<Expr>&)>& value) {
  return te::Compute(name, extents, AxisNames(extents.size()),
                     [&](const Vars& x) { return value(std::vector<Expr>(x.begin(), x.end())); });
}

Tensor ReduceOver(const std::string& name, ir::Reducer reducer, const ReduceAxes& axes,
                  const std::function<Expr(const std::vector<Expr>&)>& value) {
  std::vector<ir::IterVar> reduce;
  return ElementWise(name, axes.Kept(), [&](const std::vector<Expr>& kept) {
    std::vector<Expr> all;
    for (size_t i = 0, k = 0; i < axes.extents.size(); ++i) {
      if (axes.reduced[i]) reduce.push_back(te::ReduceAxis(axes.extents[i], "r" + std::to_string(i)));
      all.push_back(axes.reduced[i] ? Expr(reduce.back().var) : kept[k++]);
    }
    return te::ReduceOver(reducer, value(all), reduce);
  });
}

std::vector<std::string> AxisNames(size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back("a" + std::to_string(i));
  return names;
}

AxisGroups GroupAxes(const std::vector<int64_t>& shape, const std::vector<std::vector<bool>>& patterns) {
  AxisGroups groups;
  groups.patterns.resize(patterns.size());
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    bool joins = !groups.extents.empty();
    for (size_t i = 0; joins && i < patterns.size(); ++i) joins = groups.patterns[i].back() == patterns[i][axis];
    if (joins) {
      groups.extents.back() *= shape[axis];
      continue;
    }
    groups.extents.push_back(shape[axis]);
    for (size_t i = 0; i < patterns.size(); ++i) groups.patterns[i].push_back(patterns[i][axis]);
  }
  if (groups.extents.empty()) {
    groups.extents.push_back(1);
    for (std::vector<bool>& pattern : groups.patterns) pattern.push_back(true);
  }
  return groups;
}

}  // namespace hone::op

#include "op/plain_te.h"

#include <algorithm>
#include <numeric>

#include "op/shapes.h"
#include "op/steps.h"

namespace hone::op {

static void Loops(const std::string& stage, std::vector<std::string> outer, std::vector<std::string> inner,
                  std::vector<Step>* steps) {
  std::vector<std::string> order = outer;
  order.insert(order.end(), inner.begin(), inner.end());
  if (order.size() > 1) steps->push_back(Reorder(stage, order));
  if (outer.empty()) return;
  if (outer.size() > 1) steps->push_back(Fuse(stage, outer, "task"));
  steps->push_back(Parallel(stage, outer.size() > 1 ? "task" : outer[0]));
}

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
  if (kept.empty()) kept.push_back(1);
  return kept;
}

std::vector<Expr> KeptIndex(const ReduceAxes& axes, const std::vector<Expr>& all) {
  std::vector<Expr> kept;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!axes.reduced[i]) kept.push_back(all[i]);
  }
  if (kept.empty()) kept.push_back(Expr(0));
  return kept;
}

Tensor ReduceStages(const std::string& name, ir::Reducer reducer, const ReduceAxes& axes, int lanes,
                    const std::function<Expr(const std::vector<Expr>&)>& value, std::vector<Step>* steps) {
  const std::vector<int64_t> kept = axes.Kept();
  const std::vector<std::string> names = AxisNames(kept.size());
  const size_t rank = axes.extents.size();
  std::vector<ir::IterVar> reduce;
  std::vector<std::string> reduce_names;
  for (size_t i = 0; i < rank; ++i) {
    if (!axes.reduced[i]) continue;
    reduce_names.push_back("r" + std::to_string(i));
    const bool last = i + 1 == rank;
    reduce.push_back(te::ReduceAxis(last ? CeilDiv(axes.extents[i], lanes) : axes.extents[i], reduce_names.back()));
  }
  auto index = [&](const Vars& x) {
    std::vector<Expr> all;
    for (size_t i = 0, k = 0, r = 0; i < rank; ++i)
      all.push_back(axes.reduced[i] ? Expr(reduce[r++].var) : Expr(x[k++]));
    return all;
  };
  if (!axes.reduced.back()) {
    Tensor out = te::Compute(name, kept, names, [&](const Vars& x) {
      Expr read = value(index(x));
      return reduce.empty() ? read : te::ReduceOver(reducer, read, reduce);
    });
    Append(steps, {Split(name, names.back(), {lanes}, {"v.o", "v.i"}), Vectorize(name, "v.i")});
    std::vector<std::string> outer(names.begin(), names.end() - 1), inner = reduce_names;
    outer.push_back("v.o");
    inner.push_back("v.i");
    Loops(name, outer, inner, steps);
    return out;
  }
  // Lane by lane first; beyond the end, the last element is repeated, or counts as 0 in a sum.
  const int64_t extent = axes.extents.back();
  std::vector<int64_t> lane_shape = kept;
  lane_shape.push_back(lanes);
  std::vector<std::string> lane_names = names;
  lane_names.push_back("v");
  Tensor part = te::Compute(name + "_lane", lane_shape, lane_names, [&](const Vars& x) {
    std::vector<Expr> all = index(x);
    Expr at = reduce.back().var * lanes + x.back();
    const bool tail = extent % lanes != 0;
    all.back() = tail ? ir::Min(at, extent - 1) : at;
    Expr read = value(all);
    if (tail && reducer == ir::Reducer::kSum) read = ir::MakeSelect(at < extent, read, Float(0));
    return te::ReduceOver(reducer, read, reduce);
  });
  std::vector<std::string> inner = reduce_names;
  inner.push_back("v");
  ir::IterVar lane = te::ReduceAxis(lanes, "l");
  Tensor out = te::Compute(name, kept, names, [&](const Vars& x) {
    std::vector<Expr> at(x.begin(), x.end());
    at.push_back(lane.var);
    return te::ReduceOver(reducer, part(at), {lane});
  });
  Loops(name, names, {"l"}, steps);
  Loops(part.name(), names, inner, steps);
  steps->push_back(Vectorize(part.name(), "v"));
  return out;
}

std::vector<Step> VectorsAlongLast(const std::string& stage, const std::vector<std::string>& axes,
                                   const std::vector<int64_t>& extents, int lanes) {
  std::vector<Step> steps = {Split(stage, axes.back(), {lanes}, {"v.o", "v.i"}), Vectorize(stage, "v.i")};
  std::vector<std::string> shared(axes.begin(), axes.end() - 1);
  const bool tail = extents.back() % lanes != 0;
  if (tail && semantics::Product(extents, 0, extents.size() - 1) == 1) shared.clear();
  if (!tail || shared.empty()) shared.push_back("v.o");
  if (shared.size() > 1) steps.push_back(Fuse(stage, shared, "task"));
  steps.push_back(Parallel(stage, shared.size() > 1 ? "task" : shared[0]));
  return steps;
}

std::vector<Step> SpreadOut(int64_t tasks, const std::string& axis, int64_t extent, int threads) {
  std::vector<Step> steps = {Vectorize("out", "ci")};
  int64_t pieces = std::min(CeilDiv(int64_t{4} * threads, tasks), extent);
  std::vector<std::string> outer = {"n", "co"};
  if (pieces > 1) {
    steps.push_back(Split("out", axis, {CeilDiv(extent, pieces)}, {axis + ".o", axis + ".i"}));
    outer.push_back(axis + ".o");
  }
  Append(&steps, {Fuse("out", outer, "task"), Parallel("out", "task")});
  return steps;
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

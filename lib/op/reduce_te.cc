
#include "op/plain_te.h"
#include "op/shapes.h"
#include "op/steps.h"

namespace hone::op {
namespace {

using ir::Expr;
using ir::Var;
using te::Tensor;

Expr MakeReduce(ir::Reducer reducer, Expr value, const std::vector<ir::IterVar>& axes) {
  if (reducer == ir::Reducer::kSum) return te::Sum(value, axes);
  return reducer == ir::Reducer::kMax ? te::MaxOver(value, axes) : te::MinOver(value, axes);
}

void Loops(const std::string& stage, std::vector<std::string> outer, std::vector<std::string> inner,
           std::vector<Step>* steps) {
  std::vector<std::string> order = outer;
  order.insert(order.end(), inner.begin(), inner.end());
  if (order.size() > 1) steps->push_back(Reorder(stage, order));
  if (outer.empty()) return;
  if (outer.size() > 1) steps->push_back(Fuse(stage, outer, "task"));
  steps->push_back(Parallel(stage, outer.size() > 1 ? "task" : outer[0]));
}

}  // namespace

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
  auto index = [&](const std::vector<Var>& x) {
    std::vector<Expr> all;
    for (size_t i = 0, k = 0, r = 0; i < rank; ++i)
      all.push_back(axes.reduced[i] ? Expr(reduce[r++].var) : Expr(x[k++]));
    return all;
  };
  if (!axes.reduced.back()) {
    Tensor out = te::Compute(name, kept, names, [&](const std::vector<Var>& x) {
      Expr read = value(index(x));
      return reduce.empty() ? read : MakeReduce(reducer, read, reduce);
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
  Tensor part = te::Compute(name + "_lane", lane_shape, lane_names, [&](const std::vector<Var>& x) {
    std::vector<Expr> all = index(x);
    Expr at = reduce.back().var * lanes + x.back();
    const bool tail = extent % lanes != 0;
    all.back() = tail ? ir::Min(at, extent - 1) : at;
    Expr read = value(all);
    if (tail && reducer == ir::Reducer::kSum) read = ir::MakeSelect(at < extent, read, Float(0));
    return MakeReduce(reducer, read, reduce);
  });
  std::vector<std::string> inner = reduce_names;
  inner.push_back("v");
  ir::IterVar lane = te::ReduceAxis(lanes, "l");
  Tensor out = te::Compute(name, kept, names, [&](const std::vector<Var>& x) {
    std::vector<Expr> at(x.begin(), x.end());
    at.push_back(lane.var);
    return MakeReduce(reducer, part(at), {lane});
  });
  Loops(name, names, {"l"}, steps);
  Loops(part.name(), names, inner, steps);
  steps->push_back(Vectorize(part.name(), "v"));
  return out;
}

}  // namespace hone::op

#include "op/conv/conv_unblocked.h"

#include "op/conv/conv2d_te.h"
#include "op/defined_operator.h"
#include "op/epilogue.h"
#include "op/product.h"
#include "op/shapes.h"
#include "semantics/semantics.h"
#include "semantics/window.h"

namespace hone::op {
namespace {

std::string SpatialName(const char* prefix, size_t i, size_t rank) {
  return prefix + std::string("dhw").substr(i + 3 - rank, 1);
}

// "n", then "c" and the spatial axes in the order of their storage.
std::vector<std::string> NamesOf(const AxisPlaces& places, const char* prefix, const char* channels, size_t rank) {
  std::vector<std::string> names(rank + 2, "n");
  names[places.channels] = channels;
  for (size_t i = 0; i < rank; ++i) names[places.spatial + i] = SpatialName(prefix, i, rank);
  return names;
}

// The input as windows reach it, with padding around. `by_tap`: each column of the window has the columns that it meets
// as a row of its own, [.., kw, ow], so that neighbours in a row of the output read neighbours. `data` itself if it is
// that.
Tensor SourceOf(const semantics::Window& w, const AxisPlaces& places, const ProductOperands& operands, bool by_tap) {
  const Tensor& data = operands.data();
  std::vector<int64_t> shape = data.shape();
  std::vector<std::string> names = NamesOf(places, "i", "c", w.rank());
  bool same = !by_tap;
  for (size_t i = 0; i < w.rank(); ++i) {
    same = same && w.before[i] == 0 && w.reach(i) <= w.in[i];
    shape[places.spatial + i] = w.reach(i);
  }
  if (same) return data;
  if (by_tap) {
    shape.back() = w.kernel.back(), names.back() = "tap";
    shape.push_back(w.out.back()), names.emplace_back("iw");
  }
  return te::Compute("pad", shape, names, [&](const Vars& x) {
    std::vector<Expr> at(x.begin(), x.end());
    if (by_tap) {
      at.pop_back();
      at.back() = x.back() * w.stride.back() + at.back() * w.dilation.back();
    }
    Expr inside;
    for (size_t i = 0; i < w.rank(); ++i) {
      Expr& position = at[places.spatial + i];
      position = position - w.before[i];
      inside = WithinExtent(position, -w.before[i], w.reach(i) - 1 - w.before[i], w.in[i], inside);
    }
    return ZeroOutside(inside, data(at), operands.Padding());
  });
}

Computation Make(const Workload& w) {
  const semantics::Window window = *semantics::WindowOf(w);
  const Layout layout = semantics::OutputLayout(w);
  const size_t rank = window.rank();
  const AxisPlaces places = AxisPlaces::Of(layout, rank + 2);
  const int64_t channels = w.inputs[1].shape[0], of_group = w.inputs[1].shape[1];
  const int64_t groups = semantics::Whole(w, "groups", 1);
  ProductOperands operands(w, semantics::StoredShape(w.inputs[0].shape, layout), w.inputs[1].shape);
  const bool by_tap = layout == Layout::kPlain && (window.kernel.back() > 1 || window.stride.back() > 1);
  const Tensor source = SourceOf(window, places, operands, by_tap);
  const std::vector<int64_t> shape = semantics::StoredShape(semantics::InferOutput(w)->shape, layout);
  const std::vector<std::string> names = NamesOf(places, "o", "oc", rank);
  std::vector<ir::IterVar> reduced;
  for (size_t i = 0; i < rank; ++i) reduced.push_back(te::ReduceAxis(window.kernel[i], SpatialName("k", i, rank)));
  if (of_group > 1 || groups == 1) reduced.push_back(te::ReduceAxis(of_group, "c"));
  const bool sum_alone = w.epilogue.empty() && w.inputs.size() == 2;
  const Tensor acc = te::Compute(sum_alone ? "out" : "acc", shape, names, [&](const Vars& x) {
    const Expr channel = reduced.size() > rank ? Expr(reduced.back().var) : Expr(0);
    std::vector<Expr> from(x.begin(), x.end()), by = {x[places.channels], channel};
    Expr& read = from[places.channels];
    if (groups == 1) {
      read = channel;
    } else if (channels != groups || of_group > 1) {
      const Expr group = channels == groups ? read : read / (channels / groups);
      read = of_group == 1 ? group : group * of_group + channel;
    }
    for (size_t i = 0; i < rank; ++i) {
      Expr& position = from[places.spatial + i];
      position = position * window.stride[i] + reduced[i].var * window.dilation[i];
      by.emplace_back(reduced[i].var);
    }
    if (by_tap) from.back() = reduced[rank - 1].var, from.emplace_back(x.back());
    return te::Sum(operands.Times(source(from), operands.weight()(by)), reduced);
  });
  if (sum_alone) return {operands.inputs(), {acc}};
  const EpilogueTensors epilogue = MakeEpilogueTensors(w, shape, channels, 0);
  const Tensor out = te::Compute("out", shape, names, [&](const Vars& x) {
    const Expr sum = operands.LessZero(acc({x.begin(), x.end()}), x[places.channels], channels);
    return PlainEpilogue(w, epilogue, sum, x, places.channels);
  });
  return {epilogue.After(operands.inputs()), {out}};
}

}  // namespace

bool Unblocked(const Workload& w, int lanes) {
  const Layout layout = semantics::OutputLayout(w);
  return layout == Layout::kChannelsLast || (layout == Layout::kPlain && lanes > 1);
}

Result<Computation> ComputeUnblocked(const Workload& w, const Target&, const Algorithm&) { return Make(w); }

}  // namespace hone::op

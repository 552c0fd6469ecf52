// Operators that move elements and compute nothing (lib/semantics/movement.cc): transpose, reshape, slice, pad, gather,
// expand, all plain, of any rank; concat, blocked along the channels of four or five axes, else plain.

#include <functional>

#include "base/check.h"
#include "op/defined_operator.h"
#include "op/layout.h"
#include "op/operators.h"
#include "op/plain_te.h"
#include "semantics/semantics.h"

namespace hone::op {
namespace {

using Shape = std::vector<int64_t>;

FixedKernel Copy(const std::vector<Tensor>& inputs, const Shape& shape,
                 const std::function<Expr(const std::vector<Expr>&)>& value) {
  const std::vector<std::string> names = AxisNames(shape.size());
  Tensor out =
      te::Compute("out", shape, names, [&](const Vars& x) { return value(std::vector<Expr>(x.begin(), x.end())); });
  return {{inputs, {out}}, {}};
}

// Fuses axes that stay neighbours.
Result<FixedKernel> BuildTranspose(const Workload& w, const Target&) {
  const Shape& in = w.inputs[0].shape;
  Shape perm;
  for (int64_t axis : w.Numbers("perm", {})) {
    if (in[static_cast<size_t>(axis)] > 1) perm.push_back(axis);
  }
  Shape rank_of(in.size(), -1);  // rank of an input axis among those with more than one element
  int64_t count = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i] > 1) rank_of[i] = count++;
  }
  Shape out_extents, out_first;  // groups of the output: their extent and first input axis (by rank)
  for (size_t i = 0; i < perm.size(); ++i) {
    const int64_t rank = rank_of[static_cast<size_t>(perm[i])], extent = in[static_cast<size_t>(perm[i])];
    if (i > 0 && rank == rank_of[static_cast<size_t>(perm[i - 1])] + 1) {
      out_extents.back() *= extent;
    } else {
      out_extents.push_back(extent), out_first.push_back(rank);
    }
  }
  if (out_extents.empty()) out_extents.push_back(1), out_first.push_back(0);
  std::vector<size_t> order(out_first.size());  // the output group of each input group
  for (size_t g = 0; g < order.size(); ++g) {
    size_t before = 0;
    for (int64_t other : out_first) before += other < out_first[g];
    order[before] = g;
  }
  Shape in_extents;
  for (size_t g : order) in_extents.push_back(out_extents[g]);
  Tensor data = te::Placeholder("data", in_extents, w.inputs[0].type);
  return Copy({data}, out_extents, [&](const std::vector<Expr>& x) {
    std::vector<Expr> at;
    for (size_t g : order) at.push_back(x[g]);
    return data(at);
  });
}

Result<FixedKernel> BuildReshape(const Workload& w, const Target&) {
  Tensor data = te::Placeholder("data", {w.inputs[0].Elements()}, w.inputs[0].type);
  return Copy({data}, data.shape(), [&](const std::vector<Expr>& x) { return data(x); });
}

Result<FixedKernel> BuildSlice(const Workload& w, const Target&) {
  const Shape &in = w.inputs[0].shape, out = semantics::InferOutput(w)->shape;
  const Shape begin = w.Numbers("begin", {}), step = w.Numbers("step", Shape(in.size(), 1));
  std::vector<bool> whole;
  for (size_t i = 0; i < in.size(); ++i) whole.push_back(out[i] == in[i] && step[i] > 0);
  const Partial p = SplitWhole(in, out, whole);
  Tensor data = te::Placeholder("data", p.in, w.inputs[0].type);
  return Copy({data}, p.out, [&](const std::vector<Expr>& x) {
    std::vector<Expr> at = x;
    for (size_t g = 0; g < at.size(); ++g) {
      if (p.axis[g] < 0) continue;
      const auto axis = static_cast<size_t>(p.axis[g]);
      at[g] = p.out[g] == 1 ? Expr(begin[axis]) : x[g] * step[axis] + begin[axis];
    }
    return data(at);
  });
}

Result<FixedKernel> BuildPad(const Workload& w, const Target&) {
  const Shape &in = w.inputs[0].shape, out = semantics::InferOutput(w)->shape;
  const Shape low = w.Numbers("low", Shape(in.size(), 0));
  const std::string mode = semantics::Word(w, "mode", "constant");
  const double value = semantics::Real(w, "value", 0);
  std::vector<bool> whole;
  for (size_t i = 0; i < in.size(); ++i) whole.push_back(out[i] == in[i]);
  const Partial p = SplitWhole(in, out, whole);
  Tensor data = te::Placeholder("data", p.in, w.inputs[0].type);
  return Copy({data}, p.out, [&](const std::vector<Expr>& x) {
    std::vector<Expr> at = x;
    Expr inside;
    for (size_t g = 0; g < at.size(); ++g) {
      if (p.axis[g] < 0) continue;
      const int64_t extent = p.in[g];
      Expr from = x[g] - low[static_cast<size_t>(p.axis[g])];
      if (mode == "constant") {
        Expr here = from >= 0 && from < extent;
        inside = inside.defined() ? inside && here : here;
      }
      if (mode == "constant" || mode == "edge") {
        at[g] = ir::Max(ir::Min(from, extent - 1), 0);
      } else if (mode == "wrap") {
        at[g] = (from + extent) % extent;
      } else {
        Expr left = ir::Max(from, Expr(0) - from);
        at[g] = ir::Min(left, Expr(2 * (extent - 1)) - left);
      }
    }
    return inside.defined() ? ir::MakeSelect(inside, data(at), ir::Imm(data.type(), value)) : data(at);
  });
}

Result<FixedKernel> BuildGather(const Workload& w, const Target&) {
  const Shape &in = w.inputs[0].shape, indices = w.Numbers("indices", {});
  const auto axis = static_cast<size_t>(semantics::Whole(w, "axis", 0));
  const int64_t outer = semantics::Product(in, 0, axis), inner = semantics::Product(in, axis + 1, in.size());
  const int64_t count = static_cast<int64_t>(indices.size());
  Shape stored = {outer, in[axis]}, shape = {outer, count};
  if (inner > 1) stored.push_back(inner), shape.push_back(inner);
  Tensor data = te::Placeholder("data", stored, w.inputs[0].type);
  return Copy({data}, shape, [&](const std::vector<Expr>& x) {
    std::vector<Expr> at = x;
    const Expr index = IndexAt(indices, x[1]);
    HONE_CHECK(index.defined());  // the shape check rejects more runs (semantics/movement.cc)
    at[1] = ir::Max(ir::Min(index, stored[1] - 1), 0);
    return data(at);
  });
}

Result<FixedKernel> BuildExpand(const Workload& w, const Target&) {
  const Shape shape = semantics::InferOutput(w)->shape;
  Shape in = w.inputs[0].shape;
  in.insert(in.begin(), shape.size() - in.size(), 1);
  std::vector<bool> pattern;
  for (size_t i = 0; i < shape.size(); ++i) pattern.push_back(in[i] == shape[i]);
  const AxisGroups groups = GroupAxes(shape, {pattern});
  Shape stored;
  for (size_t g = 0; g < groups.extents.size(); ++g) stored.push_back(groups.patterns[0][g] ? groups.extents[g] : 1);
  Tensor data = te::Placeholder("data", stored, w.inputs[0].type);
  return Copy({data}, groups.extents, [&](const std::vector<Expr>& x) {
    std::vector<Expr> at = x;
    for (size_t g = 0; g < at.size(); ++g) {
      if (stored[g] == 1) at[g] = Expr(0);
    }
    return data(at);
  });
}

// Along the last axis if the channels are there.
Result<FixedKernel> BuildUnblockedConcat(const Workload& w) {
  const Layout layout = semantics::OutputLayout(w);
  const Shape logical = semantics::InferOutput(w)->shape, out = semantics::StoredShape(logical, layout);
  const auto along = static_cast<size_t>(semantics::Whole(w, "axis", 1));
  const size_t axis = layout == Layout::kChannelsLast ? out.size() - 1 : along;
  const int64_t outer = semantics::Product(out, 0, axis), inner = semantics::Product(out, axis + 1, out.size());
  Shape shape = {outer, out[axis]};
  if (inner > 1) shape.push_back(inner);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < w.inputs.size(); ++i) {
    Shape stored = shape;
    stored[1] = w.inputs[i].shape[along];
    inputs.push_back(te::Placeholder(i == 0 ? "data" : "data" + std::to_string(i), stored, w.inputs[i].type));
  }
  return Copy(inputs, shape, [&](const std::vector<Expr>& x) {
    Expr value;
    int64_t end = out[axis];
    for (size_t i = inputs.size(); i-- > 0;) {
      const int64_t extent = w.inputs[i].shape[along], begin = end - extent;
      std::vector<Expr> at = x;
      at[1] = ir::Min(ir::Max(x[1] - begin, 0), extent - 1);
      value = value.defined() ? ir::MakeSelect(x[1] < end, inputs[i](at), value) : inputs[i](at);
      end = begin;
    }
    return value;
  });
}

Result<FixedKernel> BuildConcat(const Workload& w, const Target& target) {
  const bool blocked = semantics::InputLayout(w, 0) == Layout::kBlocked;
  return blocked ? BuildBlockedConcat(w, target) : BuildUnblockedConcat(w);
}

}  // namespace

std::vector<const Operator*> MovementOperators() {
  return {
      new SketchedOperator("transpose", BuildTranspose),  // never destroyed
      new SketchedOperator("reshape", BuildReshape),
      new SketchedOperator("slice", BuildSlice),
      new SketchedOperator("pad", BuildPad),
      new SketchedOperator("gather", BuildGather),
      new SketchedOperator("expand", BuildExpand),
      new SketchedOperator("concat", BuildConcat),
  };
}

}  // namespace hone::op

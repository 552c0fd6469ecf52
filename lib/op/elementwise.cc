// Each output value depends on one value of each input: the functions of semantics/elementwise.h. Two inputs broadcast
// as in numpy. Any rank; rank 4 and 5 are blocked, or as `layout` says. If all shapes are equal, an epilogue may
// follow: `identity(f32[1,64,7,7]) + bias + clip(-1,1)`.
#include "semantics/elementwise.h"

#include "op/defined_operator.h"
#include "op/epilogue.h"
#include "op/operators.h"
#include "op/plain_te.h"
#include "op/shapes.h"
#include "op/steps.h"
#include "semantics/quantise.h"
#include "semantics/semantics.h"

namespace hone::op {
namespace {

std::vector<int64_t> Padded(const std::vector<int64_t>& shape, size_t rank) {
  std::vector<int64_t> padded(rank - shape.size(), 1);
  padded.insert(padded.end(), shape.begin(), shape.end());
  return padded;
}

std::string DataName(size_t i) { return i == 0 ? "data" : "data" + std::to_string(i); }

Expr Value(const Workload& w, const std::vector<Expr>& x) {
  const auto whole = [](const Expr& e) { return ir::MakeCast(DType::Int(32), e); };
  if (semantics::IsDequantise(w)) return ir::MakeCast(DType::Float(32), whole(x[0]) - whole(x[2])) * x[1];
  // The operands' order makes NaN the least value. Clamped first, as the limits are whole numbers.
  const auto rounded = [&](const Expr& value, const Expr& zero, const Expr& least, const Expr& most, DType type) {
    const auto bound = [&](const Expr& limit) { return ir::MakeCast(DType::Float(32), limit - zero); };
    const Expr inside = ir::Min(ir::Max(value, bound(least)), bound(most));
    return ir::MakeCast(type, whole(CallMath(ir::Intrinsic::kRound, inside)) + zero);
  };
  if (semantics::IsQuantise(w)) {
    const auto [least, most] = semantics::LimitsOf(w.inputs[2].type);
    const auto limit = [](int value) { return ir::MakeInt(DType::Int(32), value); };
    return rounded(x[0] / x[1], whole(x[2]), limit(least), limit(most), w.inputs[2].type);
  }
  if (semantics::IsRequantise(w) && w.inputs[1].type == DType::Int(32)) {
    const auto i32 = [](int value) { return ir::MakeInt(DType::Int(32), value); };
    const size_t terms = x.size() - 3;
    const int point = -semantics::kLeastExponent;
    Expr sum = i32(1 << (point - 1));
    for (size_t t = 0; t < terms; t += 3) {
      const Expr exponent = ir::Min(ir::Max(x[t + 1], i32(-point)), i32(semantics::kMostExponent));
      sum = sum + ir::ShiftLeft(whole(x[t]) - whole(x[t + 2]), exponent + i32(point));
    }
    const Expr value = ir::ShiftRight(sum, i32(point)) + whole(x[terms]);
    return ir::MakeCast(w.inputs.back().type, ir::Min(ir::Max(value, whole(x[terms + 1])), whole(x[terms + 2])));
  }
  if (semantics::IsRequantise(w)) {
    const size_t terms = x.size() - 3;
    Expr sum;
    for (size_t t = 0; t < terms; t += 3) {
      const Expr above_zero = ir::MakeCast(DType::Float(32), whole(x[t]) - whole(x[t + 2]));
      sum =
          t == 0 ? above_zero * x[1] : ir::MakeCall(DType::Float(32), ir::Intrinsic::kFma, {above_zero, x[t + 1], sum});
    }
    return rounded(sum, whole(x[terms]), whole(x[terms + 1]), whole(x[terms + 2]), w.inputs.back().type);
  }
  const semantics::ScalarFunction& f = semantics::ScalarFunctionOf(w.op);
  return ScalarExpr(f.name, x, semantics::ParameterValues(f, w));
}

// Whether the function maps the zeros of unused lanes to zeros.
bool KeepsZero(const Workload& w) {
  if (semantics::IsQuantise(w) || semantics::IsDequantise(w) || semantics::IsRequantise(w)) return false;
  const semantics::ScalarFunction& f = semantics::ScalarFunctionOf(w.op);
  const double zeros[2] = {0, 0};
  return f.value(zeros, semantics::ParameterValues(f, w).data()) == 0;
}

// Axes that all inputs have, or lack, together form one loop. With a bias, the channels keep their own axis. Channels
// last is plain with other shapes; an input with fewer axes has the same order of elements in both.
Result<FixedKernel> BuildPlain(const Workload& w, const std::vector<int64_t>& logical, Layout layout) {
  const std::vector<int64_t> shape = semantics::StoredShape(logical, layout);
  AxisGroups groups;
  std::vector<std::vector<bool>> patterns;
  for (const TensorType& input : w.inputs) {
    const std::vector<int64_t> padded = semantics::StoredShape(Padded(input.shape, shape.size()), layout);
    std::vector<bool> pattern;
    for (size_t i = 0; i < shape.size(); ++i) pattern.push_back(padded[i] == shape[i]);
    patterns.push_back(pattern);
  }
  const int64_t channels = shape.size() > 1 ? logical[1] : 1;
  const bool last = layout == Layout::kChannelsLast;
  if (w.HasEpilogue(EpilogueKind::kBias)) {
    groups.extents = {shape[0], channels, semantics::Product(shape) / (shape[0] * channels)};
    if (last) std::swap(groups.extents[1], groups.extents[2]);
    groups.patterns.assign(w.inputs.size(), {true, true, true});
  } else {
    groups = GroupAxes(shape, patterns);
  }
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < w.inputs.size(); ++i) {
    std::vector<int64_t> stored = groups.extents;
    for (size_t g = 0; g < stored.size(); ++g) {
      if (!groups.patterns[i][g]) stored[g] = 1;
    }
    inputs.push_back(te::Placeholder(DataName(i), stored, w.inputs[i].type));
  }
  EpilogueTensors epilogue = MakeEpilogueTensors(w, groups.extents, channels, 0);
  const std::vector<std::string> axes = AxisNames(groups.extents.size());
  Tensor out = te::Compute("out", groups.extents, axes, [&](const Vars& x) {
    std::vector<Expr> at(x.begin(), x.end()), values;
    for (const Tensor& t : inputs) {
      std::vector<Expr> index = at;
      for (size_t g = 0; g < index.size(); ++g) {
        if (t.shape()[g] == 1) index[g] = Expr(0);
      }
      values.push_back(t(index));
    }
    return PlainEpilogue(w, epilogue, Value(w, values), x, last ? 2 : 1);
  });
  return FixedKernel{{epilogue.After(inputs), {out}}, {}};
}

// [n, block, spatial groups.., lane]. An input with fewer axes is plain; one with a single channel is read at lane 0.
Result<FixedKernel> BuildBlocked(const Workload& w, const std::vector<int64_t>& shape, const Target& target) {
  const int lanes = target.ChannelBlock();
  const int64_t channels = shape[1], blocks = CeilDiv(channels, lanes);
  const std::vector<int64_t> spatial(shape.begin() + 2, shape.end());
  std::vector<std::vector<bool>> patterns;
  std::vector<std::vector<int64_t>> shapes;
  bool masked = channels % lanes != 0 && !KeepsZero(w);
  for (const TensorType& input : w.inputs) {
    shapes.push_back(Padded(input.shape, shape.size()));
    std::vector<bool> pattern;
    for (size_t i = 2; i < shape.size(); ++i) pattern.push_back(shapes.back()[i] == shape[i]);
    patterns.push_back(pattern);
    if (channels % lanes != 0 && (shapes.back()[1] == 1 || input.shape.size() != shape.size())) masked = true;
  }
  const AxisGroups groups = GroupAxes(spatial, patterns);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < w.inputs.size(); ++i) {
    const bool blocked = w.inputs[i].shape.size() == shape.size();
    std::vector<int64_t> stored = {shapes[i][0], blocked ? CeilDiv(shapes[i][1], lanes) : shapes[i][1]};
    for (size_t g = 0; g < groups.extents.size(); ++g) stored.push_back(groups.patterns[i][g] ? groups.extents[g] : 1);
    if (blocked) stored.push_back(lanes);
    inputs.push_back(te::Placeholder(DataName(i), stored, w.inputs[i].type));
  }
  std::vector<int64_t> stored = {shape[0], blocks};
  stored.insert(stored.end(), groups.extents.begin(), groups.extents.end());
  stored.push_back(lanes);
  std::vector<std::string> axes = {"n", "co"};
  for (const std::string& name : AxisNames(groups.extents.size())) axes.push_back(name);
  axes.push_back("ci");
  EpilogueTensors epilogue = MakeEpilogueTensors(w, stored, channels, lanes);
  Tensor out = te::Compute("out", stored, axes, [&](const Vars& x) {
    std::vector<Expr> values;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::vector<int64_t>& s = inputs[i].shape();
      const bool blocked = s.size() == stored.size();
      std::vector<Expr> at(x.begin(), x.begin() + static_cast<ptrdiff_t>(s.size()));
      for (size_t k = 0; k < at.size(); ++k) {
        if (s[k] == 1 && stored[k] != 1) at[k] = Expr(0);
      }
      if (shapes[i][1] == 1) {
        at[1] = Expr(0);
        if (blocked) at.back() = Expr(0);
      } else if (!blocked) {
        at[1] = x[1] * lanes + x.back();
        if (channels % lanes != 0) at[1] = ir::Min(at[1], channels - 1);
      }
      values.push_back(inputs[i](at));
    }
    Expr value = Value(w, values);
    if (masked) value = ir::MakeSelect(x[1] * lanes + x.back() < channels, value, ir::Imm(value.type(), 0));
    return BlockedEpilogue(w, epilogue, value, x, channels, lanes);
  });
  return FixedKernel{{epilogue.After(inputs), {out}}, {}};
}

Result<FixedKernel> Build(const Workload& w, const Target& target) {
  const std::vector<int64_t> shape = semantics::InferOutput(w)->shape;
  const Layout layout = semantics::OutputLayout(w);
  return layout == Layout::kBlocked ? BuildBlocked(w, shape, target) : BuildPlain(w, shape, layout);
}

}  // namespace

std::vector<const Operator*> ElementwiseOperators() {
  std::vector<const Operator*> all;
  for (const semantics::ScalarFunction& f : semantics::ScalarFunctions()) {
    all.push_back(new SketchedOperator(f.name, Build));  // never destroyed
  }
  for (const char* name : {"quantise", "dequantise", "requantise"}) all.push_back(new SketchedOperator(name, Build));
  return all;
}

}  // namespace hone::op

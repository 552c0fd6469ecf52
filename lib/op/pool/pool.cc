// max_pool2d(f32[N,C,H,W], kernel=KHxKW, stride=1x1, pad=0,0,0,0, dilation=1x1, ceil_mode=0), avg_pool2d (also
// count_include_pad=0), and the same for [N,C,D,H,W]: max_pool3d, avg_pool3d. Blocked, or as `layout` says.
// lib/semantics/windows.cc has the definition.
//
// OH = floor((H + top + bottom - KH) / stride) + 1; with ceil_mode=1 it is rounded up, but a window that would start in
// the padding behind the input is dropped. pad < kernel, so that every window contains an element. An average divides
// by the number of elements inside the input, or with count_include_pad=1 inside the padded input.
#include "op/defined_operator.h"
#include "op/operators.h"
#include "op/plain_te.h"
#include "op/pool/pool_te.h"
#include "op/shapes.h"
#include "op/steps.h"
#include "semantics/semantics.h"
#include "semantics/window.h"

namespace hone::op {

// The data, and the zero point of bytes.
static std::vector<Tensor> Inputs(const Workload& w, const std::vector<int64_t>& data) {
  std::vector<Tensor> inputs = {te::Placeholder("data", data, w.inputs[0].type)};
  if (w.inputs.size() > 1) inputs.push_back(te::Placeholder("data1", {1}, w.inputs[1].type));
  return inputs;
}

static Tensor ZeroOf(const std::vector<Tensor>& inputs) { return inputs.size() > 1 ? inputs[1] : Tensor(); }

static Result<FixedKernel> BuildPool(const Workload& w, const Target& target) {
  const int lanes = target.ChannelBlock();
  const Layout layout = semantics::InputLayout(w, 0);
  std::vector<int64_t> shape = semantics::StoredShape(w.inputs[0].shape, layout);
  if (layout == Layout::kBlocked) shape = BlockedShape(w.inputs[0].shape, lanes);
  if (layout == Layout::kChannelsLast && lanes > 1 && shape.back() % lanes == 0) {
    shape.back() /= lanes;  // so that the last axis is a vector
    shape.push_back(lanes);
  }
  const std::vector<Tensor> inputs = Inputs(w, shape);
  return FixedKernel{{inputs, {MakePoolStages(w, inputs[0], "", "out", ZeroOf(inputs)).out}}, {}};
}

// global_avg_pool, global_max_pool (f32[N,C,..]) -> [N,C,1,..], any rank from 3; blocked with four or five axes,
// or as `layout` says. A NaN makes its channel's maximum NaN.
static Result<FixedKernel> BuildGlobalPool(const Workload& w, const Target& target) {
  const std::vector<int64_t>& in = w.inputs[0].shape;
  const int lanes = target.ChannelBlock();
  const int64_t pixels = semantics::Product(in, 2, in.size());
  const Layout layout = semantics::InputLayout(w, 0);
  ReduceAxes axes{{in[0] * in[1], pixels}, {false, true}};
  if (layout == Layout::kChannelsLast) axes = {{in[0], pixels, in[1]}, {false, true, false}};
  if (layout == Layout::kBlocked) axes = {{in[0] * CeilDiv(in[1], lanes), pixels, lanes}, {false, true, false}};
  const std::vector<Tensor> inputs = Inputs(w, axes.extents);
  const Tensor &data = inputs[0], zero = ZeroOf(inputs);
  const bool bytes = !data.type().is_float();
  const auto whole = [](const Expr& e) { return ir::MakeCast(DType::Int(32), e); };
  const auto read = [&](const std::vector<Expr>& at) {
    return bytes && w.op == "global_avg_pool" ? whole(data(at)) : data(at);
  };
  if (w.op == "global_max_pool") return FixedKernel{{inputs, {ReduceOver("out", ir::Reducer::kMax, axes, read)}}, {}};
  const Tensor sum = ReduceOver("sum", ir::Reducer::kSum, axes, read);
  const auto count = static_cast<double>(pixels);
  const Tensor out = ElementWise("out", axes.Kept(), [&](const std::vector<Expr>& at) {
    if (!bytes) return sum(at) * Float(1 / count);
    const Expr zeros = zero.defined() ? whole(zero(Expr(0))) * ir::MakeInt(DType::Int(32), pixels) : Expr();
    return ByteAverage(zeros.defined() ? sum(at) - zeros : sum(at), Float(count), data.type(), zero);
  });
  return FixedKernel{{inputs, {out}}, {}};
}

std::vector<const Operator*> PoolOperators() {
  return {
      new SketchedOperator("max_pool2d", BuildPool),  // never destroyed
      new SketchedOperator("avg_pool2d", BuildPool),
      new SketchedOperator("max_pool3d", BuildPool),
      new SketchedOperator("avg_pool3d", BuildPool),
      new SketchedOperator("global_avg_pool", BuildGlobalPool),
      new SketchedOperator("global_max_pool", BuildGlobalPool),
  };
}

}  // namespace hone::op

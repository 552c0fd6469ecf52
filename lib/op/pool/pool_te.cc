#include "op/pool/pool_te.h"

#include <algorithm>
#include <utility>

#include "op/conv/conv2d_te.h"
#include "op/plain_te.h"
#include "semantics/semantics.h"
#include "semantics/window.h"

namespace hone::op {

using ir::Expr;
using ir::Var;

// One axis's part of an average's divisor. If taps have gaps between them, a window may lie entirely in the padding:
// its sum is 0 and must stay 0, so it is divided by 1.
static Expr Part(Expr start, int64_t taps, int64_t dilation, int64_t low, int64_t high) {
  Expr covered = Covered(std::move(start), taps, dilation, low, high);
  if (dilation > 1) covered = ir::Max(std::move(covered), 1);
  return ir::MakeCast(DType::Float(32), std::move(covered));
}

// Sums of bytes, less their zero point, fit into 16 bits if there are few.
static DType SumType(DType type, int64_t taps) {
  return type.is_float() ? type : DType::Int(255 * taps <= INT16_MAX ? 16 : 32);
}

// `value` of a blocked output at [n, co, .., ci], with zero in lanes beyond the channels. For a maximum whose window
// may see only padding: the value is -inf there in every lane, and a following convolution would multiply that by zero.
// For an average of bytes: padding is the zero point.
static Expr ZeroBeyondChannels(Expr value, const std::vector<Var>& at, int64_t channels, int64_t lanes) {
  if (channels % lanes == 0) return value;
  return ir::MakeSelect(at[1] * lanes + at.back() < channels, value, ir::Imm(value.type(), 0));
}

Expr ByteAverage(const Expr& sum, const Expr& count, DType type, const te::Tensor& zero) {
  Expr average = ir::MakeCast(DType::Float(32), sum) / count;
  average = ir::MakeCast(DType::Int(32), CallMath(ir::Intrinsic::kRound, average));
  return ir::MakeCast(type, zero.defined() ? average + ir::MakeCast(DType::Int(32), zero(Expr(0))) : average);
}

PoolStages MakePoolStages(const Workload& w, const te::Tensor& source, const std::string& prefix,
                          const std::string& name, const te::Tensor& zero) {
  const std::vector<int64_t>& in = w.inputs[0].shape;
  const semantics::Window win = *semantics::WindowOf(w);
  const size_t rank = win.rank(), last = rank - 1;
  const bool max = w.op.rfind("max", 0) == 0, include_pad = semantics::Whole(w, "count_include_pad", 0) != 0;
  const bool bytes = !source.type().is_float();
  const DType sum = SumType(source.type(), semantics::Product(win.kernel));
  const Layout layout = semantics::OutputLayout(w);
  const size_t first = layout == Layout::kChannelsLast ? 1 : 2;  // of the spatial axes
  std::vector<int64_t> shape = source.shape();
  std::copy(win.out.begin(), win.out.end(), shape.begin() + static_cast<ptrdiff_t>(first));
  std::vector<std::string> axes = {"n"};
  if (first == 2) axes.emplace_back("co");
  std::vector<ir::IterVar> taps;
  for (size_t i = 0; i < rank; ++i) {
    const std::string axis = std::string("dhw").substr(i + 3 - rank, 1);
    axes.push_back("o" + axis);
    taps.push_back(te::ReduceAxis(win.kernel[i], "k" + axis));
  }
  for (size_t behind = shape.size() - axes.size(); behind > 0; --behind) axes.emplace_back(behind == 1 ? "ci" : "co");
  PoolStages stages;
  stages.acc = te::Compute(prefix + "acc", shape, axes, [&](const std::vector<Var>& x) {
    Expr inside;
    std::vector<Expr> at(x.begin(), x.end());
    for (size_t i = 0; i < rank; ++i) {
      at[first + i] = x[first + i] * win.stride[i] + taps[i].var * win.dilation[i] - win.before[i];
      inside = BothOf(inside, WithinExtent(at[first + i], -win.before[i], win.reach(i) - 1 - win.before[i], win.in[i]));
    }
    Expr value = source(at);
    if (!max && bytes) {
      value = ir::MakeCast(sum, value);
      if (zero.defined()) value = value - ir::MakeCast(sum, zero(Expr(0)));
    }
    const ir::Reducer reducer = max ? ir::Reducer::kMax : ir::Reducer::kSum;
    if (inside.defined()) value = te::IfThenElse(inside, value, te::ReduceIdentity(reducer, value.type()));
    return te::ReduceOver(reducer, value, taps);
  });
  // An average's divisor: the product over the axes of the number of taps that lie in [low, high) of the padded input.
  std::vector<int64_t> low(rank), high(rank);
  bool alike = true;
  for (size_t i = 0; i < rank; ++i) {
    low[i] = include_pad ? 0 : win.before[i];
    high[i] = win.before[i] + win.in[i] + (include_pad ? win.after[i] : 0);
    alike = alike && low[i] == 0 && win.reach(i) <= high[i];
  }
  const Expr one = ir::Imm(DType::Float(32), 1);
  const auto share = [&](const Var& x, size_t i) {
    const Expr part = Part(x * win.stride[i], win.kernel[i], win.dilation[i], low[i], high[i]);
    return bytes ? part : one / part;
  };
  if (!max && !alike) {
    stages.columns = te::Compute(prefix + "columns", {win.out[last]}, {"ow"},
                                 [&](const std::vector<Var>& x) { return share(x[0], last); });
  }
  stages.out = te::Compute(name, shape, axes, [&](const std::vector<Var>& x) {
    Expr value = stages.acc(std::vector<Expr>(x.begin(), x.end()));
    const bool blocked = layout == Layout::kBlocked;
    const auto masked = [&](const Expr& e) { return ZeroBeyondChannels(e, x, in[1], shape.back()); };
    if (max) return blocked && win.MaySeePaddingAlone() ? masked(value) : value;
    const auto taps = static_cast<double>(semantics::Product(win.kernel));
    Expr part = alike ? ir::Imm(DType::Float(32), bytes ? taps : 1 / taps) : stages.columns(x[first + last]);
    for (size_t i = last; !alike && i-- > 0;) part = part * share(x[first + i], i);
    if (!bytes) return value * part;
    value = ByteAverage(value, part, source.type(), zero);
    return blocked && zero.defined() ? masked(value) : value;  // windows with padding
  });
  return stages;
}

}  // namespace hone::op

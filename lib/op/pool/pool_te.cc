#include "op/pool/pool_te.h"

#include <utility>
#include <vector>

#include "op/conv/conv2d_te.h"
#include "op/index_te.h"
#include "op/pool/pool_shape.h"

namespace hone::op {
namespace {

using ir::Expr;
using ir::Var;

// One axis' share of what an average is multiplied by. Where taps have gaps between them a window may lie in the
// padding alone: its sum is 0 and shall stay that, so it is divided by 1.
Expr Share(Expr start, int64_t taps, int64_t dilation, int64_t low, int64_t high) {
  Expr covered = Covered(std::move(start), taps, dilation, low, high);
  if (dilation > 1) covered = ir::Max(std::move(covered), 1);
  return ir::Imm(DType::Float(32), 1) / ir::MakeCast(DType::Float(32), std::move(covered));
}

}  // namespace

PoolStages MakePoolStages(const Workload& w, const te::Tensor& source, const std::string& prefix,
                          const std::string& name) {
  const PoolShape s = PoolShape::Of(w);
  const bool max = w.op == "max_pool2d";
  const std::vector<int64_t> shape = {s.n, source.shape()[1], s.oh, s.ow, source.shape()[4]};
  const std::vector<std::string> axes = {"n", "co", "oh", "ow", "ci"};
  ir::IterVar kh = te::ReduceAxis(s.kh, "kh"), kw = te::ReduceAxis(s.kw, "kw");
  PoolStages stages;
  stages.acc = te::Compute(prefix + "acc", shape, axes, [&](const std::vector<Var>& x) {
    Expr y = x[2] * s.sh + kh.var * s.dh - s.pt, column = x[3] * s.sw + kw.var * s.dw - s.pl;
    Expr inside =
        BothOf(WithinExtent(y, -s.pt, s.ph() - 1 - s.pt, s.h), WithinExtent(column, -s.pl, s.pw() - 1 - s.pl, s.w));
    Expr value = source(x[0], x[1], y, column, x[4]);
    ir::Reducer reducer = max ? ir::Reducer::kMax : ir::Reducer::kSum;
    if (inside.defined()) value = te::IfThenElse(inside, value, te::ReduceIdentity(reducer, DType::Float(32)));
    return max ? te::MaxOver(value, {kh, kw}) : te::Sum(value, {kh, kw});
  });
  // What an average divides by: a number of rows times a number of columns, in the padded input.
  int64_t t = s.include_pad ? 0 : s.pt, l = s.include_pad ? 0 : s.pl;
  int64_t b = s.pt + s.h + (s.include_pad ? s.pb : 0), r = s.pl + s.w + (s.include_pad ? s.pr : 0);
  const bool alike = t == 0 && l == 0 && s.ph() <= b && s.pw() <= r;
  if (!max && !alike) {
    stages.columns = te::Compute(prefix + "columns", {s.ow}, {"ow"}, [&](const std::vector<Var>& x) {
      return Share(x[0] * s.sw, s.kw, s.dw, l, r);
    });
  }
  stages.out = te::Compute(name, shape, axes, [&](const std::vector<Var>& x) {
    Expr value = stages.acc(std::vector<Expr>(x.begin(), x.end()));
    if (max) return s.padding_alone ? ZeroBeyondChannels(value, x, s.c, shape[4]) : value;
    if (alike) return value * ir::Imm(DType::Float(32), 1.0 / static_cast<double>(s.kh * s.kw));
    return value * (stages.columns(x[3]) * Share(x[2] * s.sh, s.kh, s.dh, t, b));
  });
  return stages;
}

Expr ZeroBeyondChannels(Expr value, const std::vector<Var>& at, int64_t channels, int64_t lanes) {
  if (channels % lanes == 0) return value;
  return ir::MakeSelect(at[1] * lanes + at.back() < channels, std::move(value), ir::Imm(DType::Float(32), 0));
}

}  // namespace hone::op

#include "op/concat.h"

#include "op/plain_schedule.h"
#include "op/shapes.h"
#include "semantics/attributes.h"

namespace hone::op {

using ir::Expr;
using ir::Var;
using te::Tensor;

Result<FixedKernel> BuildBlockedConcat(const Workload& w, const Target& target) {
  int lanes = target.ChannelBlock();
  const std::vector<int64_t>& s = w.inputs[0].shape;
  int64_t pixels = semantics::Product(s, 2, s.size()), channels = 0;
  bool whole_blocks = true;
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < w.inputs.size(); ++i) {
    if (channels % lanes != 0) whole_blocks = false;
    int64_t c = w.inputs[i].shape[1];
    channels += c;
    inputs.push_back(
        te::Placeholder(i == 0 ? "data" : "data" + std::to_string(i), {s[0], CeilDiv(c, lanes), pixels, lanes}));
  }
  Expr zero = ir::Imm(DType::Float(32), 0);
  auto body = [&](const std::vector<Var>& x) {
    Expr value = zero;
    int64_t end = channels;
    for (size_t i = inputs.size(); i-- > 0;) {
      int64_t c = w.inputs[i].shape[1], begin = end - c;
      if (whole_blocks) {
        Expr part = inputs[i](x[0], x[1] - begin / lanes, x[2], x[3]);
        value = i + 1 == inputs.size() ? part : te::IfThenElse(x[1] < CeilDiv(end, lanes), part, value);
      } else {
        // Lanes come from different parts: read every part at an index inside its bounds, and select.
        Expr channel = x[1] * lanes + x[3];
        Expr local = ir::Min(ir::Max(channel - begin, 0), c - 1);
        value = ir::MakeSelect(channel < end, inputs[i](x[0], local / lanes, x[2], local % lanes), value);
      }
      end = begin;
    }
    return value;
  };
  Tensor out = te::Compute("out", {s[0], CeilDiv(channels, lanes), pixels, lanes}, {"n", "co", "x", "ci"}, body);
  return FixedKernel{{inputs, {out}}, SpreadOut(s[0] * CeilDiv(channels, lanes), "x", pixels, target.threads)};
}

}  // namespace hone::op

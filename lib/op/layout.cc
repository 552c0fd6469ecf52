#include "op/layout.h"

#include "op/plain_te.h"
#include "op/shapes.h"
#include "semantics/attributes.h"
#include "semantics/semantics.h"

namespace hone::op {

static Result<FixedKernel> BuildBlock(const Workload& w, const Target& target) {
  const std::vector<int64_t>& s = w.inputs[0].shape;
  int lanes = target.ChannelBlock();
  int64_t pixels = semantics::Product(s, 2, s.size()), blocks = CeilDiv(s[1], lanes);
  Tensor data = te::Placeholder("data", {s[0], s[1], pixels});
  Tensor out = te::Compute("out", {s[0], blocks, pixels, lanes}, {"n", "co", "x", "ci"}, [&](const Vars& x) {
    Expr c = x[1] * lanes + x[3];
    if (s[1] % lanes == 0) return data(x[0], c, x[2]);
    return ir::MakeSelect(c < s[1], data(x[0], ir::Min(c, s[1] - 1), x[2]), ir::Imm(DType::Float(32), 0));
  });
  return FixedKernel{{{data}, {out}}, {}};
}

// Blocked [n, c, ..] to plain: a single pixel is copied, several are gathered along them.
static Result<FixedKernel> BuildUnblock(const Workload& w, const Target& target) {
  const std::vector<int64_t>& s = w.inputs[0].shape;
  const int block = target.ChannelBlock();
  const bool blocked = semantics::CanBeBlocked(w.inputs[0]);
  const int64_t pixels = semantics::Product(s, 2, s.size()), blocks = CeilDiv(s[1], block);
  Tensor data, out;
  if (!blocked) {
    data = te::Placeholder("data", {w.inputs[0].Elements()});
    out = te::Compute("out", {w.inputs[0].Elements()}, {"x"}, [&](const Vars& x) { return data(x[0]); });
  } else if (pixels == 1) {
    data = te::Placeholder("data", {s[0], blocks * block});
    out = te::Compute("out", {s[0], s[1]}, {"n", "x"}, [&](const Vars& x) { return data(x[0], x[1]); });
  } else {
    data = te::Placeholder("data", {s[0], blocks, pixels, block});
    out = te::Compute("out", {s[0], s[1], pixels}, {"n", "c", "x"},
                      [&](const Vars& x) { return data(x[0], x[1] / block, x[2], x[1] % block); });
  }
  return FixedKernel{{{data}, {out}}, {}};
}

static Result<FixedKernel> BuildPad2d(const Workload& w, const Target& target) {
  const std::vector<int64_t>& s = w.inputs[0].shape;
  std::vector<int64_t> p = semantics::Expanded(w, "pad", 4, 0);
  int lanes = target.ChannelBlock();
  int64_t blocks = CeilDiv(s[1], lanes), h = s[2], width = s[3];
  Tensor data = te::Placeholder("data", {s[0], blocks, h, width, lanes});
  Tensor out =
      te::Compute("out", {s[0], blocks, h + p[0] + p[2], width + p[1] + p[3], lanes}, {"n", "co", "y", "x", "ci"},
                  [&](const Vars& x) {
                    Expr row = x[2] - p[0], column = x[3] - p[1];
                    Expr inside = row >= 0 && row < h && (column >= 0 && column < width);
                    return te::IfThenElse(inside, data(x[0], x[1], row, column, x[4]), ir::Imm(DType::Float(32), 0));
                  });
  return FixedKernel{{{data}, {out}}, {}};
}

std::vector<const Operator*> LayoutOperators() {
  static const SketchedOperator flatten("flatten", BuildUnblock), block("block", BuildBlock);
  static const SketchedOperator unblock("unblock", BuildUnblock), pad2d("pad2d", BuildPad2d);
  return {&flatten, &block, &unblock, &pad2d};
}

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
  auto body = [&](const Vars& x) {
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
  return FixedKernel{{inputs, {out}}, {}};
}

}  // namespace hone::op

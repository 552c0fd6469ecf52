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
  Tensor data = te::Placeholder("data", {s[0], s[1], pixels}, w.inputs[0].type);
  Tensor out = te::Compute("out", {s[0], blocks, pixels, lanes}, {"n", "co", "x", "ci"}, [&](const Vars& x) {
    Expr c = x[1] * lanes + x[3];
    if (s[1] % lanes == 0) return data(x[0], c, x[2]);
    return ir::MakeSelect(c < s[1], data(x[0], ir::Min(c, s[1] - 1), x[2]), ir::Imm(w.inputs[0].type, 0));
  });
  return FixedKernel{{{data}, {out}}, {}};
}

// [n, rows, columns] of a plain or channels-last tensor as [n, columns, rows].
static FixedKernel Transposed(DType type, int64_t images, int64_t rows, int64_t columns) {
  if (rows == 1 || columns == 1) {
    const Tensor data = te::Placeholder("data", {images * rows * columns}, type);
    return {{{data}, {te::Compute("out", data.shape(), {"x"}, [&](const Vars& x) { return data(x[0]); })}}, {}};
  }
  const Tensor data = te::Placeholder("data", {images, rows, columns}, type);
  return {{{data},
           {te::Compute("out", {images, columns, rows}, {"n", "c", "x"},
                        [&](const Vars& x) { return data(x[0], x[2], x[1]); })}},
          {}};
}

static Result<FixedKernel> BuildChannelsLast(const Workload& w, const Target&) {
  const std::vector<int64_t>& s = w.inputs[0].shape;
  return Transposed(w.inputs[0].type, s[0], s[1], semantics::Product(s, 2, s.size()));
}

// [n, c, ..] in any layout to plain. Of blocks, a single pixel is copied, several are gathered along them.
static Result<FixedKernel> BuildPlain(const Workload& w, const Target& target) {
  const std::vector<int64_t>& s = w.inputs[0].shape;
  const int block = target.ChannelBlock();
  const Layout layout = semantics::InputLayout(w, 0);
  const int64_t pixels = semantics::Product(s, 2, s.size()), blocks = CeilDiv(s[1], block);
  if (layout == Layout::kPlain) return Transposed(w.inputs[0].type, 1, 1, w.inputs[0].Elements());
  if (layout == Layout::kChannelsLast) return Transposed(w.inputs[0].type, s[0], pixels, s[1]);
  Tensor data, out;
  if (pixels == 1) {
    data = te::Placeholder("data", {s[0], blocks * block}, w.inputs[0].type);
    out = te::Compute("out", {s[0], s[1]}, {"n", "x"}, [&](const Vars& x) { return data(x[0], x[1]); });
  } else {
    data = te::Placeholder("data", {s[0], blocks, pixels, block}, w.inputs[0].type);
    out = te::Compute("out", {s[0], s[1], pixels}, {"n", "c", "x"},
                      [&](const Vars& x) { return data(x[0], x[1] / block, x[2], x[1] % block); });
  }
  return FixedKernel{{{data}, {out}}, {}};
}

static Result<FixedKernel> BuildPad2d(const Workload& w, const Target& target) {
  const Layout layout = semantics::InputLayout(w, 0);
  const std::vector<int64_t> p = semantics::Expanded(w, "pad", 4, 0);
  const size_t first = layout == Layout::kChannelsLast ? 1 : 2;  // of the spatial axes
  std::vector<int64_t> in = semantics::StoredShape(w.inputs[0].shape, layout);
  if (layout == Layout::kBlocked) in = BlockedShape(w.inputs[0].shape, target.ChannelBlock());
  std::vector<int64_t> shape = in;
  for (size_t i = 0; i < 2; ++i) shape[first + i] += p[i] + p[i + 2];
  const Tensor data = te::Placeholder("data", in, w.inputs[0].type);
  const Tensor out = ElementWise("out", shape, [&](const std::vector<Expr>& x) {
    std::vector<Expr> at = x;
    Expr inside;
    for (size_t i = 0; i < 2; ++i) {
      at[first + i] = x[first + i] - p[i];
      const Expr within = at[first + i] >= 0 && at[first + i] < in[first + i];
      inside = inside.defined() ? inside && within : within;
    }
    return te::IfThenElse(inside, data(at), ir::Imm(w.inputs[0].type, 0));
  });
  return FixedKernel{{{data}, {out}}, {}};
}

std::vector<const Operator*> LayoutOperators() {
  static const SketchedOperator flatten("flatten", BuildPlain), block("block", BuildBlock);
  static const SketchedOperator unblock("unblock", BuildPlain), pad2d("pad2d", BuildPad2d);
  static const SketchedOperator last("channels_last", BuildChannelsLast), first("channels_first", BuildPlain);
  return {&flatten, &block, &unblock, &last, &first, &pad2d};
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
    inputs.push_back(te::Placeholder(i == 0 ? "data" : "data" + std::to_string(i),
                                     {s[0], CeilDiv(c, lanes), pixels, lanes}, w.inputs[i].type));
  }
  Expr zero = ir::Imm(w.inputs[0].type, 0);
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

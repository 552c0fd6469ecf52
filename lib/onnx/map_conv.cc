// Conv and ConvTranspose. One spatial axis runs as two, the first of extent 1.
#include <fmt/format.h>

#include "onnx/arith.h"
#include "onnx/mappers.h"
#include "onnx/moves.h"
#include "onnx/window.h"

namespace hone::onnx {
namespace {

// The operands with at least two spatial axes, and the attributes that both operators share.
struct Convolution {
  Value data, weight;
  Window window;
  std::string dimensions;  // "2d", "3d"
  int64_t groups = 1;
  bool widened = false;
};

Result<Convolution> Read(NodeContext* c) {
  Convolution conv{c->In(0), c->In(1), {}, "", c->Int("group", 1)};
  const Shape& x = conv.data.shape;
  if (x.size() < 3 || conv.weight.shape.size() != x.size()) {
    return Status::Invalid(
        fmt::format("its input {} and weight {} do not fit each other", ShapeText(x), ShapeText(conv.weight.shape)));
  }
  if (!conv.weight.is_constant()) {
    return Status::Unsupported("its weight `" + c->node().inputs[1] +
                               "` is computed when the network runs; it must be constant");
  }
  if (conv.groups < 1 || conv.groups > (1 << 20)) {
    return Status::Invalid(fmt::format("its group is out of range: {}", conv.groups));
  }
  const Shape kernel(conv.weight.shape.begin() + 2, conv.weight.shape.end());
  if (c->HasAttribute("kernel_shape") && c->IntList("kernel_shape", kernel) != kernel) {
    return Status::Invalid("its kernel_shape is not that of its weight " + ShapeText(conv.weight.shape));
  }
  HONE_ASSIGN_OR_RETURN(conv.dimensions, Dimensions(kernel.size()));
  HONE_ASSIGN_OR_RETURN(conv.window, ReadWindow(c, x, kernel));
  return conv;
}

Status Widen(NodeContext* c, Convolution* conv) {
  if (conv->data.shape.size() != 3) return Status();
  conv->widened = true;
  HONE_ASSIGN_OR_RETURN(conv->data, Reshape(c, conv->data, WidenedShape(conv->data.shape)));
  HONE_ASSIGN_OR_RETURN(conv->weight, Reshape(c, conv->weight, WidenedShape(conv->weight.shape)));
  conv->window = Widened(conv->window);
  return Status();
}

// [a, b, 1, n] -> [a, b, n], if it was widened.
Status Finish(NodeContext* c, const Convolution& conv, const Value& out) {
  if (!conv.widened) return c->Set(0, out);
  return c->Set(Reshape(c, out, {out.shape[0], out.shape[1], out.shape[3]}));
}

// + bias[channel], where it is no constant vector that an epilogue takes.
Result<Value> AddBias(NodeContext* c, const Value& x, const Value& bias) {
  Shape shape(x.shape.size() - 1, 1);
  if (bias.shape != Shape{x.shape[1]}) {
    return Status::Invalid(fmt::format("its bias must be [{}], is {}", x.shape[1], ShapeText(bias.shape)));
  }
  shape[0] = x.shape[1];
  HONE_ASSIGN_OR_RETURN(const Value wide, Reshape(c, bias, shape));
  return Binary(c, "add", x, wide);
}

}  // namespace

Status MapConv(NodeContext* c) {
  HONE_ASSIGN_OR_RETURN(Convolution conv, Read(c));
  HONE_RETURN_IF_ERROR(Widen(c, &conv));
  std::vector<Attribute> attributes = WindowAttributes(conv.window);
  if (conv.groups != 1) attributes.push_back(Numbers("groups", {conv.groups}));
  std::vector<Value> operands = {conv.data, conv.weight};
  std::vector<EpilogueOp> epilogue;
  const bool fused = c->Has(2) && c->In(2).is_constant() && c->ShapeOf(2) == Shape{conv.weight.shape[0]};
  if (fused) {
    operands.push_back(c->In(2));
    epilogue.push_back({EpilogueKind::kBias});
  }
  HONE_ASSIGN_OR_RETURN(Value out, c->Emit("conv" + conv.dimensions, operands, attributes, epilogue));
  if (c->Has(2) && !fused) {
    HONE_ASSIGN_OR_RETURN(out, AddBias(c, out, c->In(2)));
  }
  return Finish(c, conv, out);
}

Status MapConvTranspose(NodeContext* c) {
  HONE_ASSIGN_OR_RETURN(Convolution conv, Read(c));
  Window& w = conv.window;
  const size_t axes = w.kernel.size();
  Shape further = c->IntList("output_padding", Shape(axes, 0));
  const std::string mode = c->String("auto_pad", "NOTSET");
  if (further.size() != axes) return Status::Invalid("its output_padding has a wrong number of values");
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (c->HasAttribute("output_shape") || same) {
    // The extents are given, and the padding follows from them.
    Shape wanted = c->IntList("output_shape", {});
    if (wanted.size() == axes + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
    for (size_t i = 0; wanted.size() < axes && same; ++i) wanted.push_back(conv.data.shape[i + 2] * w.stride[i]);
    if (wanted.size() != axes) return Status::Invalid("its output_shape has a wrong number of values");
    for (size_t i = 0; i < axes; ++i) {
      const int64_t extent = conv.data.shape[i + 2];
      const int64_t full = (extent - 1) * w.stride[i] + (w.kernel[i] - 1) * w.dilation[i] + 1 + further[i];
      const int64_t total = std::max<int64_t>(full - wanted[i], 0);
      if (wanted[i] > full) further[i] += wanted[i] - full;
      w.low[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      w.high[i] = total - w.low[i];
    }
  }
  HONE_RETURN_IF_ERROR(Widen(c, &conv));
  if (conv.widened) further = {0, further[0]};
  std::vector<Attribute> attributes = WindowAttributes(w);
  if (conv.groups != 1) attributes.push_back(Numbers("groups", {conv.groups}));
  if (further != Shape(further.size(), 0)) attributes.push_back(Numbers("output_pad", further, 'x'));
  HONE_ASSIGN_OR_RETURN(Value out, c->Emit("conv_transpose" + conv.dimensions, {conv.data, conv.weight}, attributes));
  if (c->Has(2)) {
    HONE_ASSIGN_OR_RETURN(out, AddBias(c, out, c->In(2)));
  }
  return Finish(c, conv, out);
}

}  // namespace hone::onnx

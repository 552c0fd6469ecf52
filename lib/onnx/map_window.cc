// Conv, ConvTranspose and pooling. One spatial axis is treated as two, the first of extent 1.
#include <algorithm>

#include "onnx/convolution.h"
#include "onnx/operators.h"
#include "onnx/values.h"

namespace hone::onnx {
namespace {

constexpr int64_t kMost = 1 << 20;

Status CheckList(const char* name, const Shape& values, size_t count, int64_t least) {
  if (values.size() != count) {
    return Status::Invalid("its {} must be {} numbers, has {}", name, count, values.size());
  }
  for (int64_t v : values) {
    if (v < least || v > kMost) return Status::Invalid("its {} are out of range: {}", name, v);
  }
  return Status();
}

// Padding that makes an axis `total` longer.
void SetSame(const std::string& mode, size_t axis, int64_t total, Window* w) {
  w->low[axis] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
  w->high[axis] = total - w->low[axis];
}

// Reads strides, dilations, pads and auto_pad of the node, for a tensor of this shape and a window of this kernel.
Result<Window> ReadWindow(NodeContext* c, const Shape& x, const Shape& kernel) {
  const size_t axes = kernel.size();
  Window w;
  w.kernel = kernel;
  w.stride = c->IntList("strides", Shape(axes, 1));
  w.dilation = c->IntList("dilations", Shape(axes, 1));
  const Shape pads = c->IntList("pads", Shape(2 * axes, 0));
  const std::string mode = c->String("auto_pad", "NOTSET");
  HONE_RETURN_IF_ERROR(CheckList("kernel_shape", kernel, x.size() - 2, 1));
  HONE_RETURN_IF_ERROR(CheckList("strides", w.stride, axes, 1));
  HONE_RETURN_IF_ERROR(CheckList("dilations", w.dilation, axes, 1));
  HONE_RETURN_IF_ERROR(CheckList("pads", pads, 2 * axes, 0));
  w.low.assign(axes, 0), w.high.assign(axes, 0);
  if (mode == "NOTSET" || mode.empty()) {
    std::copy_n(pads.begin(), axes, w.low.begin());
    std::copy_n(pads.begin() + static_cast<ptrdiff_t>(axes), axes, w.high.begin());
  } else if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    for (size_t i = 0; i < axes; ++i) {
      const int64_t extent = x[i + 2], out = (extent + w.stride[i] - 1) / w.stride[i];
      const int64_t total = (out - 1) * w.stride[i] + (kernel[i] - 1) * w.dilation[i] + 1 - extent;
      SetSame(mode, i, std::max<int64_t>(total, 0), &w);
    }
  } else if (mode != "VALID") {
    return Status::Invalid("its auto_pad `" + mode + "` is not one of NOTSET, SAME_UPPER, SAME_LOWER, VALID");
  }
  return w;
}

// A leading axis of extent 1: what has one spatial axis runs as if it had two.
Window Widened(const Window& window) {
  Window w = window;
  w.kernel.insert(w.kernel.begin(), 1);
  w.stride.insert(w.stride.begin(), 1);
  w.dilation.insert(w.dilation.begin(), 1);
  w.low.insert(w.low.begin(), 0);
  w.high.insert(w.high.begin(), 0);
  return w;
}

// [a, b, n] -> [a, b, 1, n]. Other tensors stay.
Result<Value> Widened(NodeContext* c, const Value& x) {
  return x.shape.size() == 3 ? Reshape(c, x, {x.shape[0], x.shape[1], 1, x.shape[2]}) : x;
}

// stride, dilation and pad as workloads have them; defaults are left out.
std::vector<Attribute> WindowAttributes(const Window& w) {
  std::vector<Attribute> attributes;
  const Shape ones(w.stride.size(), 1);
  if (w.stride != ones) attributes.push_back(Numbers("stride", w.stride, 'x'));
  Shape pads = w.low;
  pads.insert(pads.end(), w.high.begin(), w.high.end());
  if (pads != Shape(pads.size(), 0)) attributes.push_back(Numbers("pad", pads));
  if (w.dilation != ones) attributes.push_back(Numbers("dilation", w.dilation, 'x'));
  return attributes;
}

// "2d" or "3d": what an operator's name ends in for this many spatial axes. kUnsupported for others.
Result<std::string> Dimensions(size_t axes) {
  if (axes == 1 || axes == 2) return std::string("2d");
  if (axes == 3) return std::string("3d");
  return Status::Unsupported("over {} spatial axes it is not supported: 1 to 3", axes);
}

// + bias[channel], where it is no constant vector that an epilogue takes.
Result<Value> AddBias(NodeContext* c, const Value& x, const Value& bias) {
  Shape shape(x.shape.size() - 1, 1);
  if (bias.shape != Shape{x.shape[1]}) {
    return Status::Invalid("its bias must be [{}], is {}", x.shape[1], ShapeText(bias.shape));
  }
  shape[0] = x.shape[1];
  HONE_ASSIGN_OR_RETURN(const Value wide, Reshape(c, bias, shape));
  return Binary(c, "add", x, wide);
}

// Emits the convolution and its bias.
Status Finish(NodeContext* c, const std::string& op, const Convolution& conv, const std::vector<Attribute>& attributes,
              int64_t channels) {
  std::vector<Value> operands = {conv.data, conv.weight};
  std::vector<EpilogueOp> epilogue;
  const bool fused = c->Has(2) && c->In(2).is_constant() && c->ShapeOf(2) == Shape{channels};
  if (fused) {
    operands.push_back(c->In(2));
    epilogue.push_back({EpilogueKind::kBias});
  }
  HONE_ASSIGN_OR_RETURN(Value out, c->Emit(op + conv.dimensions, operands, attributes, epilogue));
  if (c->Has(2) && !fused) {
    HONE_ASSIGN_OR_RETURN(out, AddBias(c, out, c->In(2)));
  }
  return c->Set(Narrowed(c, out, conv.widened));
}

// |x|^p, and back.
Result<Value> Powers(NodeContext* c, const Value& x, int64_t p) {
  if (p == 2) return Binary(c, "mul", x, x);
  HONE_ASSIGN_OR_RETURN(const Value size, Unary(c, "abs", x));
  return p == 1 ? Result<Value>(size) : Binary(c, "pow", size, Scalar(static_cast<double>(p)));
}
Result<Value> Roots(NodeContext* c, const Value& x, int64_t p) {
  if (p == 1) return x;
  return p == 2 ? Unary(c, "sqrt", x) : Binary(c, "pow", x, Scalar(1 / static_cast<double>(p)));
}

Status MapConv(NodeContext* c) {
  HONE_ASSIGN_OR_RETURN(Convolution conv, ReadConvolution(c, 1));
  HONE_RETURN_IF_ERROR(Widen(c, &conv));
  return Finish(c, "conv", conv, ConvolutionAttributes(conv), conv.weight.shape[0]);
}

Status MapConvTranspose(NodeContext* c) {
  HONE_ASSIGN_OR_RETURN(Convolution conv, ReadConvolution(c, 1));
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
      if (wanted[i] > full) further[i] += wanted[i] - full;
      SetSame(mode, i, std::max<int64_t>(full - wanted[i], 0), &w);
    }
  }
  HONE_RETURN_IF_ERROR(Widen(c, &conv));
  if (conv.widened) further = {0, further[0]};
  std::vector<Attribute> attributes = ConvolutionAttributes(conv);
  if (further != Shape(further.size(), 0)) attributes.push_back(Numbers("output_pad", further, 'x'));
  return Finish(c, "conv_transpose", conv, attributes, conv.weight.shape[1] * conv.groups);
}

Status MapPool(NodeContext* c) {
  const bool average = c->node().op == "AveragePool";
  return c->Set(Pool(c, c->In(0), average, c->Int("count_include_pad", 0) != 0));
}

// A sum is the average of all of a window, with its padding, times their number.
Status MapLpPool(NodeContext* c) {
  const int64_t p = c->Int("p", 2);
  if (p < 1) return Status::Invalid("its p is {}, must be at least 1", p);
  if (c->Int("ceil_mode", 0) != 0) return Status::Unsupported("its ceil_mode is not supported");
  double elements = 1;
  for (int64_t extent : c->IntList("kernel_shape", {})) elements *= static_cast<double>(extent);
  HONE_ASSIGN_OR_RETURN(const Value powers, Powers(c, c->In(0), p));
  HONE_ASSIGN_OR_RETURN(const Value means, Pool(c, powers, true, true));
  HONE_ASSIGN_OR_RETURN(const Value sums, Binary(c, "mul", means, Scalar(elements)));
  return c->Set(Roots(c, sums, p));
}

Status MapGlobalPool(NodeContext* c) { return c->Set(c->Emit(GraphOperator(*c), {c->In(0)})); }

}  // namespace

Result<Value> Narrowed(NodeContext* c, const Value& x, bool widened) {
  return widened ? Reshape(c, x, {x.shape[0], x.shape[1], x.shape[3]}) : x;
}

Result<Convolution> ReadConvolution(NodeContext* c, size_t weight) {
  Convolution conv{c->In(0), c->In(weight), {}, "", c->Int("group", 1)};
  const Shape& x = conv.data.shape;
  if (x.size() < 3 || conv.weight.shape.size() != x.size()) {
    return Status::Invalid("its input {} and weight {} do not fit each other", ShapeText(x),
                           ShapeText(conv.weight.shape));
  }
  if (!conv.weight.is_constant()) {
    return Status::Unsupported("its weight `" + c->node().inputs[weight] +
                               "` is computed when the network runs; it must be constant");
  }
  if (conv.groups < 1 || conv.groups > (1 << 20)) {
    return Status::Invalid("its group is out of range: {}", conv.groups);
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
  HONE_ASSIGN_OR_RETURN(conv->data, Widened(c, conv->data));
  HONE_ASSIGN_OR_RETURN(conv->weight, Widened(c, conv->weight));
  conv->window = Widened(conv->window);
  return Status();
}

std::vector<Attribute> ConvolutionAttributes(const Convolution& conv) {
  std::vector<Attribute> attributes = WindowAttributes(conv.window);
  if (conv.groups != 1) attributes.push_back(Numbers("groups", {conv.groups}));
  return attributes;
}

Result<Value> Pool(NodeContext* c, const Value& x, bool average, bool include_pad) {
  const Shape kernel = c->IntList("kernel_shape", {});
  if (x.shape.size() < 3 || kernel.size() != x.shape.size() - 2) {
    return Status::Invalid("its kernel_shape {} does not fit its input {}", ShapeText(kernel), ShapeText(x.shape));
  }
  HONE_ASSIGN_OR_RETURN(const std::string dimensions, Dimensions(kernel.size()));
  HONE_ASSIGN_OR_RETURN(Window window, ReadWindow(c, x.shape, kernel));
  // auto_pad gives the final size, regardless of rounding.
  const std::string mode = c->String("auto_pad", "NOTSET");
  const bool ceil = c->Int("ceil_mode", 0) != 0 && mode != "SAME_UPPER" && mode != "SAME_LOWER";
  const bool widened = kernel.size() == 1;
  HONE_ASSIGN_OR_RETURN(const Value data, Widened(c, x));
  if (widened) window = Widened(window);
  std::vector<Attribute> attributes = {Numbers("kernel", window.kernel, 'x')};
  for (Attribute& attribute : WindowAttributes(window)) attributes.push_back(std::move(attribute));
  if (ceil) attributes.push_back(Numbers("ceil_mode", {1}));
  if (average && include_pad) attributes.push_back(Numbers("count_include_pad", {1}));
  HONE_ASSIGN_OR_RETURN(const Value out, c->Emit((average ? "avg_pool" : "max_pool") + dimensions, {data}, attributes));
  return Narrowed(c, out, widened);
}

std::vector<OperatorEntry> WindowOperators() {
  return {
      {"AveragePool MaxPool", MapPool, 1, 1, 7},
      {"Conv", MapConv, 2, 3, 7},
      {"ConvTranspose", MapConvTranspose, 2, 3, 7},
      {"GlobalAveragePool", MapGlobalPool, 1, 1, 7, "global_avg_pool"},
      {"GlobalMaxPool", MapGlobalPool, 1, 1, 7, "global_max_pool"},
      {"LpPool", MapLpPool, 1, 1, 7},
  };
}

}  // namespace hone::onnx

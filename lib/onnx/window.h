// The window of a convolution or pooling, however its node says it.
#pragma once

#include "onnx/context.h"

namespace hone::onnx {

// One entry a spatial axis, counted from the first behind the channels.
struct Window {
  Shape kernel, stride, dilation, low, high;
};

// Attributes strides, dilations, pads, auto_pad of the node, for a tensor of this shape and a window of this kernel.
Result<Window> ReadWindow(NodeContext* c, const Shape& x, const Shape& kernel);

// A leading axis of extent 1: what has one spatial axis runs as if it had two.
Window Widened(const Window& window);
Shape WidenedShape(const Shape& shape);  // [a, b, n] -> [a, b, 1, n]

// stride, dilation and pad as workloads have them; defaults are left out.
std::vector<Attribute> WindowAttributes(const Window& window);

// "2d" or "3d": what an operator's name ends in for this many spatial axes. kUnsupported for others.
Result<std::string> Dimensions(size_t axes);

}  // namespace hone::onnx

// Reads the windows of a node, for convolutions and pools of floats and of quantised values (map_window.cc).
#pragma once

#include <string>
#include <vector>

#include "onnx/context.h"

namespace hone::onnx {

// The window of a convolution or pooling: one entry per spatial axis, from the first one after the channels.
struct Window {
  Shape kernel, stride, dilation, low, high;
};

struct Convolution {
  Value data, weight;
  Window window;
  std::string dimensions;  // "2d", "3d"
  int64_t groups = 1;
  bool widened = false;
};

// The data is input 0. Returns kInvalid or kUnsupported if the operands or attributes do not fit each other.
Result<Convolution> ReadConvolution(NodeContext* c, size_t weight);
// One spatial axis becomes two, the first of extent 1: then conv->widened is set.
Status Widen(NodeContext* c, Convolution* conv);
// [a, b, 1, n] -> [a, b, n] if `widened`; else x.
Result<Value> Narrowed(NodeContext* c, const Value& x, bool widened);
// The window's attributes and the groups, as workloads have them; defaults are left out.
std::vector<Attribute> ConvolutionAttributes(const Convolution& conv);

// A pool with the node's windows over x, which has the shape of its input. `include_pad`: averages count padding.
Result<Value> Pool(NodeContext* c, const Value& x, bool average, bool include_pad);

}  // namespace hone::onnx

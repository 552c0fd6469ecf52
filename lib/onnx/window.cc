#include "onnx/window.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone::onnx {
namespace {

constexpr int64_t kMost = 1 << 20;

Status CheckList(const char* name, const Shape& values, size_t count, int64_t least) {
  if (values.size() != count) {
    return Status::Invalid(fmt::format("its {} must be {} numbers, has {}", name, count, values.size()));
  }
  for (int64_t v : values) {
    if (v < least || v > kMost) return Status::Invalid(fmt::format("its {} are out of range: {}", name, v));
  }
  return Status();
}

}  // namespace

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
      const int64_t total =
          std::max<int64_t>((out - 1) * w.stride[i] + (kernel[i] - 1) * w.dilation[i] + 1 - extent, 0);
      w.low[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      w.high[i] = total - w.low[i];
    }
  } else if (mode != "VALID") {
    return Status::Invalid("its auto_pad `" + mode + "` is not one of NOTSET, SAME_UPPER, SAME_LOWER, VALID");
  }
  return w;
}

Window Widened(const Window& window) {
  Window w = window;
  w.kernel.insert(w.kernel.begin(), 1);
  w.stride.insert(w.stride.begin(), 1);
  w.dilation.insert(w.dilation.begin(), 1);
  w.low.insert(w.low.begin(), 0);
  w.high.insert(w.high.begin(), 0);
  return w;
}

Shape WidenedShape(const Shape& shape) { return {shape[0], shape[1], 1, shape[2]}; }

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

Result<std::string> Dimensions(size_t axes) {
  if (axes == 1 || axes == 2) return std::string("2d");
  if (axes == 3) return std::string("3d");
  return Status::Unsupported(fmt::format("over {} spatial axes it is not supported: 1 to 3", axes));
}

}  // namespace hone::onnx

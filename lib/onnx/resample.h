// Resizing by weights that are computed here, for what the graph's own `resize` does not know: filters as wide as the
// reduction (antialias), and a part of the input (tf_crop_and_resize). Along each axis an element of the output is a
// sum of a few of the input, each of them gathered and multiplied by its weight.
#pragma once

#include <string>
#include <vector>

#include "onnx/context.h"

namespace hone::onnx {

struct Resampling {
  std::string mode;        // "nearest", "linear", "cubic"
  std::string coordinate;  // as the attribute has it
  std::string round;       // of nearest, as the attribute has it
  double cubic = -0.75;
  bool exclude_outside = false;
  bool antialias = false;  // not of nearest
  // For tf_crop_and_resize: which part of each axis is taken, 0 its first element, 1 its last; and what stands for
  // places outside of the input.
  std::vector<double> begin, end;
  double extrapolation = 0;
};

// x with the extents `out`. `scales`: one an axis. kUnsupported for a filter of too many elements, and for a part that
// lies outside of the input.
Result<Value> Resample(NodeContext* c, const Value& x, const Shape& out, const std::vector<double>& scales,
                       const Resampling& how);

}  // namespace hone::onnx

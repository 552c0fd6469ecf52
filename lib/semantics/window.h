// Windows over any number of spatial axes (axes 2, 3, .. of [N,C,..]).
#pragma once

#include "base/result.h"
#include "semantics/attributes.h"

namespace hone::semantics {

struct Window {
  Shape in, kernel, stride, dilation, before, after, out;  // one value per spatial axis
  size_t rank() const { return in.size(); }
  // Extent of the padded input of axis i that windows reach.
  int64_t reach(size_t i) const { return (out[i] - 1) * stride[i] + (kernel[i] - 1) * dilation[i] + 1; }
  // Whether a window of a pool may see only padding. Padding is narrower than a window, and no window starts behind the
  // input, so this needs taps that are farther apart than the input is long.
  bool MaySeePaddingAlone() const;
  // The outputs begin .. end-1 along axis i whose window has its tap `tap` inside the input; begin == end without any.
  struct Range {
    int64_t begin, end;
  };
  Range InsideOf(size_t i, int64_t tap) const;
};

// `count` whole numbers from `least` to 65,536; a single one may stand for all. Else kInvalid.
Result<Shape> WindowNumbers(const Workload& workload, const std::string& name, size_t count, int64_t fallback,
                            int64_t least);
// The extents of a window: the attribute `kernel`, or those of the weight.
Shape KernelOf(const Workload& workload);
// The window of a convolution or pool, from the attributes stride, dilation, pad (all befores, then all afters) and
// ceil_mode. Returns kInvalid if a count or value does not fit, or if the output would be empty.
Result<Window> WindowOf(const Workload& workload);
// The window of a transposed convolution: `in` is its input,
// out = (in - 1) * stride - before - after + (kernel - 1) * dilation + 1 + output_pad.
Result<Window> TransposedWindowOf(const Workload& workload);

}  // namespace hone::semantics

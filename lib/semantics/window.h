// Windows over any number of spatial axes (axes 2, 3, .. of [N,C,..]).
#pragma once

#include "base/result.h"
#include "semantics/attributes.h"

namespace hone::semantics {

struct Window {
  Shape in, kernel, stride, dilation, before, after, out;  // one value a spatial axis
  size_t rank() const { return in.size(); }
  // Extent of the padded input of axis i, as far as the windows reach.
  int64_t reach(size_t i) const { return (out[i] - 1) * stride[i] + (kernel[i] - 1) * dilation[i] + 1; }
  // Can a window of a pool see only padding? Padding is narrower than a window, and no window starts behind the input.
  // So it can only if its taps lie farther apart than the input is long and step over it.
  bool MaySeePaddingAlone() const;
};

// `count` whole numbers from `least` to 65,536, one of which may stand for all. kInvalid otherwise.
Result<Shape> WindowNumbers(const Workload& workload, const std::string& name, size_t count, int64_t fallback,
                            int64_t least);
// The extents of a window: the attribute `kernel`, or those of the weight.
Shape KernelOf(const Workload& workload);
// The window of a convolution or pool, from the attributes stride, dilation, pad (all befores, then all afters) and
// ceil_mode. kInvalid if a count or value does not fit, or if there is no output.
Result<Window> WindowOf(const Workload& workload);
// The window of a transposed convolution: `in` is its input,
// out = (in - 1) * stride - before - after + (kernel - 1) * dilation + 1 + output_pad.
Result<Window> TransposedWindowOf(const Workload& workload);

}  // namespace hone::semantics

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
  // Of a pool: may some window see nothing but padding? Padding is no wider than a window less an element, and no
  // window starts behind the input: so only one that steps over it, its taps farther apart than the input is long.
  bool MaySeePaddingAlone() const;
};

// `count` whole numbers from `least` to 65,536, one of which may stand for all. kInvalid otherwise.
Result<Shape> WindowNumbers(const Workload& workload, const std::string& name, size_t count, int64_t fallback,
                            int64_t least);
// The extents of a window: the attribute `kernel`, or those of the weight.
Shape KernelOf(const Workload& workload);
// Of a convolution or pool; attributes stride, dilation, pad (all befores, then
// all afters), ceil_mode. kInvalid for counts or values that do not fit, or no output.
Result<Window> WindowOf(const Workload& workload);
// Of a transposed convolution: `in` is its input,
// out = (in - 1) * stride - before - after + (kernel - 1) * dilation + 1 + output_pad.
Result<Window> TransposedWindowOf(const Workload& workload);

}  // namespace hone::semantics

#include "semantics/window.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone::semantics {

constexpr int64_t kMost = 1 << 16;

static Result<Window> Read(const Workload& w) {
  Window window;
  const Shape& data = w.inputs[0].shape;
  const size_t rank = data.size() - 2;
  window.in.assign(data.begin() + 2, data.end());
  window.kernel = KernelOf(w);
  HONE_ASSIGN_OR_RETURN(window.stride, WindowNumbers(w, "stride", rank, 1, 1));
  HONE_ASSIGN_OR_RETURN(window.dilation, WindowNumbers(w, "dilation", rank, 1, 1));
  HONE_ASSIGN_OR_RETURN(Shape pad, WindowNumbers(w, "pad", 2 * rank, 0, 0));
  window.before.assign(pad.begin(), pad.begin() + static_cast<ptrdiff_t>(rank));
  window.after.assign(pad.begin() + static_cast<ptrdiff_t>(rank), pad.end());
  window.out.resize(rank);
  return window;
}

Result<Shape> WindowNumbers(const Workload& w, const std::string& name, size_t count, int64_t fallback, int64_t least) {
  if (w.Find(name) == nullptr) return Shape(count, fallback);
  const Shape values = Expanded(w, name, count, fallback);
  if (values.size() != count) {
    return Status::Invalid("{}: `{}` takes {} numbers, not {}", w.op, name, count, values.size());
  }
  for (int64_t v : values) {
    if (v < least || v > kMost) {
      return Status::Invalid("{}: `{}` has {}; it must be in {} .. {}", w.op, name, v, least, kMost);
    }
  }
  return values;
}

Shape KernelOf(const Workload& w) {
  if (w.Find("kernel") != nullptr) return Expanded(w, "kernel", w.inputs[0].shape.size() - 2, 1);
  return {w.inputs[1].shape.begin() + 2, w.inputs[1].shape.end()};
}

bool Window::MaySeePaddingAlone() const {
  for (size_t i = 0; i < rank(); ++i) {
    if (before[i] > 0 && dilation[i] > in[i]) return true;
  }
  return false;
}

Window::Range Window::InsideOf(size_t i, int64_t tap) const {
  const int64_t first = tap * dilation[i] - before[i], last = in[i] - 1 - first;  // first: what output 0 reads
  const int64_t begin = first >= 0 ? 0 : (stride[i] - 1 - first) / stride[i];
  const int64_t end = last < 0 ? 0 : std::min(out[i], last / stride[i] + 1);
  return {std::min(begin, end), end};
}

Result<Window> WindowOf(const Workload& w) {
  HONE_ASSIGN_OR_RETURN(Window window, Read(w));
  const bool round_up = Whole(w, "ceil_mode", 0) != 0;
  for (size_t i = 0; i < window.rank(); ++i) {
    const int64_t stride = window.stride[i];
    const int64_t room =
        window.in[i] + window.before[i] + window.after[i] - (window.kernel[i] - 1) * window.dilation[i] - 1;
    if (room < 0) {
      return Status::Invalid("{}: no output: the window {} (dilation {}) is larger than the padded input {}", w.op,
                             fmt::join(window.kernel, "x"), fmt::join(window.dilation, "x"), w.inputs[0].Text());
    }
    window.out[i] = (room + (round_up ? stride - 1 : 0)) / stride + 1;
    // No window starts in the padding behind the input.
    if (round_up && (window.out[i] - 1) * stride >= window.in[i] + window.before[i]) --window.out[i];
  }
  return window;
}

Result<Window> TransposedWindowOf(const Workload& w) {
  HONE_ASSIGN_OR_RETURN(Window window, Read(w));
  HONE_ASSIGN_OR_RETURN(Shape more, WindowNumbers(w, "output_pad", window.rank(), 0, 0));
  for (size_t i = 0; i < window.rank(); ++i) {
    if (more[i] >= std::max(window.stride[i], window.dilation[i])) {
      return Status::Invalid(w.op + ": `output_pad` must be smaller than the stride or the dilation");
    }
    window.out[i] = (window.in[i] - 1) * window.stride[i] + (window.kernel[i] - 1) * window.dilation[i] + 1 + more[i] -
                    window.before[i] - window.after[i];
    if (window.out[i] < 1) return Status::Invalid(w.op + ": no output: the padding leaves nothing of it");
  }
  return window;
}

}  // namespace hone::semantics

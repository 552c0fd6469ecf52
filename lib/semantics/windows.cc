// Convolutions and pooling over windows of any number of spatial axes; the loops below are over at most three, the
// missing ones in front having an extent of 1.
#include <algorithm>
#include <cmath>

#include "semantics/tables.h"
#include "semantics/window.h"

namespace hone::semantics {
namespace {

AttributeSpec Times(const char* name, const char* fallback) {
  return {name, AttributeKind::kWhole, fallback, {}, 'x', 1};
}
AttributeSpec Commas(const char* name, const char* fallback) {
  return {name, AttributeKind::kWhole, fallback, {}, ','};
}

// Three spatial axes, whatever there are.
struct Window3 {
  int64_t in[3] = {1, 1, 1}, kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1};
  int64_t before[3] = {}, after[3] = {}, out[3] = {1, 1, 1};
  int64_t InSize() const { return in[0] * in[1] * in[2]; }
  int64_t OutSize() const { return out[0] * out[1] * out[2]; }
  int64_t Taps() const { return kernel[0] * kernel[1] * kernel[2]; }
};

Window3 Widened(const Window& w) {
  Window3 wide;
  for (size_t i = 0, at = 3 - w.rank(); i < w.rank(); ++i, ++at) {
    wide.in[at] = w.in[i], wide.kernel[at] = w.kernel[i], wide.stride[at] = w.stride[i];
    wide.dilation[at] = w.dilation[i], wide.before[at] = w.before[i], wide.after[at] = w.after[i];
    wide.out[at] = w.out[i];
  }
  return wide;
}

// Calls body(output offset, input offset, count, input step) for runs along the last axis where one tap of the window
// lies inside the input.
template <typename Body>
void ForTap(const Window3& w, int64_t kd, int64_t kh, int64_t kw, const Body& body) {
  const int64_t offset = kw * w.dilation[2] - w.before[2], stride = w.stride[2];
  const int64_t begin = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  const int64_t room = w.in[2] - 1 - offset;
  const int64_t end = room < 0 ? 0 : std::min(w.out[2], room / stride + 1);
  if (begin >= end) return;
  for (int64_t od = 0; od < w.out[0]; ++od) {
    const int64_t id = od * w.stride[0] - w.before[0] + kd * w.dilation[0];
    if (id < 0 || id >= w.in[0]) continue;
    for (int64_t oh = 0; oh < w.out[1]; ++oh) {
      const int64_t ih = oh * w.stride[1] - w.before[1] + kh * w.dilation[1];
      if (ih < 0 || ih >= w.in[1]) continue;
      body((od * w.out[1] + oh) * w.out[2] + begin, (id * w.in[1] + ih) * w.in[2] + begin * stride + offset,
           end - begin, stride);
    }
  }
}

template <typename Body>
void ForTaps(const Window3& w, const Body& body) {
  for (int64_t kd = 0, tap = 0; kd < w.kernel[0]; ++kd) {
    for (int64_t kh = 0; kh < w.kernel[1]; ++kh) {
      for (int64_t kw = 0; kw < w.kernel[2]; ++kw, ++tap) {
        ForTap(w, kd, kh, kw,
               [&](int64_t out, int64_t in, int64_t count, int64_t step) { body(tap, out, in, count, step); });
      }
    }
  }
}

// `fit`: do channels and weight, both of this rank, fit this number of groups, at least 1?
template <typename Fit>
Status CheckOperands(const Workload& w, size_t rank, const Fit& fit) {
  for (size_t i = 0; i < 2; ++i) HONE_RETURN_IF_ERROR(CheckRankIn(w, i, rank, rank));
  const int64_t groups = Whole(w, "groups", 1);
  if (groups >= 1 && fit(groups)) return Status();
  return Status::Invalid(w.op + ": data " + w.inputs[0].Text() + " and weight " + w.inputs[1].Text() +
                         " do not fit with groups=" + std::to_string(groups));
}

template <size_t kRank>
Result<Shape> ConvolutionShape(const Workload& w) {
  const Shape &data = w.inputs[0].shape, &weight = w.inputs[1].shape;
  HONE_RETURN_IF_ERROR(CheckOperands(w, kRank, [&](int64_t groups) {
    return data[1] % groups == 0 && weight[0] % groups == 0 && weight[1] == data[1] / groups;
  }));
  if (ReadsPlain(w) && StatedLayout(w)) {
    return Status::Invalid(w.op + ": `layout` covers the input, so leave out `in`");
  }
  HONE_ASSIGN_OR_RETURN(Window window, WindowOf(w));
  Shape shape = {data[0], weight[0]}, padded = {data[0], data[1]};
  for (size_t i = 0; i < window.rank(); ++i) {
    shape.push_back(window.out[i]);
    padded.push_back(window.in[i] + window.before[i] + window.after[i]);
  }
  HONE_RETURN_IF_ERROR(Checked(w, padded).status());
  return shape;
}

void Convolution(const Workload& w, const std::vector<const Values*>& inputs, const Shape& shape, int threads,
                 Values* out) {
  const LessZeros x(inputs);
  const Window3 window = Widened(*WindowOf(w));
  const int64_t groups = Whole(w, "groups", 1), channels = w.inputs[0].shape[1];
  const int64_t in_group = channels / groups, out_group = shape[1] / groups, taps = window.Taps();
  ParallelFor(shape[0] * shape[1], threads, [&](int64_t plane) {
    const int64_t n = plane / shape[1], oc = plane % shape[1];
    double* to = out->data() + plane * window.OutSize();
    for (int64_t ic = 0; ic < in_group; ++ic) {
      const double* from = x.data().data() + (n * channels + oc / out_group * in_group + ic) * window.InSize();
      const double* weight = x.weight().data() + (oc * in_group + ic) * taps;
      ForTaps(window, [&](int64_t tap, int64_t o, int64_t i, int64_t count, int64_t step) {
        const double factor = weight[tap];
        if (step == 1) {
          for (int64_t k = 0; k < count; ++k) to[o + k] += factor * from[i + k];
        } else {
          for (int64_t k = 0; k < count; ++k) to[o + k] += factor * from[i + k * step];
        }
      });
    }
  });
}

// One multiply-add for each weight of a channel of the output, or transposed of the input, and each of its elements.
template <bool kTransposed>
double ConvolutionFlop(const Workload& w, const Shape& shape) {
  const Shape& weight = w.inputs[1].shape;
  const int64_t elements = kTransposed ? w.inputs[0].Elements() : Product(shape);
  return 2.0 * static_cast<double>(elements) * static_cast<double>(Product(weight, 1, weight.size()));
}

template <size_t kRank>
Result<Shape> TransposedShape(const Workload& w) {
  const Shape &data = w.inputs[0].shape, &weight = w.inputs[1].shape;
  HONE_RETURN_IF_ERROR(
      CheckOperands(w, kRank, [&](int64_t groups) { return data[1] % groups == 0 && weight[0] == data[1]; }));
  HONE_ASSIGN_OR_RETURN(Window window, TransposedWindowOf(w));
  Shape shape = {data[0], weight[1] * Whole(w, "groups", 1)};
  shape.insert(shape.end(), window.out.begin(), window.out.end());
  return shape;
}

// The convolution's gradient: each input element is spread over the outputs that its window would have read, so `in`
// and `out` change places in the window.
void Transposed(const Workload& w, const std::vector<const Values*>& x, const Shape& shape, int threads, Values* out) {
  Window3 window = Widened(*TransposedWindowOf(w));
  for (int i = 0; i < 3; ++i) std::swap(window.in[i], window.out[i]);
  const int64_t groups = Whole(w, "groups", 1), channels = w.inputs[0].shape[1];
  const int64_t in_group = channels / groups, out_group = shape[1] / groups, taps = window.Taps();
  ParallelFor(shape[0] * shape[1], threads, [&](int64_t plane) {
    const int64_t n = plane / shape[1], oc = plane % shape[1], group = oc / out_group;
    double* to = out->data() + plane * window.InSize();
    for (int64_t ic = group * in_group; ic < (group + 1) * in_group; ++ic) {
      const double* from = x[0]->data() + (n * channels + ic) * window.OutSize();
      const double* weight = x[1]->data() + (ic * out_group + oc % out_group) * taps;
      ForTaps(window, [&](int64_t tap, int64_t o, int64_t i, int64_t count, int64_t step) {
        for (int64_t k = 0; k < count; ++k) to[i + k * step] += weight[tap] * from[o + k];
      });
    }
  });
}

Status CheckFlag(const Workload& w, const std::string& name) {
  const Shape values = w.Numbers(name, {0});
  if (values.size() == 1 && (values[0] == 0 || values[0] == 1)) return Status();
  return Status::Invalid(w.op + ": `" + name + "` must be in 0 .. 1");
}

// The type rule of averages: f32; or u8 or i8, then also with a second input, the zero point. The output is like the
// first input.
Result<DType> AverageType(const Workload& w) {
  const TensorType& data = w.inputs[0];
  const bool bytes = data.type == DType::UInt(8) || data.type == DType::Int(8);
  if (!bytes && data.type != DType::Float(32)) {
    return Status::Unsupported("{}: input 0 is {}; f32, u8 and i8 are supported", w.op, data.Text());
  }
  if (w.inputs.size() == 1 || (bytes && w.inputs[1] == TensorType{data.type, {1}})) return data.type;
  return Status::Invalid("{}: input 1 is {}; {}", w.op, w.inputs[1].Text(),
                         bytes ? "the zero point is " + ToString(data.type) + "[1]" : "zero points are for u8 and i8");
}

// Checks that no sum of an average over `taps` elements can leave i32.
Status CheckSum(const Workload& w, int64_t taps) {
  constexpr int64_t kMost = INT32_MAX / 255;
  if (w.inputs[0].type.bits > 8 || w.op.starts_with("max_pool") || taps <= kMost) return Status();
  return Status::Invalid("{}: sums of {} bytes may leave i32; at most {} are possible", w.op, taps, kMost);
}

template <size_t kRank>
Result<Shape> PoolShape(const Workload& w) {
  HONE_RETURN_IF_ERROR(CheckRankIn(w, 0, kRank, kRank));
  HONE_RETURN_IF_ERROR(CheckFlag(w, "ceil_mode"));
  HONE_RETURN_IF_ERROR(CheckFlag(w, "count_include_pad"));
  const size_t spatial = kRank - 2;
  if (w.Find("kernel") == nullptr) {
    const std::string example = spatial == 2 ? "3x3" : "3x3x3";
    return Status::Invalid(w.op + ": `kernel` is missing, for example kernel=" + example);
  }
  HONE_ASSIGN_OR_RETURN(const Shape kernel, WindowNumbers(w, "kernel", spatial, 1, 1));
  HONE_ASSIGN_OR_RETURN(Window window, WindowOf(w));
  HONE_RETURN_IF_ERROR(CheckSum(w, Product(kernel)));
  Shape shape = {w.inputs[0].shape[0], w.inputs[0].shape[1]};
  for (size_t i = 0; i < spatial; ++i) {
    if (std::max(window.before[i], window.after[i]) > (kernel[i] - 1) * window.dilation[i]) {
      return Status::Invalid(w.op + ": the padding must be smaller than the kernel");
    }
    shape.push_back(window.out[i]);
  }
  return shape;
}

// An average of bytes is round(f32(sum of x - zero) / count) + zero, which lies between the least and the largest x and
// zero: the sum is exact, its conversion and the quotient are rounded once each, and `round` takes ties to even.
void RoundToBytes(const std::vector<const Values*>& x, double count, double sum, double* out) {
  const double zero = x.size() > 1 ? (*x[1])[0] : 0;
  const float quotient = static_cast<float>(sum) / static_cast<float>(count);
  *out = std::nearbyint(static_cast<double>(quotient)) + zero;
}

// Windows see the elements inside the input alone. An average divides by their number; with count_include_pad=1 the
// padding counts, but never what lies behind it, where ceil_mode=1 lets a window reach. A maximum propagates NaN.
void Pool(const Workload& w, const std::vector<const Values*>& x, const Shape& shape, int threads, Values* out) {
  const Window3 window = Widened(*WindowOf(w));
  const bool maximum = w.op.rfind("max", 0) == 0, include_pad = Whole(w, "count_include_pad", 0) != 0;
  const bool floats = w.inputs[0].type.is_float();
  std::vector<double> counts(static_cast<size_t>(window.OutSize()), 0.0);
  if (!maximum) {
    Window3 counted = window;
    if (include_pad) {  // the padded input, as if it were the input
      for (int i = 0; i < 3; ++i) counted.in[i] += counted.before[i] + counted.after[i], counted.before[i] = 0;
    }
    ForTaps(counted, [&](int64_t, int64_t o, int64_t, int64_t count, int64_t) {
      for (int64_t k = 0; k < count; ++k) counts[static_cast<size_t>(o + k)] += 1;
    });
  }
  ParallelFor(shape[0] * shape[1], threads, [&](int64_t plane) {
    const double* from = x[0]->data() + plane * window.InSize();
    const double zero = x.size() > 1 ? (*x[1])[0] : 0;
    double* to = out->data() + plane * window.OutSize();
    if (maximum) std::fill(to, to + window.OutSize(), -kInfinity);
    ForTaps(window, [&](int64_t, int64_t o, int64_t i, int64_t count, int64_t step) {
      for (int64_t k = 0; k < count; ++k) {
        const double value = from[i + k * step] - zero;
        to[o + k] = maximum ? Most(to[o + k], value) : to[o + k] + value;
      }
    });
    for (int64_t k = 0; !maximum && k < window.OutSize(); ++k) {
      const double count = std::max(counts[static_cast<size_t>(k)], 1.0);  // without elements, the sum is 0
      if (floats) {
        to[k] /= count;
      } else {
        RoundToBytes(x, count, to[k], to + k);
      }
    }
  });
}

double PoolFlop(const Workload& w, const Shape& shape) {
  return static_cast<double>(Product(shape)) * static_cast<double>(Product(KernelOf(w)));
}

Result<Shape> GlobalShape(const Workload& w) {
  HONE_RETURN_IF_ERROR(CheckRankIn(w, 0, 3, 8));
  if (w.op == "global_avg_pool") {
    HONE_RETURN_IF_ERROR(CheckSum(w, Product(w.inputs[0].shape, 2, w.inputs[0].shape.size())));
  }
  Shape shape(w.inputs[0].shape.size(), 1);
  shape[0] = w.inputs[0].shape[0], shape[1] = w.inputs[0].shape[1];
  return shape;
}

void Global(const Workload& w, const std::vector<const Values*>& x, const Shape&, int, Values* out) {
  const bool maximum = w.op == "global_max_pool", floats = w.inputs[0].type.is_float();
  const double zero = x.size() > 1 ? (*x[1])[0] : 0;
  const size_t size = x[0]->size() / out->size();
  for (size_t plane = 0; plane < out->size(); ++plane) {
    double value = maximum ? -kInfinity : 0;
    for (size_t i = plane * size; i < (plane + 1) * size; ++i) {
      value = maximum ? Most(value, (*x[0])[i]) : value + ((*x[0])[i] - zero);
    }
    (*out)[plane] = maximum ? value : value / static_cast<double>(size);
    if (!maximum && !floats) RoundToBytes(x, static_cast<double>(size), value, &(*out)[plane]);
  }
}

// One value a window, read where it starts, and a window a value.
bool PoolPassesOn(const Workload& w) {
  auto all = [&](const char* name, int64_t value, int64_t fallback) {
    const Shape values = w.Numbers(name, {fallback});
    return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == value; });
  };
  return all("kernel", 1, 0) && all("stride", 1, 1) && all("pad", 0, 0);
}

}  // namespace

std::vector<Definition> Windows() {
  std::vector<AttributeSpec> window = {
      Times("stride", "1"), AttributeSpec{"pad", AttributeKind::kWhole, "0", {}, ',', 2}, Times("dilation", "1")};
  auto with = [&](std::vector<AttributeSpec> before, std::vector<AttributeSpec> after) {
    before.insert(before.end(), window.begin(), window.end());
    before.insert(before.end(), after.begin(), after.end());
    return before;
  };
  const AttributeSpec groups = Commas("groups", "1"), kernel = Times("kernel", "");
  std::vector<Definition> all;
  const auto convolution = [&](const char* name, const char* plain, auto shape) -> Definition& {
    Definition d{name, 2, 4, with({}, {groups, InputLayoutSpec(plain), LayoutSpec()}), shape};
    d.type = ProductType;
    d.evaluate = Convolution, d.flop = ConvolutionFlop<false>;
    d.in = d.out = Layout::kBlocked, d.layer = true, d.channels_of_weight = 0;
    return all.emplace_back(std::move(d));
  };
  convolution("conv2d", "nchw", ConvolutionShape<4>);
  convolution("conv3d", "ncdhw", ConvolutionShape<5>);
  const auto transposed = [&](const char* name, auto shape) {
    all.push_back({name, 2, 2, with({}, {groups, Times("output_pad", "0")}), shape, Transposed, ConvolutionFlop<true>});
    all.back().layer = true, all.back().channels_of_weight = 1;
  };
  transposed("conv_transpose2d", TransposedShape<4>);
  transposed("conv_transpose3d", TransposedShape<5>);
  const auto maximum = with({kernel}, {Commas("ceil_mode", "0"), LayoutSpec()});
  const auto average = with({kernel}, {Commas("ceil_mode", "0"), Commas("count_include_pad", "0"), LayoutSpec()});
  const auto pool = [&](const char* name, const std::vector<AttributeSpec>& attributes, auto shape) {
    all.push_back({name, 1, 1, attributes, shape, Pool, PoolFlop, Layout::kBlocked, Layout::kBlocked});
    all.back().passes_on = PoolPassesOn;
  };
  pool("max_pool2d", maximum, PoolShape<4>);
  pool("avg_pool2d", average, PoolShape<4>);
  pool("max_pool3d", maximum, PoolShape<5>);
  pool("avg_pool3d", average, PoolShape<5>);
  all.push_back(
      {"global_avg_pool", 1, 1, {LayoutSpec()}, GlobalShape, Global, InputFlop, Layout::kBlocked, Layout::kBlocked});
  all.push_back(
      {"global_max_pool", 1, 1, {LayoutSpec()}, GlobalShape, Global, InputFlop, Layout::kBlocked, Layout::kBlocked});
  for (Definition& definition : all) {
    definition.has_batch = true;
    if (definition.name.find("max_pool") != std::string::npos) definition.type = SameType, definition.selects = true;
    if (definition.name.find("avg_pool") == std::string::npos) continue;
    definition.most_inputs = 2;
    definition.type = AverageType;
  }
  return all;
}

}  // namespace hone::semantics

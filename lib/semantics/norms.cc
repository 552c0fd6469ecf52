// Normalisations and resizing.
#include <algorithm>
#include <cmath>

#include "semantics/attributes.h"
#include "semantics/indices.h"
#include "semantics/tables.h"

namespace hone::semantics {
namespace {

Result<Shape> LrnShape(const Workload& w) {
  HONE_RETURN_IF_ERROR(CheckRankIn(w, 0, 3, 8));
  if (w.Find("size") == nullptr || Whole(w, "size", 0) < 1) return Status::Invalid(w.op + ": `size` must be 1 or more");
  return w.inputs[0].shape;
}

// x / (bias + alpha/size * sum of squares of the `size` neighbouring channels)^beta; an even size has one more behind.
void Lrn(const Workload& w, const std::vector<const Values*>& x, const Shape& shape, int, Values* out) {
  const int64_t size = Whole(w, "size", 1), channels = shape[1], inner = Product(shape, 2, shape.size());
  const double alpha = Real(w, "alpha", 1e-4), beta = Real(w, "beta", 0.75), bias = Real(w, "bias", 1);
  for (int64_t i = 0; i < static_cast<int64_t>(out->size()); ++i) {
    const int64_t c = i / inner % channels;
    double sum = 0;
    for (int64_t k = std::max<int64_t>(0, c - (size - 1) / 2); k <= std::min(channels - 1, c + size / 2); ++k) {
      const double value = (*x[0])[static_cast<size_t>(i + (k - c) * inner)];
      sum += value * value;
    }
    (*out)[static_cast<size_t>(i)] =
        (*x[0])[static_cast<size_t>(i)] / std::pow(bias + alpha / static_cast<double>(size) * sum, beta);
  }
}

Result<Shape> InstanceShape(const Workload& w) {
  HONE_RETURN_IF_ERROR(CheckRankIn(w, 0, 3, 8));
  for (size_t i = 1; i < 3; ++i) {
    if (w.inputs[i].shape != Shape{w.inputs[0].shape[1]}) {
      return Status::Invalid(w.op + ": scale and bias must have one value a channel, not " + w.inputs[i].Text());
    }
  }
  return w.inputs[0].shape;
}

Result<Shape> BatchNormShape(const Workload& w) {
  HONE_RETURN_IF_ERROR(CheckRankIn(w, 0, 2, 8));
  for (size_t i = 1; i < 5; ++i) {
    if (w.inputs[i].shape != Shape{w.inputs[0].shape[1]}) {
      return Status::Invalid(w.op + ": input " + std::to_string(i) + " must be f32[" +
                             std::to_string(w.inputs[0].shape[1]) + "], is " + w.inputs[i].Text());
    }
  }
  const double epsilon = BatchNormEpsilon(w);
  if (!(epsilon >= 0) || std::isinf(epsilon))
    return Status::Invalid(w.op + ": its epsilon must be finite and 0 or more");
  return w.inputs[0].shape;
}

// Inputs: data, gamma, beta, mean, variance.
void BatchNorm(const Workload& w, const std::vector<const Values*>& x, const Shape& shape, int, Values* out) {
  const double epsilon = BatchNormEpsilon(w);
  const size_t channels = static_cast<size_t>(shape[1]), inner = static_cast<size_t>(Product(shape, 2, shape.size()));
  for (size_t i = 0; i < out->size(); ++i) {
    const size_t c = i / inner % channels;
    (*out)[i] = ((*x[0])[i] - (*x[3])[c]) / std::sqrt((*x[4])[c] + epsilon) * (*x[1])[c] + (*x[2])[c];
  }
}

Result<Shape> LayerShape(const Workload& w) {
  const Shape& in = w.inputs[0].shape;
  const int64_t rank = static_cast<int64_t>(in.size());
  if (rank == 0) return Status::Invalid(w.op + ": its input has no axes");
  HONE_ASSIGN_OR_RETURN(int64_t axis, AxisOf(w, "axis", rank, rank - 1));
  for (size_t i = 1; i < w.inputs.size(); ++i) {
    if (w.inputs[i].shape != Shape(in.begin() + axis, in.end())) {
      return Status::Invalid(w.op + ": scale and bias must have the shape of the input from `axis` on, not " +
                             w.inputs[i].Text());
    }
  }
  return in;
}

// (x - mean) / sqrt(variance + epsilon) over each row of `length`, then scale and bias.
template <typename At>
void Normalise(const Workload& w, const std::vector<const Values*>& x, int64_t length, const At& at, Values* out) {
  const double epsilon = Real(w, "epsilon", 1e-5);
  for (int64_t row = 0; row * length < static_cast<int64_t>(out->size()); ++row) {
    const double* from = x[0]->data() + row * length;
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < length; ++i) mean += from[i] / static_cast<double>(length);
    for (int64_t i = 0; i < length; ++i) variance += (from[i] - mean) * (from[i] - mean) / static_cast<double>(length);
    for (int64_t i = 0; i < length; ++i) {
      const size_t p = static_cast<size_t>(at(row, i));
      const double bias = x.size() > 2 ? (*x[2])[p] : 0;
      (*out)[static_cast<size_t>(row * length + i)] =
          (from[i] - mean) / std::sqrt(variance + epsilon) * (*x[1])[p] + bias;
    }
  }
}

void Instance(const Workload& w, const std::vector<const Values*>& x, const Shape& shape, int, Values* out) {
  Normalise(
      w, x, Product(shape, 2, shape.size()), [&](int64_t row, int64_t) { return row % shape[1]; }, out);
}

void Layer(const Workload& w, const std::vector<const Values*>& x, const Shape& shape, int, Values* out) {
  const size_t axis = static_cast<size_t>(Whole(w, "axis", static_cast<int64_t>(shape.size()) - 1));
  Normalise(
      w, x, Product(shape, axis, shape.size()), [](int64_t, int64_t i) { return i; }, out);
}

Result<Shape> ResizeShape(const Workload& w) {
  const Shape &in = w.inputs[0].shape, out = w.Numbers("out", {});
  const std::vector<double> scale = Reals(w, "scale", std::vector<double>(in.size(), 1));
  if (out.size() != in.size() || scale.size() != in.size()) {
    return Status::Invalid(w.op + ": `out` and `scale` take one number an axis of " + w.inputs[0].Text());
  }
  for (double s : scale) {
    if (!(s > 0)) return Status::Invalid(w.op + ": `scale` must be above 0");
  }
  return out;
}

// An element of the input that contributes to an output element, along one axis.
struct Tap {
  int64_t index;
  double weight;
};
std::vector<Tap> TapsOf(const ResizeAxis& axis, const std::string& mode, int64_t i) {
  if (!axis.Changes()) return {{i, 1}};
  if (mode == "nearest") return {{axis.Nearest(i), 1}};
  const double place = axis.a() * static_cast<double>(i) + axis.b();
  auto clamp = [&](int64_t index) { return std::clamp<int64_t>(index, 0, axis.in - 1); };
  const auto low = static_cast<int64_t>(std::floor(place));
  const double t = place - static_cast<double>(low), a = axis.cubic;
  if (mode == "linear") return {{clamp(low), 1 - t}, {clamp(low + 1), t}};
  const double weights[4] = {CubicWeight(t + 1, a), CubicWeight(t, a), CubicWeight(1 - t, a), CubicWeight(2 - t, a)};
  std::vector<Tap> taps;
  double sum = 0;
  for (int64_t k = 0; k < 4; ++k) {
    const int64_t index = low - 1 + k;
    const bool outside = index < 0 || index >= axis.in;
    taps.push_back({clamp(index), axis.exclude_outside && outside ? 0 : weights[k]});
    sum += taps.back().weight;
  }
  if (axis.exclude_outside) {
    for (Tap& tap : taps) tap.weight /= sum;
  }
  return taps;
}

// Works axis by axis: weights are products of those along each axis.
void Resize(const Workload& w, const std::vector<const Values*>& x, const Shape& shape, int, Values* out) {
  const std::string mode = Word(w, "mode", "nearest");
  const std::vector<ResizeAxis> axes = ResizeAxes(w);
  Values now = *x[0];
  Shape extents = w.inputs[0].shape;
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    if (!axes[axis].Changes()) continue;
    const int64_t outer = Product(extents, 0, axis), inner = Product(extents, axis + 1, extents.size());
    Values next(static_cast<size_t>(outer * shape[axis] * inner), 0.0);
    for (int64_t i = 0; i < shape[axis]; ++i) {
      for (const Tap& tap : TapsOf(axes[axis], mode, i)) {
        for (int64_t o = 0; o < outer; ++o) {
          const double* from = now.data() + (o * extents[axis] + tap.index) * inner;
          double* to = next.data() + (o * shape[axis] + i) * inner;
          for (int64_t k = 0; k < inner; ++k) to[k] += tap.weight * from[k];
        }
      }
    }
    extents[axis] = shape[axis];
    now = std::move(next);
  }
  *out = std::move(now);
}

}  // namespace

double BatchNormEpsilon(const Workload& w) {
  if (w.Find("epsilon") != nullptr) return Real(w, "epsilon", 1e-5);
  return 1 / Real(w, "inverse_epsilon", 100000);
}

double ResizeAxis::a() const {
  if (coordinate == "align_corners") {
    // The scale gives the exact length of the output, from which `out` may have been rounded down.
    double extent = static_cast<double>(in) * scale;
    if (std::fabs(extent - static_cast<double>(out)) < 1e-4) extent = static_cast<double>(out);
    return extent > 1 ? static_cast<double>(in - 1) / (extent - 1) : 0;
  }
  return 1 / scale;
}

double ResizeAxis::b() const {
  if (coordinate == "align_corners" || coordinate == "asymmetric") return 0;
  if (coordinate == "tf_half_pixel_for_nn") return 0.5 / scale;
  if (coordinate == "pytorch_half_pixel" && out == 1) return 0;
  const double half = 0.5 / scale - 0.5;
  if (coordinate != "half_pixel_symmetric") return half;
  // Aligns the centres of input and output, although `out` was rounded.
  const double adjustment = static_cast<double>(out) / (static_cast<double>(in) * scale);
  const double center = static_cast<double>(in) / 2;
  return center * (1 - adjustment) + half;
}

int64_t ResizeAxis::Nearest(int64_t i) const {
  double place = a() * static_cast<double>(i) + b();
  if (coordinate == "pytorch_half_pixel" && out == 1) place = 0;
  return std::clamp<int64_t>(RoundedPlace(round, place), 0, in - 1);
}

const std::vector<std::string>& ResizeCoordinates() {
  static const auto* words =
      new std::vector<std::string>{"half_pixel",         "asymmetric",           "align_corners",
                                   "pytorch_half_pixel", "half_pixel_symmetric", "tf_half_pixel_for_nn"};
  return *words;
}

const std::vector<std::string>& ResizeRounds() {
  static const auto* words = new std::vector<std::string>{"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"};
  return *words;
}

int64_t RoundedPlace(const std::string& round, double place) {
  double index = std::ceil(place - 0.5);  // round_prefer_floor
  if (round == "round_prefer_ceil") index = std::floor(place + 0.5);
  if (round == "floor") index = std::floor(place);
  if (round == "ceil") index = std::ceil(place);
  return static_cast<int64_t>(index);
}

double CubicWeight(double distance, double a) {
  const double d = distance;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0.0;
}

std::vector<ResizeAxis> ResizeAxes(const Workload& w) {
  const Shape &in = w.inputs[0].shape, out = w.Numbers("out", {});
  const std::vector<double> scale = Reals(w, "scale", {});
  std::vector<ResizeAxis> axes(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    axes[i].in = in[i], axes[i].out = out[i];
    axes[i].scale = scale.empty() ? static_cast<double>(out[i]) / static_cast<double>(in[i]) : scale[i];
    axes[i].coordinate = Word(w, "coordinate", "half_pixel");
    axes[i].round = Word(w, "round", "round_prefer_floor");
    axes[i].cubic = Real(w, "cubic", -0.75);
    axes[i].exclude_outside = Whole(w, "exclude_outside", 0) != 0;
  }
  return axes;
}

std::vector<Definition> Norms() {
  const auto real = [](const char* name, const char* fallback) {
    return AttributeSpec{name, AttributeKind::kReal, fallback};
  };
  const AttributeSpec epsilon = real("epsilon", "1e-05");
  const std::vector<AttributeSpec> resize = {{"out"},
                                             {"mode", AttributeKind::kWord, "nearest", {"nearest", "linear", "cubic"}},
                                             {"coordinate", AttributeKind::kWord, "half_pixel", ResizeCoordinates()},
                                             {"round", AttributeKind::kWord, "round_prefer_floor", ResizeRounds()},
                                             real("scale", ""),
                                             real("cubic", "-0.75"),
                                             {"exclude_outside", AttributeKind::kWhole, "0"}};
  const std::vector<AttributeSpec> lrn = {
      {"size"}, real("alpha", "0.0001"), real("beta", "0.75"), real("bias", "1"), LayoutSpec(false)};
  const std::vector<AttributeSpec> batch_norm = {epsilon, real("inverse_epsilon", "")};
  std::vector<Definition> all = {
      {"lrn", 1, 1, lrn, LrnShape, Lrn, OutputFlop<10>},
      {"batch_norm", 5, 5, batch_norm, BatchNormShape, BatchNorm, OutputFlop<10>, Layout::kBlocked, Layout::kBlocked},
      {"instance_norm", 3, 3, {epsilon}, InstanceShape, Instance, OutputFlop<10>},
      {"layer_norm", 2, 3, {{"axis"}, epsilon}, LayerShape, Layer, OutputFlop<10>},
      {"resize", 1, 1, resize, ResizeShape, Resize, OutputFlop<10>},
  };
  for (Definition& definition : all) {
    definition.normalises_channels = definition.name == "batch_norm";
    definition.has_batch =
        definition.name == "lrn" || definition.name == "batch_norm" || definition.name == "instance_norm";
  }
  return all;
}

}  // namespace hone::semantics

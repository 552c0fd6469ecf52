#include "onnx/resample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "onnx/arith.h"
#include "onnx/moves.h"
#include "semantics/resize.h"

namespace hone::onnx {
namespace {

// Elements of a filter: each is an operator of its own. Enough to make an axis 16 times shorter with a cubic one.
constexpr int64_t kMostTaps = 64;
// For an axis of the result: its places and weights are lists.
constexpr int64_t kLongest = 1 << 16;

// Element i of the output is the sum over the taps of weights[tap][i] * x[indices[tap][i]].
struct Taps {
  std::vector<Shape> indices;
  std::vector<std::vector<double>> weights;
};

double Filter(const Resampling& how, double x) {
  const double distance = std::fabs(x);
  return how.mode == "linear" ? std::max(1 - distance, 0.0) : semantics::CubicWeight(distance, how.cubic);
}

// `places`: in the input, of `in` elements, within an element or so of it. `scale`: 1, or below it how much wider than
// its elements the filter is.
Result<Taps> TapsOf(const std::vector<double>& places, int64_t in, double scale, const Resampling& how) {
  const auto inside = [in](int64_t index) { return std::clamp<int64_t>(index, 0, in - 1); };
  if (how.mode == "nearest") {
    Taps taps{{Shape()}, {std::vector<double>(places.size(), 1)}};
    for (double place : places) taps.indices[0].push_back(inside(semantics::RoundedPlace(how.round, place)));
    return taps;
  }
  // Around a place between two elements: from `first` to 1 - first, counted from the one before it.
  const double first = std::floor((how.mode == "linear" ? -1 : -2) / scale) + 1;
  if (!(2 - 2 * first <= static_cast<double>(kMostTaps))) {
    return Status::Unsupported(
        fmt::format("its filter takes {} elements, more than {} are not supported", 2 - 2 * first, kMostTaps));
  }
  const auto count = static_cast<size_t>(2 - 2 * first);
  Taps taps{std::vector<Shape>(count), std::vector<std::vector<double>>(count)};
  for (double place : places) {
    const double before = std::ceil(place) - 1;  // an element itself is one behind the one before it
    double sum = 0;
    for (size_t tap = 0; tap < count; ++tap) {
      const double index = before + first + static_cast<double>(tap);
      const bool outside = index < 0 || index > static_cast<double>(in - 1);
      const double weight = how.exclude_outside && outside ? 0 : Filter(how, (index - place) * scale);
      taps.indices[tap].push_back(inside(static_cast<int64_t>(index)));
      taps.weights[tap].push_back(weight);
      sum += weight;
    }
    for (size_t tap = 0; tap < count; ++tap) taps.weights[tap].back() /= sum;
  }
  return taps;
}

bool All(const std::vector<double>& weights, double value) {
  return std::all_of(weights.begin(), weights.end(), [value](double weight) { return weight == value; });
}

Result<Value> Weighed(NodeContext* c, const Value& x, size_t axis, const Taps& taps) {
  Shape along(x.shape.size() - axis, 1);
  along[0] = static_cast<int64_t>(taps.indices[0].size());
  Value sum;
  bool any = false;
  for (size_t tap = 0; tap < taps.indices.size(); ++tap) {
    const std::vector<double>& weights = taps.weights[tap];
    if (All(weights, 0)) continue;
    HONE_ASSIGN_OR_RETURN(Value term, Gather(c, x, static_cast<int64_t>(axis), taps.indices[tap], {along[0]}));
    if (!All(weights, 1)) {
      HONE_RETURN_IF_ERROR(c->builder().Spend(along[0]));
      Tensor factors;
      factors.shape = along;
      for (double weight : weights) factors.floats.push_back(static_cast<float>(weight));
      HONE_ASSIGN_OR_RETURN(term, Binary(c, "mul", term, ConstantValue(std::move(factors))));
    }
    if (any) {
      HONE_ASSIGN_OR_RETURN(term, Binary(c, "add", sum, term));
    }
    sum = std::move(term);
    any = true;
  }
  return sum;
}

}  // namespace

Result<Value> Resample(NodeContext* c, const Value& x, const Shape& out, const std::vector<double>& scales,
                       const Resampling& how) {
  const bool crops = how.coordinate == "tf_crop_and_resize";
  for (int64_t extent : out) {
    if (extent < 1 || extent > kMaxElements) return Status::Invalid("its result is out of range");
  }
  Value now = x;
  Shape low(out.size(), 0), high(out.size(), 0);
  for (size_t axis = 0; axis < out.size(); ++axis) {
    semantics::ResizeAxis resized;
    resized.in = x.shape[axis], resized.out = out[axis], resized.scale = scales[axis];
    resized.coordinate = how.coordinate;
    const bool whole = !crops || (how.begin[axis] == 0 && how.end[axis] == 1);
    if (whole && !resized.Changes()) continue;
    if (resized.out > kLongest) {
      return Status::Unsupported(
          fmt::format("axis {} of its result has {} elements, at most {} are supported", axis, resized.out, kLongest));
    }
    const auto end = static_cast<double>(resized.in - 1);
    std::vector<double> places;
    for (int64_t i = 0; i < resized.out; ++i) {
      const auto at = static_cast<double>(i);
      if (!crops) {
        places.push_back(resized.a() * at + resized.b());
        continue;
      }
      const double part = (how.end[axis] - how.begin[axis]) * end;
      const double from = resized.out == 1 ? part / 2 : at * part / static_cast<double>(resized.out - 1);
      const double place = from + how.begin[axis] * end;
      // Places ascend or descend: those that are inside stand together.
      if (place >= 0 && place <= end) {
        places.push_back(place);
      } else {
        ++(places.empty() ? low : high)[axis];
      }
    }
    if (places.empty()) {
      return Status::Unsupported(fmt::format("it reads outside of its input along axis {}", axis));
    }
    const double scale = how.antialias ? std::min(scales[axis], 1.0) : 1.0;
    HONE_ASSIGN_OR_RETURN(const Taps taps, TapsOf(places, resized.in, scale, how));
    HONE_ASSIGN_OR_RETURN(now, Weighed(c, now, axis, taps));
  }
  return Pad(c, now, low, high, "constant", how.extrapolation);
}

}  // namespace hone::onnx

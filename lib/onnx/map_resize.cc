// Resize and Upsample.
#include <algorithm>
#include <cmath>

#include "onnx/operators.h"
#include "onnx/values.h"
#include "semantics/indices.h"

namespace hone::onnx {
namespace {

// Resizing by weights that are computed here, for cases that the graph's own `resize` lacks: filters as wide as the
// reduction (antialias), and resizing a part of the input (tf_crop_and_resize). Along each axis, an element of the
// output is a sum of a few gathered elements of the input, each multiplied by its weight.
struct Resampling {
  std::string mode;        // "nearest", "linear", "cubic"
  std::string coordinate;  // the attribute's value
  std::string round;       // for nearest: the attribute's value
  double cubic = -0.75;
  bool exclude_outside = false;
  bool antialias = false;  // not for nearest
  // For tf_crop_and_resize: the part of each axis to take, where 0 is its first element and 1 its last; and the value
  // for places outside of the input.
  std::vector<double> begin, end;
  double extrapolation = 0;
};

// Limit of a filter's elements, each of which is an operator. Allows a cubic filter to shrink an axis 16 times.
constexpr int64_t kMostTaps = 64;
// Limit of an axis of the result: its places and weights are lists.
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

// `places` are positions in an input of `in` elements, at most about one element outside. `scale` is 1, or below 1 if
// the filter is wider than its elements by 1 / scale.
Result<Taps> TapsOf(const std::vector<double>& places, int64_t in, double scale, const Resampling& how) {
  const auto inside = [in](int64_t index) { return std::clamp<int64_t>(index, 0, in - 1); };
  if (how.mode == "nearest") {
    Taps taps{{Shape()}, {std::vector<double>(places.size(), 1)}};
    for (double place : places) taps.indices[0].push_back(inside(semantics::RoundedPlace(how.round, place)));
    return taps;
  }
  // The taps around a place between two elements go from `first` to 1 - first, counted from the element before it.
  const double first = std::floor((how.mode == "linear" ? -1 : -2) / scale) + 1;
  if (!(2 - 2 * first <= static_cast<double>(kMostTaps))) {
    return Status::Unsupported("its filter takes {} elements, more than {} are not supported", 2 - 2 * first,
                               kMostTaps);
  }
  const auto count = static_cast<size_t>(2 - 2 * first);
  Taps taps{std::vector<Shape>(count), std::vector<std::vector<double>>(count)};
  for (double place : places) {
    const double before = std::ceil(place) - 1;  // a place exactly on an element is one after the element before it
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
      HONE_ASSIGN_OR_RETURN(term, Binary(c, "mul", term, Floats(along, {weights.begin(), weights.end()})));
    }
    if (any) {
      HONE_ASSIGN_OR_RETURN(term, Binary(c, "add", sum, term));
    }
    sum = std::move(term);
    any = true;
  }
  return sum;
}

// Resizes x to the extents `out`. `scales` has one entry per axis. Returns kUnsupported if a filter has too many
// elements, or if the requested part is outside of the input.
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
      return Status::Unsupported("axis {} of its result has {} elements, at most {} are supported", axis, resized.out,
                                 kLongest);
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
      // Places ascend or descend, so those inside are contiguous.
      if (place >= 0 && place <= end) {
        places.push_back(place);
      } else {
        ++(places.empty() ? low : high)[axis];
      }
    }
    if (places.empty()) {
      return Status::Unsupported("it reads outside of its input along axis {}", axis);
    }
    const double scale = how.antialias ? std::min(scales[axis], 1.0) : 1.0;
    HONE_ASSIGN_OR_RETURN(const Taps taps, TapsOf(places, resized.in, scale, how));
    HONE_ASSIGN_OR_RETURN(now, Weighed(c, now, axis, taps));
  }
  return Pad(c, now, low, high, "constant", how.extrapolation);
}

Result<Value> Resized(NodeContext* c, const Value& x, const Shape& out, const std::vector<double>& scales,
                      std::vector<Attribute> attributes) {
  if (out == x.shape && All(scales, 1)) return x;
  for (int64_t extent : out) {
    if (extent < 1 || extent > (int64_t{1} << 30)) return Status::Invalid("its result is out of range");
  }
  attributes.insert(attributes.begin(), Numbers("out", out));
  attributes.push_back(semantics::MakeRealAttribute("scale", scales));
  return c->Emit("resize", {x}, std::move(attributes));
}

// The extents that result from scales, computed as in ONNX.
Result<Shape> Extents(const Shape& x, const std::vector<double>& scales) {
  if (scales.size() != x.size()) {
    return Status::Invalid("it has {} scales for {}", scales.size(), ShapeText(x));
  }
  Shape out;
  for (size_t i = 0; i < x.size(); ++i) {
    const double extent = std::floor(static_cast<double>(x[i]) * scales[i]);
    if (!(extent >= 1 && extent <= (1 << 30))) return Status::Invalid("its scales are out of range");
    out.push_back(static_cast<int64_t>(extent));
  }
  return out;
}

// The part of the input for tf_crop_and_resize: first all begins, then all ends.
Status ReadRegion(NodeContext* c, const Shape& axes, size_t rank, Resampling* how) {
  if (!c->Has(1)) return Status::Invalid("its roi is missing");
  HONE_ASSIGN_OR_RETURN(const auto region, c->Reals(1, "roi"));
  if (region.size() != 2 * axes.size()) return Status::Invalid("its roi has not two values an axis");
  how->begin.assign(rank, 0);
  how->end.assign(rank, 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    how->begin[static_cast<size_t>(axes[i])] = region[i];
    how->end[static_cast<size_t>(axes[i])] = region[i + axes.size()];
  }
  return Status();
}

// The checks of the graph's own resize, except for tf_crop_and_resize, which it does not know.
Status CheckModes(const Resampling& how) {
  const auto among = [](const std::string& word, const std::vector<std::string>& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (how.coordinate != "tf_crop_and_resize" && !among(how.coordinate, semantics::ResizeCoordinates())) {
    return Status::Invalid("its coordinate_transformation_mode `" + how.coordinate + "` is unknown");
  }
  if (!among(how.round, semantics::ResizeRounds())) {
    return Status::Invalid("its nearest_mode `" + how.round + "` is unknown");
  }
  return Status();
}

Status MapUpsample(NodeContext* c) {
  const std::string mode = c->String("mode", "nearest");
  if (mode != "nearest" && mode != "linear") return Status::Unsupported("its mode `" + mode + "` is not supported");
  const std::vector<float> attribute = c->FloatList("scales");
  std::vector<double> scales(attribute.begin(), attribute.end());
  if (c->Has(1)) {
    HONE_ASSIGN_OR_RETURN(scales, c->Reals(1, "scales"));
  }
  HONE_ASSIGN_OR_RETURN(const Shape out, Extents(c->ShapeOf(0), scales));
  std::vector<Attribute> attributes = {Word("mode", mode), Word("coordinate", "asymmetric")};
  if (mode == "nearest") attributes.push_back(Word("round", "floor"));
  return c->Set(Resized(c, c->In(0), out, scales, std::move(attributes)));
}

Status MapResize(NodeContext* c) {
  const Value& x = c->In(0);
  const size_t rank = x.shape.size();
  const bool old = c->opset() < 11;  // inputs X, scales; coordinates as in Upsample
  const std::string mode = c->String("mode", "nearest");
  const std::string coordinate = old ? "asymmetric" : c->String("coordinate_transformation_mode", "half_pixel");
  const std::string policy = c->String("keep_aspect_ratio_policy", "stretch");
  if (mode != "nearest" && mode != "linear" && mode != "cubic") {
    return Status::Invalid("its mode `" + mode + "` is not one of nearest, linear, cubic");
  }
  const bool crops = coordinate == "tf_crop_and_resize";
  if (crops && policy != "stretch") {
    return Status::Unsupported(
        "tf_crop_and_resize with another keep_aspect_ratio_policy than stretch is not supported");
  }
  const size_t scales_at = old ? 1 : 2, sizes_at = 3;
  HONE_ASSIGN_OR_RETURN(const Shape axes, NodeContext::Axes(c->IntList("axes", FirstAxes(rank)), rank));
  std::vector<double> scales(rank, 1);
  Shape out = x.shape;
  std::vector<double> given;
  if (c->Has(scales_at)) {
    HONE_ASSIGN_OR_RETURN(given, c->Reals(scales_at, "scales"));
  }
  if (!given.empty()) {
    if (crops) return Status::Unsupported("tf_crop_and_resize by scales is not supported, only to sizes");
    if (given.size() != axes.size()) return Status::Invalid("its scales are not as many as its axes");
    for (size_t i = 0; i < axes.size(); ++i) scales[static_cast<size_t>(axes[i])] = given[i];
    HONE_ASSIGN_OR_RETURN(out, Extents(x.shape, scales));
  } else {
    if (!c->Has(sizes_at)) return Status::Invalid("it has neither scales nor sizes");
    HONE_ASSIGN_OR_RETURN(const Shape sizes, c->Ints(sizes_at, "sizes"));
    if (sizes.size() != axes.size()) return Status::Invalid("its sizes are not as many as its axes");
    double common = policy == "not_larger" ? INFINITY : 0;
    for (size_t i = 0; i < axes.size(); ++i) {
      const auto axis = static_cast<size_t>(axes[i]);
      if (x.shape[axis] < 1 || sizes[i] < 1) return Status::Invalid("its sizes are out of range");
      out[axis] = sizes[i];
      scales[axis] = static_cast<double>(sizes[i]) / static_cast<double>(x.shape[axis]);
      common = policy == "not_larger" ? std::min(common, scales[axis]) : std::max(common, scales[axis]);
    }
    if (policy != "stretch") {
      if (policy != "not_larger" && policy != "not_smaller") {
        return Status::Invalid("its keep_aspect_ratio_policy `" + policy + "` is unknown");
      }
      for (int64_t axis : axes) {
        const auto at = static_cast<size_t>(axis);
        scales[at] = common;
        const double extent = std::round(common * static_cast<double>(x.shape[at]));
        if (!(extent <= (1 << 30))) return Status::Invalid("its sizes are out of range");
        out[at] = static_cast<int64_t>(extent);
      }
    }
  }
  const bool antialias = c->Int("antialias", 0) != 0 && mode != "nearest";
  if (crops || antialias) {
    Resampling how{.mode = mode, .coordinate = coordinate, .antialias = antialias};
    how.round = c->String("nearest_mode", "round_prefer_floor");
    how.cubic = c->Float("cubic_coeff_a", -0.75);
    how.exclude_outside = c->Int("exclude_outside", 0) != 0;
    how.extrapolation = c->Float("extrapolation_value", 0);
    if (crops) HONE_RETURN_IF_ERROR(ReadRegion(c, axes, rank, &how));
    HONE_RETURN_IF_ERROR(CheckModes(how));
    return c->Set(Resample(c, x, out, scales, how));
  }
  std::vector<Attribute> attributes = {Word("mode", mode), Word("coordinate", coordinate)};
  if (mode == "nearest") {
    attributes.push_back(Word("round", old ? "floor" : c->String("nearest_mode", "round_prefer_floor")));
  }
  if (mode == "cubic") {
    attributes.push_back(Real("cubic", c->Float("cubic_coeff_a", -0.75)));
  }
  if (c->Int("exclude_outside", 0) != 0) attributes.push_back(Numbers("exclude_outside", {1}));
  return c->Set(Resized(c, x, out, scales, std::move(attributes)));
}

}  // namespace

std::vector<OperatorEntry> ResizeOperators() {
  return {
      {"Resize", MapResize, 1, 4, 10},
      {"Upsample", MapUpsample, 1, 2, 7},
  };
}

}  // namespace hone::onnx

// Resize and Upsample.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "onnx/arith.h"
#include "onnx/mappers.h"
#include "onnx/moves.h"
#include "onnx/resample.h"
#include "semantics/resize.h"

namespace hone::onnx {
namespace {

Result<Value> Resized(NodeContext* c, const Value& x, const Shape& out, const std::vector<double>& scales,
                      std::vector<Attribute> attributes) {
  if (out == x.shape) {
    bool same = true;
    for (double scale : scales) same = same && scale == 1;
    if (same) return x;
  }
  for (int64_t extent : out) {
    if (extent < 1 || extent > (int64_t{1} << 30)) return Status::Invalid("its result is out of range");
  }
  attributes.insert(attributes.begin(), Numbers("out", out));
  attributes.push_back(RealList("scale", scales));
  return c->Emit("resize", {x}, std::move(attributes));
}

// The extents that scales make, counted as ONNX does.
Result<Shape> Extents(const Shape& x, const std::vector<double>& scales) {
  if (scales.size() != x.size()) {
    return Status::Invalid(fmt::format("it has {} scales for {}", scales.size(), ShapeText(x)));
  }
  Shape out;
  for (size_t i = 0; i < x.size(); ++i) {
    const double extent = std::floor(static_cast<double>(x[i]) * scales[i]);
    if (!(extent >= 1 && extent <= (1 << 30))) return Status::Invalid("its scales are out of range");
    out.push_back(static_cast<int64_t>(extent));
  }
  return out;
}

// The part of the input that tf_crop_and_resize takes: first all begins, then all ends.
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

// The checks of the graph's own resize, except tf_crop_and_resize, which it does not know.
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

}  // namespace

Status MapUpsample(NodeContext* c) {
  const std::string mode = c->String("mode", "nearest");
  if (mode != "nearest" && mode != "linear") return Status::Unsupported("its mode `" + mode + "` is not supported");
  std::vector<double> scales = c->FloatList("scales", {});
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
  const bool old = c->opset() < 11;  // X, scales; coordinates as Upsample had them
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
  Shape axes;
  for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  HONE_ASSIGN_OR_RETURN(axes, NodeContext::Axes(c->IntList("axes", axes), rank));
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

}  // namespace hone::onnx

// Resize and Upsample compared with formulas of one axis, and with examples of ONNX's specification.
#include "run_model.h"

namespace hone::onnx {
namespace {

// Resize of x to sizes or by scales, whichever is not empty.
ModelMaker Resize(const Shape& shape, const Shape& sizes, const std::vector<float>& scales, int64_t opset = 19) {
  ModelMaker m = sizes.empty() ? ModelMaker::Of("Resize", shape, opset, {"", "scales"})
                               : ModelMaker::Of("Resize", shape, opset, {"", "", "sizes"});
  if (sizes.empty()) m.Floats("scales", {static_cast<int64_t>(scales.size())}, scales);
  if (!sizes.empty()) m.Ints("sizes", sizes);
  return m;
}

// Rows of x [rows, in]; `at` gives each element of the result from a row and an index.
std::vector<double> Rows(const std::vector<float>& x, int64_t rows, int64_t out,
                         const std::function<double(const float*, int64_t)>& at) {
  const int64_t in = static_cast<int64_t>(x.size()) / rows;
  std::vector<double> wanted;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < out; ++i) wanted.push_back(at(x.data() + row * in, i));
  }
  return wanted;
}

TEST(Resize, NearestInItsCoordinates) {
  struct Row {
    const char *coordinate, *round;
    std::vector<size_t> from;  // of 4 elements to 7, worked out by hand
  };
  const Row rows[] = {
      {"asymmetric", "floor", {0, 0, 1, 1, 2, 2, 3}},  // 0 0.57 1.14 1.71 2.29 2.86 3.43
      {"asymmetric", "ceil", {0, 1, 2, 2, 3, 3, 3}},
      {"half_pixel", "floor", {0, 0, 0, 1, 2, 2, 3}},  // -0.21 0.36 0.93 1.5 2.07 2.64 3.21
      {"half_pixel", "round_prefer_floor", {0, 0, 1, 1, 2, 3, 3}},
      {"half_pixel", "round_prefer_ceil", {0, 0, 1, 2, 2, 3, 3}},
      {"align_corners", "round_prefer_floor", {0, 0, 1, 1, 2, 2, 3}},  // 0 0.5 1 1.5 2 2.5 3
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.coordinate) + " " + row.round);
    ModelMaker m = Resize({2, 4}, {2, 7}, {});
    m.FirstNode().Set("coordinate_transformation_mode", row.coordinate).Set("nearest_mode", row.round);
    const std::vector<float> x = SomeValues(8);
    const auto at = [&](const float* from, int64_t i) { return from[row.from[static_cast<size_t>(i)]]; };
    EXPECT_EQ(RunModel(m, {{"x", x}}).values.at("y"), Rows(x, 2, 7, at));
  }
}

// The filter of `mode`, linear or cubic, at a distance of `d` elements.
double Weight(const std::string& mode, double d) {
  if (mode == "linear") return std::max(1 - d, 0.0);
  const double a = -0.75;
  return d <= 1  ? (a + 2) * d * d * d - (a + 3) * d * d + 1
         : d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a
                 : 0.0;
}

// With antialiasing, the smaller the result, the wider the filter. Its weights sum to 1.
TEST(Resize, LinearAndCubicByTheirFilters) {
  struct Row {
    bool antialias, outside;
    float scale;
    int out;  // of 7 elements
  };
  const Row rows[] = {{false, true, 1.6f, 11}, {true, true, 0.6f, 4},   {true, true, 0.25f, 1}, {true, true, 1.5f, 10},
                      {true, false, 0.6f, 4},  {true, false, 0.25f, 1}, {true, false, 1.5f, 10}};
  for (const char* mode : {"linear", "cubic"}) {
    for (const auto& [antialias, outside, scale, out] : rows) {
      SCOPED_TRACE(std::string(mode) + " by " + std::to_string(scale) + (antialias ? ", antialias" : "") +
                   (outside ? "" : ", exclude_outside"));
      const double s = scale, narrow = antialias ? std::min(s, 1.0) : 1.0;
      ModelMaker m = Resize({3, 7}, {}, {1, scale});
      m.FirstNode().Set("mode", mode);
      if (antialias) m.FirstNode().Set("antialias", 1);
      if (!outside) m.FirstNode().Set("exclude_outside", 1);
      const std::vector<float> x = SomeValues(21);
      const auto at = [&, outside = outside](const float* from, int64_t i) {
        const double place = (static_cast<double>(i) + 0.5) / s - 0.5;
        double sum = 0, weights = 0;
        for (int k = -30; k < 40; ++k) {
          if (!outside && (k < 0 || k > 6)) continue;
          const double w = Weight(mode, std::fabs(place - k) * narrow);
          sum += w * from[std::clamp(k, 0, 6)], weights += w;
        }
        return sum / weights;
      };
      ExpectNear(RunModel(m, {{"x", x}}).values.at("y"), Rows(x, 3, out, at));
    }
  }
}

std::vector<float> OneTo16() { return {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}; }

// test_resize_downsample_scales_linear_antialias.
TEST(Resize, WithAntialiasingAsOnnxHasIt) {
  ModelMaker m = Resize({1, 1, 4, 4}, {}, {1, 1, 0.6f, 0.6f});
  m.FirstNode().Set("mode", "linear").Set("antialias", 1);
  ExpectNear(RunModel(m, {{"x", OneTo16()}}).values.at("y"), {2.875, 4.5, 9.375, 11});
}

ModelMaker Crop(const std::vector<float>& roi, const Shape& sizes) {
  ModelMaker m = Resize({1, 1, 4, 4}, sizes, {});
  m.Floats("roi", {static_cast<int64_t>(roi.size())}, roi);
  m.FirstNode()->set_input(1, "roi");
  m.FirstNode().Set("coordinate_transformation_mode", "tf_crop_and_resize");
  return m;
}

// test_resize_tf_crop_and_resize, ..._extrapolation_value, ..._axes_3_2.
TEST(Resize, OfAPartAsOnnxHasIt) {
  ModelMaker inside = Crop({0, 0, 0.4f, 0.6f, 1, 1, 0.6f, 0.8f}, {1, 1, 3, 3});
  inside.FirstNode().Set("mode", "linear");
  const std::vector<double> wanted = {7.6, 7.9, 8.2, 8.8, 9.1, 9.4, 10, 10.3, 10.6};
  ExpectNear(RunModel(inside, {{"x", OneTo16()}}).values.at("y"), wanted);
  ModelMaker beyond = Crop({0, 0, 0.4f, 0.6f, 1, 1, 1.2f, 1.7f}, {1, 1, 3, 3});
  beyond.FirstNode().Set("mode", "linear").Set("extrapolation_value", 10.0f);
  ExpectNear(RunModel(beyond, {{"x", OneTo16()}}).values.at("y"), {7.6, 10, 10, 12.4, 10, 10, 10, 10, 10});
  ModelMaker axes = Crop({0.6f, 0.4f, 0.8f, 0.6f}, {3, 3});
  axes.FirstNode().Set("mode", "linear").Set("axes", {3, 2});
  ExpectNear(RunModel(axes, {{"x", OneTo16()}}).values.at("y"), wanted);
}

TEST(Resize, OfAPartByNearest) {
  // Rows 3, 1.5 and 0, from the last to the first; columns 0, 1.5 and 3.
  ModelMaker m = Crop({0, 0, 1, 0, 1, 1, 0, 1}, {1, 1, 3, 3});
  ExpectNear(RunModel(m, {{"x", OneTo16()}}).values.at("y"), {13, 14, 16, 5, 6, 8, 1, 2, 4});
}

TEST(Resize, RefusesWhatNoFilterDoes) {
  const std::string node = "node `y_node` (Resize, opset 19): ";
  EXPECT_EQ(Refusal(Crop({0, 0, 2, 0, 1, 1, 3, 1}, {1, 1, 3, 3})), node + "it reads outside of its input along axis 2");
  EXPECT_EQ(Refusal(Crop({0, 0, 1, 1}, {1, 1, 3, 3})), node + "its roi has not two values an axis");
  EXPECT_EQ(Refusal(Crop({0, 0, 0, 0, 1, 1, 1, 1}, {1, 1, 3, 100000})),
            node + "axis 3 of its result has 100000 elements, at most 65536 are supported");
  ModelMaker wide = Resize({1, 5000}, {1, 10}, {});
  wide.FirstNode().Set("mode", "linear").Set("antialias", 1);
  EXPECT_EQ(Refusal(wide), node + "its filter takes 1000 elements, more than 64 are not supported");
}

TEST(Upsample, RepeatsOrInterpolates) {
  for (const char* mode : {"nearest", "linear"}) {
    SCOPED_TRACE(mode);
    ModelMaker m = ModelMaker::Of("Upsample", {3, 4}, 9, {"scales"});
    m.FirstNode().Set("mode", mode);
    m.Floats("scales", {2}, {1, 2.5f});
    const std::vector<float> x = SomeValues(12);
    const auto at = [&](const float* from, int64_t i) -> double {
      const double place = static_cast<double>(i) / 2.5;
      const int low = static_cast<int>(place);
      if (mode == std::string("nearest")) return from[low];
      const double t = place - low;
      return from[low] * (1 - t) + from[std::min(low + 1, 3)] * t;
    };
    ExpectNear(RunModel(m, {{"x", x}}).values.at("y"), Rows(x, 3, 10, at));
  }
}

}  // namespace
}  // namespace hone::onnx

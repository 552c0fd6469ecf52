// What moves elements about, beside plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "define/movement.h"
#include "run_model.h"

namespace hone::onnx {
namespace {

// As exporters write a max pool whose padding is of its own.
TEST(Pad, OfMinusInfinityBeforeAMaximum) {
  ModelMaker m;
  m.Input("x", {1, 2, 3, 4});
  m.Ints("pads", {0, 0, 1, 1, 0, 0, 1, 0});
  m.Floats("least", {}, {-INFINITY});
  m.Node("Pad", {"x", "pads", "least"}, "padded");
  ModelMaker::SetInts(&m.Node("MaxPool", {"padded"}, "y"), "kernel_shape", {3, 2});
  m.Output("y");
  std::vector<float> x;
  for (int i = 0; i < 24; ++i) x.push_back(static_cast<float>((i * 7) % 24) - 30);  // all of them below 0
  std::vector<double> wanted;
  for (int plane = 0; plane < 2; ++plane) {
    for (int h = 0; h < 3; ++h) {
      for (int w = 0; w < 4; ++w) {
        double most = -INFINITY;
        for (int ih = std::max(h - 1, 0); ih <= std::min(h + 1, 2); ++ih) {
          for (int iw = std::max(w - 1, 0); iw <= w; ++iw) {
            most = std::max(most, static_cast<double>(x[static_cast<size_t>((plane * 3 + ih) * 4 + iw)]));
          }
        }
        wanted.push_back(most);
      }
    }
  }
  const Ran ran = RunModel(m, {{"x", x}});
  EXPECT_EQ(ran.shapes.at("y"), (Shape{1, 2, 3, 4}));
  EXPECT_EQ(ran.values.at("y"), wanted);
}

// Indices without order: 17 * i * i modulo the extent of the axis.
Shape Places(int64_t count, int64_t extent) {
  Shape places;
  for (int64_t i = 0; i < count; ++i) places.push_back(17 * i * i % extent);
  return places;
}

// As the positions of relative attention are: a kernel takes 512 runs of indices.
TEST(Gather, OfManyIndicesWithoutOrderIsInParts) {
  constexpr int64_t kCount = 1400, kExtent = 1009;
  const Shape places = Places(kCount, kExtent);
  ASSERT_GT(define::IndexRuns(places).size(), define::kMostIndexRuns);
  ModelMaker m;
  m.Input("x", {2, kExtent, 3});
  pb::TensorProto& indices = m.Ints("places", places);
  indices.clear_dims();
  for (int64_t extent : {int64_t{70}, kCount / 70}) indices.add_dims(extent);
  ModelMaker::SetInt(&m.Node("Gather", {"x", "places"}, "y"), "axis", 1);
  m.Output("y");
  const std::vector<float> x = SomeValues(2 * kExtent * 3);
  std::vector<double> wanted;
  for (int64_t n = 0; n < 2; ++n) {
    for (int64_t place : places) {
      for (int64_t k = 0; k < 3; ++k) wanted.push_back(x[static_cast<size_t>((n * kExtent + place) * 3 + k)]);
    }
  }
  const Ran ran = RunModel(m, {{"x", x}});
  EXPECT_EQ(ran.shapes.at("y"), (Shape{2, 70, 20, 3}));
  EXPECT_EQ(ran.values.at("y"), wanted);
  EXPECT_EQ(ran.operators.substr(0, 20), "gather gather concat");
}

TEST(Gather, OfTooManyIndicesWithoutOrderIsRefused) {
  ModelMaker m;
  m.Input("x", {100003});
  m.Ints("places", Places(70000, 100003));
  m.Node("Gather", {"x", "places"}, "y");
  m.Output("y");
  EXPECT_EQ(Refusal(m), "node `y_node` (Gather, opset 13): its indices have no order: more than 32768 runs of them");
}

}  // namespace
}  // namespace hone::onnx

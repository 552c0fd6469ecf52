// What moves elements about, beside plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

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

}  // namespace
}  // namespace hone::onnx

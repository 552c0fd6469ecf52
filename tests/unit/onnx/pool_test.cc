// Pooling beside plain loops over its windows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "run_model.h"

namespace hone::onnx {
namespace {

// Of [1,1,h,w], windows of 3x2 with stride 2x3 that may reach behind the padding on the right and below, as long as
// they start inside.
std::vector<double> LpWindows(const std::vector<float>& x, int h, int w, int low, double p, int* out_h, int* out_w) {
  std::vector<double> wanted;
  *out_h = *out_w = 0;
  for (int top = -low; top < h; top += 2) {
    if (top > -low && top - 2 + 3 >= h + low) break;  // the one before it reached the end of the padding
    ++*out_h;
    *out_w = 0;
    for (int left = -low; left < w; left += 3) {
      if (left > -low && left - 3 + 2 >= w + low) break;
      ++*out_w;
      double sum = 0;
      for (int i = std::max(top, 0); i < std::min(top + 3, h); ++i) {
        for (int k = std::max(left, 0); k < std::min(left + 2, w); ++k) sum += std::pow(std::fabs(x[i * w + k]), p);
      }
      wanted.push_back(std::pow(sum, 1 / p));
    }
  }
  return wanted;
}

TEST(LpPool, RoundedUpSumsWhatIsThere) {
  for (int extent : {4, 5, 6, 7, 8}) {
    for (int low : {0, 1}) {
      for (int p : {1, 2, 3}) {
        SCOPED_TRACE(std::to_string(extent) + ", padding " + std::to_string(low) + ", p " + std::to_string(p));
        ModelMaker m(18);
        m.Input("x", {1, 1, extent, extent});
        pb::NodeProto& node = m.Node("LpPool", {"x"}, "y");
        ModelMaker::SetInts(&node, "kernel_shape", {3, 2});
        ModelMaker::SetInts(&node, "strides", {2, 3});
        ModelMaker::SetInts(&node, "pads", {low, low, low, low});
        ModelMaker::SetInt(&node, "ceil_mode", 1);
        ModelMaker::SetInt(&node, "p", p);
        m.Output("y");
        const std::vector<float> x = SomeValues(extent * extent);
        int h = 0, w = 0;
        const std::vector<double> wanted = LpWindows(x, extent, extent, low, p, &h, &w);
        const Ran ran = RunModel(m, {{"x", x}});
        EXPECT_EQ(ran.shapes.at("y"), (Shape{1, 1, h, w}));
        ExpectNear(ran.values.at("y"), wanted);
      }
    }
  }
}

}  // namespace
}  // namespace hone::onnx

// Operators of ONNX models, compared with their formulas: reductions, products of elements, transposed convolutions.
#include "run_model.h"

namespace hone::onnx {
namespace {

std::vector<float> Positive(int64_t count) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i * 7 % 11) * 0.25f + 0.5f);
  return values;
}

TEST(Reduce, OverSomeAxesAndAll) {
  using List = std::vector<double>;
  const auto sum = [](const List& x, const std::function<double(double)>& f) {
    double total = 0;
    for (double v : x) total += f(v);
    return total;
  };
  const std::map<std::string, std::function<double(const List&)>> formulas = {
      {"ReduceSum", [&](const List& x) { return sum(x, [](double v) { return v; }); }},
      {"ReduceMean", [&](const List& x) { return sum(x, [](double v) { return v; }) / static_cast<double>(x.size()); }},
      {"ReduceMax", [](const List& x) { return *std::max_element(x.begin(), x.end()); }},
      {"ReduceMin", [](const List& x) { return *std::min_element(x.begin(), x.end()); }},
      {"ReduceProd", [&](const List& x) { return std::exp(sum(x, [](double v) { return std::log(v); })); }},
      {"ReduceSumSquare", [&](const List& x) { return sum(x, [](double v) { return v * v; }); }},
      {"ReduceL1", [&](const List& x) { return sum(x, [](double v) { return std::fabs(v); }); }},
      {"ReduceL2", [&](const List& x) { return std::sqrt(sum(x, [](double v) { return v * v; })); }},
      {"ReduceLogSum", [&](const List& x) { return std::log(sum(x, [](double v) { return v; })); }},
      {"ReduceLogSumExp", [&](const List& x) { return std::log(sum(x, [](double v) { return std::exp(v); })); }}};
  const std::vector<float> x = Positive(24);  // [2,3,4]
  for (const auto& [op, formula] : formulas) {
    for (const int64_t keep : {0, 1}) {
      for (const int64_t opset : {11, 18}) {
        for (const bool all : {false, true}) {
          SCOPED_TRACE(op + " at opset " + std::to_string(opset) + (keep ? ", kept" : "") + (all ? ", all axes" : ""));
          ModelMaker m = ModelMaker::Of(op, {2, 3, 4}, opset);
          MadeNode node = m.FirstNode();
          if (!all && opset == 11) node.Set("axes", {0, -1});
          if (!all && opset == 18) {
            m.Ints("axes", {-1, 0});
            node->add_input("axes");
          }
          node.Set("keepdims", keep);
          std::vector<double> wanted;
          for (size_t row = 0; row < (all ? 1u : 3u); ++row) {
            List values;
            for (size_t i = 0; i < 24; ++i) {
              if (all || i / 4 % 3 == row) values.push_back(x[i]);
            }
            wanted.push_back(formula(values));
          }
          const Ran ran = RunModel(m, {{"x", x}});
          const Shape kept = all ? Shape{1, 1, 1} : Shape{1, 3, 1}, dropped = all ? Shape() : Shape{3};
          EXPECT_EQ(ran.shapes.at("y"), keep ? kept : dropped);
          const std::vector<double>& found = ran.values.at("y");
          ASSERT_EQ(found.size(), wanted.size());
          for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i] / wanted[i], 1, 1e-9);
        }
      }
    }
  }
}

// The first of equal values counts; infinities are ordinary values.
TEST(Hardmax, IsOneAtTheFirstOfTheGreatest) {
  const std::vector<float> x = {3, 3,        1,         -2,        -INFINITY, INFINITY,
                                5, INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY};
  ModelMaker rows = ModelMaker::Of("Hardmax", {3, 4});  // 3 rows of 4
  EXPECT_EQ(RunModel(rows, {{"x", x}}).values.at("y"), (std::vector<double>{1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0}));
  ModelMaker columns = ModelMaker::Of("Hardmax", {3, 4});
  columns.FirstNode().Set("axis", 0);
  EXPECT_EQ(RunModel(columns, {{"x", x}}).values.at("y"), (std::vector<double>{1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0}));
  ModelMaker flat = ModelMaker::Of("Hardmax", {1, 3, 4}, 11);  // over all axes from this one on together
  EXPECT_EQ(RunModel(flat, {{"x", x}}).values.at("y"), (std::vector<double>{0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}));
}

TEST(PRelu, HasASlopeForEachChannel) {
  ModelMaker m = ModelMaker::Of("PRelu", {2, 3, 2}, 13, {"slope"});
  m.Floats("slope", {3, 1}, {0.5, -1, 2});
  const std::vector<float> x = SomeValues(12);
  const double slope[] = {0.5, -1, 2};
  std::vector<double> wanted;
  for (size_t i = 0; i < 12; ++i) wanted.push_back(x[i] < 0 ? x[i] * slope[i / 2 % 3] : x[i]);
  EXPECT_EQ(RunModel(m, {{"x", x}}).values.at("y"), wanted);
}

TEST(Pow, TakesExponentsOfOtherTypesAndShapes) {
  ModelMaker whole = ModelMaker::Of("Pow", {4}, 13, {"three"});  // an exponent of integers
  whole.Ints("three", {3}).clear_dims();
  EXPECT_EQ(RunModel(whole, {{"x", std::vector<float>{-2, -0.5, 0, 3}}}).values.at("y"),
            (std::vector<double>{-8, -0.125, 0, 27}));
  ModelMaker both = ModelMaker::Of("Pow", {2, 1}, 13, {"e"});
  both.Input("e", {3});
  ExpectNear(RunModel(both, {{"x", std::vector<float>{4, 9}}, {"e", std::vector<float>{0, 0.5, 2}}}).values.at("y"),
             {1, 2, 16, 1, 3, 81});
}

// A transposed convolution by its definition: each element of x is spread over its window of the output.
struct Transposed {
  int channels, height, width;   // of x
  int each, kernel_h, kernel_w;  // output channels per group, extents of the window
  int groups, stride_h, stride_w;
  int top, left, out_h, out_w;  // padding to cut off before, and the output's extents
};

std::vector<double> Spread(const Transposed& t, const std::vector<float>& x, const std::vector<float>& weight) {
  std::vector<double> out(static_cast<size_t>(t.each * t.groups * t.out_h * t.out_w), 0);
  for (int c = 0; c < t.channels; ++c) {
    const int group = c / (t.channels / t.groups);
    for (int o = 0; o < t.each; ++o) {
      for (int h = 0; h < t.height * t.kernel_h; ++h) {
        for (int w = 0; w < t.width * t.kernel_w; ++w) {
          const int ih = h / t.kernel_h, kh = h % t.kernel_h, iw = w / t.kernel_w, kw = w % t.kernel_w;
          const int oh = ih * t.stride_h + kh - t.top, ow = iw * t.stride_w + kw - t.left;
          if (oh < 0 || oh >= t.out_h || ow < 0 || ow >= t.out_w) continue;
          const auto to = static_cast<size_t>(((group * t.each + o) * t.out_h + oh) * t.out_w + ow);
          out[to] += static_cast<double>(x[static_cast<size_t>((c * t.height + ih) * t.width + iw)]) *
                     weight[static_cast<size_t>(((c * t.each + o) * t.kernel_h + kh) * t.kernel_w + kw)];
        }
      }
    }
  }
  return out;
}

TEST(ConvTranspose, WithGroupsPaddingAndABias) {
  ModelMaker m = ModelMaker::Of("ConvTranspose", {1, 4, 3, 2}, 13, {"w", "b"});
  m.FirstNode().Set("group", 2).Set("strides", {2, 3}).Set("pads", {1, 0, 0, 1}).Set("output_padding", {1, 2});
  const std::vector<float> weight = SomeValues(4 * 3 * 2 * 3, 1), bias = SomeValues(6, 2), x = SomeValues(24);
  m.Floats("w", {4, 3, 2, 3}, weight);
  m.Floats("b", {6}, bias);
  std::vector<double> wanted = Spread({4, 3, 2, 3, 2, 3, 2, 2, 3, 1, 0, 6, 7}, x, weight);
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] += bias[i / 42];
  const Ran ran = RunModel(m, {{"x", x}});
  EXPECT_EQ(ran.shapes.at("y"), (Shape{1, 6, 6, 7}));
  EXPECT_EQ(ran.values.at("y"), wanted);
}

// 3 elements, a window of 3 and a stride of 2 give 7.
TEST(ConvTranspose, OfOneAxisToAGivenExtent) {
  struct Row {
    const char* auto_pad;
    int64_t output_shape;  // 0: not given
    int left, out;
  };
  for (const Row& row : {Row{"NOTSET", 0, 0, 7}, Row{"SAME_UPPER", 0, 0, 6}, Row{"SAME_LOWER", 0, 1, 6},
                         Row{"NOTSET", 8, 0, 8}, Row{"NOTSET", 5, 1, 5}}) {
    SCOPED_TRACE(std::string(row.auto_pad) + " to " + std::to_string(row.out));
    ModelMaker m = ModelMaker::Of("ConvTranspose", {1, 2, 3}, 13, {"w"});
    m.FirstNode().Set("strides", {2}).Set("auto_pad", row.auto_pad);
    if (row.output_shape > 0) m.FirstNode().Set("output_shape", {row.output_shape});
    const std::vector<float> weight = SomeValues(2 * 2 * 3, 1), x = SomeValues(6);
    m.Floats("w", {2, 2, 3}, weight);
    const Ran ran = RunModel(m, {{"x", x}});
    EXPECT_EQ(ran.shapes.at("y"), (Shape{1, 2, row.out}));
    EXPECT_EQ(ran.values.at("y"), Spread({2, 1, 3, 2, 1, 3, 1, 1, 2, 0, row.left, 1, row.out}, x, weight));
  }
}

TEST(ConvTranspose, OfTwoAxesToTheSameExtentTimesTheStride) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER"}) {
    SCOPED_TRACE(mode);
    ModelMaker m = ModelMaker::Of("ConvTranspose", {1, 1, 3, 3}, 13, {"w"});
    m.FirstNode().Set("strides", {2, 2}).Set("auto_pad", mode);
    const std::vector<float> weight = SomeValues(2 * 3 * 3, 1), x = SomeValues(9);
    m.Floats("w", {1, 2, 3, 3}, weight);
    const int low = std::string(mode) == "SAME_LOWER" ? 1 : 0;
    const Ran ran = RunModel(m, {{"x", x}});
    EXPECT_EQ(ran.shapes.at("y"), (Shape{1, 2, 6, 6}));
    EXPECT_EQ(ran.values.at("y"), Spread({1, 3, 3, 2, 3, 3, 1, 2, 2, low, low, 6, 6}, x, weight));
  }
}

}  // namespace
}  // namespace hone::onnx

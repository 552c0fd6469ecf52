// Operators that move elements, compared with plain loops.
#include "run_model.h"
#include "semantics/indices.h"

namespace hone::onnx {
namespace {

// As exporters write a max pool with its own padding.
TEST(Pad, OfMinusInfinityBeforeAMaximum) {
  ModelMaker m = ModelMaker::Parse(
      "x[1,2,3,4]; pads = {0, 0, 1, 1, 0, 0, 1, 0}; y = MaxPool(padded); padded = Pad(x, pads, least); -> y");
  m.Floats("least", {}, {-INFINITY});
  m.FirstNode().Set("kernel_shape", {3, 2});
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

// [2,5] along its second axis: element i of a row is the given one of x; -1 means the padding value.
TEST(Pad, InItsModes) {
  struct Row {
    const char* mode;
    Shape pads;  // before and behind
    std::vector<int> from;
  };
  const Row rows[] = {
      {"constant", {2, 1}, {-1, -1, 0, 1, 2, 3, 4, -1}},
      {"reflect", {2, 3}, {2, 1, 0, 1, 2, 3, 4, 3, 2, 1}},
      {"edge", {1, 3}, {0, 0, 1, 2, 3, 4, 4, 4, 4}},
      {"wrap", {2, 3}, {3, 4, 0, 1, 2, 3, 4, 0, 1, 2}},
      {"constant", {-1, 2}, {1, 2, 3, 4, -1, -1}},  // a negative one crops
      {"edge", {1, -2}, {0, 0, 1, 2}},
  };
  const std::vector<float> x = SomeValues(10);
  for (const Row& row : rows) {
    for (const bool old : {false, true}) {
      SCOPED_TRACE(std::string(row.mode) + " " + ShapeText(row.pads) + (old ? " at opset 10" : ""));
      ModelMaker m = ModelMaker::Of("Pad", {2, 5}, old ? 10 : 19);
      MadeNode node = m.FirstNode();
      if (old) {
        node.Set("pads", {0, row.pads[0], 0, row.pads[1]}).Set("value", 2.5f);
      } else {
        m.Ints("pads", row.pads);
        m.Floats("value", {}, {2.5f});
        m.Ints("axes", {-1});
        for (const char* name : {"pads", "value", "axes"}) node->add_input(name);
      }
      node.Set("mode", row.mode);
      std::vector<double> wanted;
      for (size_t n = 0; n < 2; ++n) {
        for (int from : row.from) wanted.push_back(from < 0 ? 2.5 : x[n * 5 + static_cast<size_t>(from)]);
      }
      EXPECT_EQ(RunModel(m, {{"x", x}}).values.at("y"), wanted);
    }
  }
}

// [2,7] along its second axis.
TEST(Split, ByListsAndByNumbers) {
  struct Row {
    int64_t opset;
    Shape given;    // as `split`; empty: equal parts
    Shape extents;  // of the parts
  };
  const std::vector<float> x = SomeValues(14);
  for (const Row& row : {Row{11, {1, 4, 2}, {1, 4, 2}}, Row{13, {3, 4}, {3, 4}}, Row{18, {}, {2, 2, 2, 1}},
                         Row{13, {}, {1, 1, 1, 1, 1, 1, 1}}}) {
    SCOPED_TRACE("opset " + std::to_string(row.opset) + " " + ShapeText(row.extents));
    ModelMaker m(row.opset);
    m.Input("x", {2, 7});
    MadeNode node = m.Node("Split", {"x"}, "y0");
    for (size_t i = 1; i < row.extents.size(); ++i) node->add_output("y" + std::to_string(i));
    node.Set("axis", -1);
    if (!row.given.empty() && row.opset < 13) node.Set("split", row.given);
    if (!row.given.empty() && row.opset >= 13) {
      m.Ints("parts", row.given);
      node->add_input("parts");
    }
    if (row.given.empty() && row.opset >= 18) {
      node.Set("num_outputs", static_cast<int64_t>(row.extents.size()));
    }
    for (size_t i = 0; i < row.extents.size(); ++i) m.Output("y" + std::to_string(i));
    const Ran ran = RunModel(m, {{"x", x}});
    size_t begin = 0;
    for (size_t i = 0; i < row.extents.size(); ++i) {
      const auto extent = static_cast<size_t>(row.extents[i]);
      std::vector<double> wanted;
      for (size_t n = 0; n < 2; ++n) {
        for (size_t k = 0; k < extent; ++k) wanted.push_back(x[n * 7 + begin + k]);
      }
      EXPECT_EQ(ran.values.at("y" + std::to_string(i)), wanted);
      begin += extent;
    }
  }
}

// Irregular indices: 17 * i * i modulo the extent of the axis.
Shape Places(int64_t count, int64_t extent) {
  Shape places;
  for (int64_t i = 0; i < count; ++i) places.push_back(17 * i * i % extent);
  return places;
}

// Like the positions of relative attention: a kernel accepts 512 runs of indices.
TEST(Gather, OfManyIndicesWithoutOrderIsInParts) {
  constexpr int64_t kCount = 1400, kExtent = 1009;
  const Shape places = Places(kCount, kExtent);
  ASSERT_GT(semantics::IndexRuns(places).size(), semantics::kMostIndexRuns);
  ModelMaker m = ModelMaker::Of("Gather", {2, kExtent, 3}, 13, {"places"});
  pb::TensorProto& indices = m.Ints("places", places);
  indices.clear_dims();
  for (int64_t extent : {int64_t{70}, kCount / 70}) indices.add_dims(extent);
  m.FirstNode().Set("axis", 1);
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
  ModelMaker m = ModelMaker::Of("Gather", {100003}, 13, {"places"});
  m.Ints("places", Places(70000, 100003));
  EXPECT_EQ(Refusal(m), "node `y_node` (Gather, opset 13): its indices have no order: more than 32768 runs of them");
}

// Exporters compute shapes and bounds from constants: moving integers must keep all 64 bits.
TEST(Integers, OfAShapeArePaddedTiledJoinedAndGathered) {
  // `padded` is [1, 4, 6]; `nothing` is how TensorFlow's cumulative sum along axis 0 is exported.
  ModelMaker m = ModelMaker::Parse(R"(
      x[24]; pair = {4, 6}; pads = {1, 0}; padded = Pad(pair, pads, one);
      zero = {0}; nothing = Tile(zero, zero); shape = Concat(nothing, padded) axis=0; box = Reshape(x, shape);
      bounds = {3, 9223372036854775807}; second = {1}; ends = Gather(bounds, second);
      axis = {2}; y = Slice(box, second, ends, axis); -> y)");
  m.Ints("one", {1}).clear_dims();
  const std::vector<float> x = SomeValues(24);
  std::vector<double> wanted;
  for (size_t i = 0; i < 24; ++i) {
    if (i % 6 > 0) wanted.push_back(x[i]);
  }
  const Ran ran = RunModel(m, {{"x", x}});
  EXPECT_EQ(ran.shapes.at("y"), (Shape{1, 4, 5}));
  EXPECT_EQ(ran.values.at("y"), wanted);
}

}  // namespace
}  // namespace hone::onnx

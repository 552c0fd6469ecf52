// Tests the graphs of imported models: constants are computed, all other nodes become operators. Comparison with
// onnxruntime (tests/onnx) and ONNX's backend tests (make check-onnx) check the results.
#include "onnx/import.h"

#include "common/expect.h"
#include "model_maker.h"
#include "onnx/operators.h"
#include "onnx/read_model.h"

namespace hone::onnx {
namespace {

ImportedModel Imported(const ModelMaker& m, const InputShapes& shapes = {}) {
  return Must(Import(*ParseModel(m.Bytes(), "m.onnx", false), "m", {.shapes = shapes}));
}

std::string Nodes(const ImportedModel& model) {
  std::string text;
  for (const graph::Node& node : model.graph.nodes) text += node.name + " = " + node.workload.Text() + "\n";
  return text;
}

TEST(Import, Convolution) {
  ModelMaker m = ModelMaker::Of("Conv", {1, 2, 5, 5}, 13, {"w", "b"});
  m.FirstNode().Set("group", 2).Set("strides", {2, 2}).Set("pads", {1, 0, 1, 2});
  m.Floats("w", {4, 1, 3, 3}, std::vector<float>(36, 0.5f));
  m.Floats("b", {4}, {1, 2, 3, 4});
  const ImportedModel model = Imported(m);
  EXPECT_EQ(Nodes(model), "y = conv2d(f32[1,2,5,5], f32[4,1,3,3], stride=2x2, pad=1,0,1,2, groups=2) + bias\n");
  EXPECT_EQ(model.graph.nodes[0].inputs, (std::vector<std::string>{"x", "w", "b"}));
  EXPECT_EQ(model.values.at("b"), (std::vector<float>{1, 2, 3, 4}));
}

TEST(Import, LayerNormStatistics) {
  ModelMaker m(17);
  m.Input("x", {2, 3, 4});
  m.Floats("scale", {4}, {1, 2, 3, 4});
  MadeNode node = m.Node("LayerNormalization", {"x", "scale"}, "y");
  node->add_output("mean");
  node->add_output("inverse");
  for (const char* name : {"y", "mean", "inverse"}) m.Output(name);
  const ImportedModel model = Imported(m);
  const std::string text = Nodes(model);
  EXPECT_THAT(text, HasSubstr("mean = reduce_mean(f32[2,3,4], axes=2, keep=1)\n"));
  EXPECT_THAT(text, HasSubstr("inverse = reciprocal(f32[2,3,1]"));
  EXPECT_THAT(text, HasSubstr("y = layer_norm(f32[2,3,4], f32[4]"));
}

TEST(Import, AutoPad) {
  // 6 -> 3 with a kernel of 3 and stride 2 takes one row of padding: below, or above.
  for (auto [mode, pads] : {std::pair("SAME_UPPER", "pad=0,0,1,1"), std::pair("SAME_LOWER", "pad=1,1,0,0")}) {
    ModelMaker m = ModelMaker::Of("MaxPool", {1, 1, 6, 6});
    m.FirstNode().Set("kernel_shape", {3, 3}).Set("strides", {2, 2}).Set("auto_pad", mode);
    EXPECT_THAT(Nodes(Imported(m)), HasSubstr(pads)) << mode;
  }
}

// Flatten as exporters write it for an open batch: everything but the reshape is constant, once the input is known.
TEST(Import, ShapeArithmeticIsFolded) {
  const ModelMaker m = ModelMaker::Parse(R"(
      x[-1,3,2,2]; zero = {0}; one = {1}; start = {1}; end = {9223372036854775807};
      shape = Shape(x); batch = Gather(shape, zero); tail = Slice(shape, start, end); inner = ReduceProd(tail) keepdims=1;
      batch1 = Mul(batch, one); target = Concat(batch1, inner) axis=0; y = Reshape(x, target); -> y)");
  const ImportedModel model = Imported(m, {{"x", {5, 3, 2, 2}}});
  ASSERT_EQ(model.graph.nodes.size(), 1u);
  EXPECT_EQ(model.graph.nodes[0].name, "y");
  EXPECT_EQ(model.graph.nodes[0].output.shape, (std::vector<int64_t>{5, 12}));
  EXPECT_TRUE(model.graph.parameters.empty());
}

TEST(Import, GemmWithConstantMatrixIsDense) {
  ModelMaker m = ModelMaker::Of("Gemm", {1, 2}, 13, {"w", "b"});
  m.Floats("w", {2, 3}, {1, 2, 3, 4, 5, 6});
  m.Floats("b", {3}, {1, 2, 3});
  const ImportedModel model = Imported(m);
  EXPECT_EQ(Nodes(model), "y = dense(f32[1,2], f32[3,2]) + bias\n");
  // Transposed: a row a unit.
  EXPECT_EQ(model.values.at(model.graph.nodes[0].inputs[1]).Doubles(), (std::vector<double>{1, 4, 2, 5, 3, 6}));
}

TEST(Import, IdentitiesVanish) {
  const ImportedModel model =
      Imported(ModelMaker::Parse("x[2,3]; a = Identity(x); b = Dropout(a); c = Relu(b); y = Identity(c); -> y"));
  // The last one keeps the output's name until DropIdentity hands it to the relu.
  EXPECT_EQ(Nodes(model), "c = relu(f32[2,3])\ny = identity(f32[2,3])\n");
}

TEST(Import, ADropoutThatTrainsDropsNothingWithARatioOfZero) {
  for (const float ratio : {0.0f, 0.25f}) {
    ModelMaker m =
        ModelMaker::Parse("x[2,3]; training = {1}; a = Relu(x); b = Dropout(a, ratio, training); y = Relu(b); -> y");
    m.Floats("ratio", {}, {ratio});
    if (ratio == 0) {
      EXPECT_EQ(Nodes(Imported(m)), "a = relu(f32[2,3])\ny = relu(f32[2,3])\n");
      continue;
    }
    EXPECT_EQ(Import(*ParseModel(m.Bytes(), "m.onnx", false), "m", {}).status().message(),
              "node `b_node` (Dropout, opset 13): training_mode is not supported: its result is random");
  }
}

TEST(Import, NodesThatNoOutputNeedsAreNotRead) {
  const ModelMaker m = ModelMaker::Parse("x[2]; y = Relu(x); z = StringNormalizer(x); -> y");
  EXPECT_EQ(Nodes(Imported(m)), "y = relu(f32[2])\n");
}

TEST(Import, EqualModelsGiveEqualGraphs) {
  ModelMaker m = ModelMaker::Parse("x[1,4]; a = Mul(x, s); y = Clip(a, , s); -> y");
  m.Floats("s", {}, {2});
  EXPECT_EQ(Imported(m).graph, Imported(m).graph);
}

TEST(Operators, AreSortedAndFound) {
  const auto& table = Operators();
  for (size_t i = 0; i < table.size(); ++i) {
    if (i > 0) {
      EXPECT_LT(std::string(table[i - 1].name), table[i].name);
    }
    EXPECT_EQ(FindOperatorEntry(table[i].name), &table[i]);
    EXPECT_GE(table[i].first_opset, kFirstOpset);
    EXPECT_LE(table[i].first_opset, kLastOpset);
  }
  EXPECT_EQ(FindOperatorEntry("Nonsense"), nullptr);
}

}  // namespace
}  // namespace hone::onnx

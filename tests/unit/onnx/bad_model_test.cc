// Invalid models: each gives one line that says what and where.
#include <filesystem>

#include "base/file.h"
#include "common/expect.h"
#include "model_maker.h"
#include "onnx/import.h"
#include "onnx/read_model.h"

namespace hone::onnx {
namespace {

// x[1,2,4,4] -> Relu -> y.
ModelMaker Small(int64_t opset = 13) { return ModelMaker::Of("Relu", {1, 2, 4, 4}, opset); }

Status Load(const std::string& bytes, const InputShapes& shapes = {}) {
  const auto model = ParseModel(bytes, "m.onnx", false);
  return model.ok() ? Import(*model, "m", {.shapes = shapes}).status() : model.status();
}

Status Load(const ModelMaker& m, const InputShapes& shapes = {}) { return Load(m.Bytes(), shapes); }

std::string Message(const ModelMaker& m, const InputShapes& shapes = {}) { return Load(m, shapes).message(); }

TEST(BadModel, TheSmallOneIsFine) { Must(Load(Small())); }

TEST(BadModel, CutShortAnywhere) {
  ModelMaker m = Small();
  m.Floats("w", {4}, {1, 2, 3, 4});
  const std::string bytes = m.Bytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    // Some prefixes are models themselves, for example without an output. None crashes, and a message is one line.
    EXPECT_THAT(Load(bytes.substr(0, size)).message(), Not(HasSubstr("\n"))) << size;
  }
  EXPECT_EQ(Load(bytes.substr(0, bytes.size() - 9)).message(),
            "m.onnx: not an ONNX model, or cut short or damaged: export or download it again");
  EXPECT_EQ(Load(std::string()).message(), "m.onnx: the file is empty");
  EXPECT_FALSE(Load("text, not protobuf").ok());
}

TEST(BadModel, Cycle) {
  EXPECT_EQ(Message(ModelMaker::Parse("x[2,2]; a = Add(x, b); b = Relu(a); -> b")),
            "the nodes form a cycle: `b_node` <- `a_node` <- `b_node`");
}

TEST(BadModel, NodesOutOfOrderAreSorted) {
  EXPECT_TRUE(Load(ModelMaker::Parse("x[2,2]; y = Relu(a); a = Sigmoid(x); -> y")).ok());
}

TEST(BadModel, MissingInitialiser) {
  ModelMaker m = ModelMaker::Of("Conv", {1, 2, 4, 4}, 13, {"weight"});
  m.Floats("weights", {1, 2, 1, 1}, {1, 2});
  EXPECT_EQ(Message(m),
            "node `y_node` (Conv, opset 13): reads `weight`, which is not an input, an initialiser or a node's output; "
            "did you mean `weights`?");
}

TEST(BadModel, InitialiserOfAnotherSize) {
  ModelMaker m = Small();
  m.Floats("w", {2, 3}, {1, 2, 3});
  EXPECT_EQ(Message(m), "m.onnx: initialiser `w`: has 3 values, but its shape 6 elements");
}

constexpr const char* kTooLarge = " is too large: at most 536870912 elements";

// A billion is below 2^30: the limit is below both.
TEST(BadModel, ABillionElementsAreRefusedBeforeTheyAreThere) {
  ModelMaker initialiser = Small();
  initialiser.Floats("w", {1000000, 1000}, {1});
  EXPECT_EQ(Message(initialiser), std::string("m.onnx: initialiser `w`: [1000000,1000]") + kTooLarge);
  ModelMaker overflow = Small();
  overflow.Floats("w", {int64_t{1} << 40, int64_t{1} << 40, 0}, {});
  EXPECT_FALSE(Load(overflow).ok());
  // Also for a type that nothing reads.
  ModelMaker text = Small();
  text.Floats("w", {1000000, 1000}, {}).set_data_type(pb::TensorProto::STRING);
  EXPECT_EQ(Message(text), std::string("m.onnx: initialiser `w`: [1000000,1000]") + kTooLarge);
  ModelMaker attribute = ModelMaker::Parse("x[2]; y = Add(x, c); -> y");
  auto* value = attribute.Node("Constant", {}, "c")->add_attribute();
  value->set_name("value");
  value->set_type(pb::AttributeProto::TENSOR);
  value->mutable_t()->set_data_type(pb::TensorProto::FLOAT);
  for (int64_t extent : {40000, 25000}) value->mutable_t()->add_dims(extent);
  EXPECT_EQ(Message(attribute),
            std::string("m.onnx: node `c_node` (Constant): attribute `value`: [40000,25000]") + kTooLarge);
}

TEST(BadModel, InputsOfABillionElements) {
  for (const std::vector<int64_t>& shape : {Shape{100000, 10000}, Shape{32768, 16385}}) {
    ModelMaker m = ModelMaker::Of("Relu", shape);
    EXPECT_EQ(Message(m), "input `x`: " + ShapeText(shape) + kTooLarge);
  }
  // The largest there is, and shapes of the command line.
  ModelMaker open = ModelMaker::Of("Relu", {-1, -1});
  EXPECT_TRUE(Load(open, {{"x", {32768, 16384}}}).ok());
  EXPECT_EQ(Message(open, *ParseInputShapes({"x=1000,1000000"})), std::string("input `x`: [1000,1000000]") + kTooLarge);
  EXPECT_EQ(Message(open, *ParseInputShapes({"x=4611686018427387904,4611686018427387904"})),
            std::string("input `x`: [4611686018427387904,4611686018427387904]") + kTooLarge);
}

// A node whose result is too large, and what is said of it.
struct Large {
  const char* op;
  std::vector<std::string> inputs;
  std::string message;
};

// Computed while importing: rejected by its shape.
TEST(BadModel, ConstantsOfABillionElements) {
  const Large rows[] = {
      {"ConstantOfShape", {"pair"}, std::string("[100000,10000]") + kTooLarge},
      {"Expand", {"one", "pair"}, std::string("[100000,10000]") + kTooLarge},
      {"Tile", {"thousand", "times"}, "concat: [1,1000,4096000] has more than 2^29 elements"},
      {"Range", {"zero", "billion", "step"}, "its result is too large: at most 536870912 elements"},
      {"Add", {"column", "row"}, std::string("[40000,40000]") + kTooLarge},
      {"Equal", {"column", "row"}, std::string("[40000,40000]") + kTooLarge},
      {"MatMul", {"column", "row"}, "matmul: [40000,40000] has more than 2^29 elements"},
      {"Gather", {"row", "many"}, std::string("[40000,40000]") + kTooLarge},
      {"Pad", {"one", "pads"}, std::string("[16777217,4097]") + kTooLarge},
  };
  for (const Large& row : rows) {
    SCOPED_TRACE(row.op);
    ModelMaker m = ModelMaker::Parse(
        "x[2]; y = Sum(x, big); -> y; pair = {100000, 10000}; times = {1, 1000, 4096}; pads = {0, 0, 16777216, 4096}");
    m.Floats("one", {1, 1}, {1});
    m.Floats("thousand", {1, 1, 1000}, std::vector<float>(1000, 1));
    for (auto [name, value] : {std::pair("zero", 0.0f), std::pair("billion", 1e9f), std::pair("step", 1.0f)}) {
      m.Floats(name, {}, {value});
    }
    m.Floats("column", {40000, 1}, std::vector<float>(40000, 1));
    m.Floats("row", {1, 40000}, std::vector<float>(40000, 1));
    m.Ints("many", std::vector<int64_t>(40000, 0));
    m.Node(row.op, row.inputs, "big");
    EXPECT_EQ(Message(m), std::string("node `big_node` (") + row.op + ", opset 13): " + row.message);
  }
}

// Shapes that follow from the inputs: rejected while importing, long before a buffer is allocated.
TEST(BadModel, ActivationsOfABillionElements) {
  const Large rows[] = {
      {"Expand", {"x", "pair"}, std::string("[40000,40000]") + kTooLarge},
      {"Tile", {"wide", "times"}, "concat: [40000,20000] has more than 2^29 elements"},
      {"Concat", {"wide", "wide"}, "concat: [40000,20000] has more than 2^29 elements"},
      {"MatMul", {"x", "z"}, "matmul: [40000,40000] has more than 2^29 elements"},
      {"Add", {"x", "z"}, "add: [40000,40000] has more than 2^29 elements"},
      {"Pad", {"x", "pads"}, std::string("[40000,40000]") + kTooLarge},
      {"Resize", {"x", "", "", "sizes"}, "resize: [40000,40000] has more than 2^29 elements"},
  };
  for (const Large& row : rows) {
    SCOPED_TRACE(row.op);
    ModelMaker m = ModelMaker::Parse(
        "x[40000,1]; z[1,40000]; wide[40000,10000]; pair = {40000, 40000}; sizes = {40000, 40000}; times = {1, 2};"
        "pads = {0, 0, 0, 39999}; -> y");
    MadeNode node = m.Node(row.op, row.inputs, "y");
    if (row.op == std::string("Concat")) node.Set("axis", 1);
    EXPECT_EQ(Message(m), std::string("node `y_node` (") + row.op + ", opset 13): " + row.message);
  }
}

TEST(BadModel, OpenDimensions) {
  ModelMaker m = ModelMaker::Of("Relu", {-1, 2, 4, 4});
  EXPECT_EQ(Message(m),
            "input `x` has open dimensions, [N,2,4,4]: fix them with `[input] x = [..]` in the pipeline file, or "
            "--input x=..");
  EXPECT_TRUE(Load(m, {{"x", {3, 2, 4, 4}}}).ok());
  EXPECT_EQ(Message(m, {{"x", {3, 4}}}), "input `x` has 4 dimensions, [N,2,4,4], but its given shape [3,4] has 2");
  EXPECT_EQ(Message(m, {{"x", {0, 2, 4, 4}}}), "input `x`: [0,2,4,4] is empty");
  EXPECT_EQ(Message(m, {{"x", {-2, 2, 4, 4}}}), "input `x`: [-2,2,4,4] has an extent below 1");
  EXPECT_EQ(Message(m, {{"x", {3, 2, 4, 4}}, {"z", {1}}}), "no input `z` to give a shape; known: x");
  EXPECT_EQ(Message(m, {{"z", {3, 2, 4, 4}}}), "no input `z` to give a shape; known: x") << "not that x is open";
}

TEST(BadModel, Opsets) {
  EXPECT_TRUE(Load(Small(7)).ok());
  EXPECT_TRUE(Load(Small(21)).ok());
  EXPECT_THAT(Message(Small(6)), HasSubstr("opset 6 is older than 7"));
  EXPECT_THAT(Message(Small(22)), HasSubstr("opset 22 is newer than 21"));
  ModelMaker without = Small();
  without.model.clear_opset_import();
  EXPECT_EQ(Message(without), "it does not say which opset of ONNX it uses");
}

TEST(BadModel, UnknownDomainAndOperator) {
  ModelMaker domain = Small();
  domain.FirstNode()->set_domain("com.example");
  EXPECT_EQ(Message(domain).substr(0, 53), "node `y_node` (com.example::Relu, opset unknown): thi");
  ModelMaker op = Small();
  op.FirstNode()->set_op_type("Unique");
  EXPECT_EQ(Message(op), "node `y_node` (Unique, opset 13): the operator is not supported");
  ModelMaker young = Small(13);
  young.FirstNode()->set_op_type("Gelu");
  EXPECT_EQ(Message(young), "node `y_node` (Gelu, opset 13): the operator is there only since opset 20");
}

TEST(BadModel, ControlFlowAndQuantisation) {
  for (const char* op : {"If", "Loop", "Scan"}) {
    ModelMaker m = Small();
    m.FirstNode()->set_op_type(op);
    EXPECT_THAT(Message(m), HasSubstr("control flow (subgraphs) is not supported")) << op;
  }
  ModelMaker quantised = Small();
  quantised.FirstNode()->set_op_type("DynamicQuantizeLinear");
  EXPECT_THAT(Message(quantised), HasSubstr("quantise the model statically, with calibration data"));
}

TEST(BadModel, SubgraphsNestedAsDeepAsFilesGo) {
  ModelMaker m = Small();
  pb::GraphProto* graph = m.model.mutable_graph();
  for (int depth = 0; depth < 200; ++depth) {
    auto* attribute = graph->add_node()->add_attribute();
    attribute->set_type(pb::AttributeProto::GRAPH);
    graph = attribute->mutable_g();
  }
  EXPECT_FALSE(Load(m).ok());
}

TEST(BadModel, WrongTypes) {
  ModelMaker input;
  input.Input("x", {2, 2}, pb::TensorProto::INT64);
  input.Node("Relu", {"x"}, "y");
  input.Output("y");
  EXPECT_EQ(Message(input), "input `x` is int64; inputs of float32, uint8, int8 and int32 are supported");
  ModelMaker constant = ModelMaker::Of("Add", {2}, 13, {"i"});
  constant.Ints("i", {1, 2});
  EXPECT_THAT(Message(constant), HasSubstr("`i` is int64; f32 is needed here"));
  ModelMaker attribute = ModelMaker::Of("Softmax", {2, 2});
  attribute.FirstNode().Set("axis", {1});
  EXPECT_EQ(Message(attribute), "node `y_node` (Softmax, opset 13): its attribute `axis` is of a wrong type");
}

TEST(BadModel, NumbersThatDoNotFit) {
  ModelMaker axis = ModelMaker::Of("Softmax", {2, 2});
  axis.FirstNode().Set("axis", 7);
  EXPECT_EQ(Message(axis), "node `y_node` (Softmax, opset 13): a tensor of 2 dimensions has no axis 7");
  ModelMaker pads = ModelMaker::Of("MaxPool", {1, 1, 4, 4});
  pads.FirstNode().Set("kernel_shape", {2, 2}).Set("pads", {1, 1});
  EXPECT_EQ(Message(pads), "node `y_node` (MaxPool, opset 13): its pads must be 4 numbers, has 2");
  EXPECT_EQ(Message(ModelMaker::Parse("x[2]; a = {1}; b = {0}; c = Div(a, b); y = Reshape(x, c); -> y")),
            "node `c_node` (Div, opset 13): it divides an integer by zero");
}

TEST(BadModel, OutputsThatNothingComputes) {
  ModelMaker missing = Small();
  missing.Output("z");
  EXPECT_EQ(Message(missing).substr(0, 19), "output `z`: reads `");
  ModelMaker constant = Small();
  constant.Floats("c", {1}, {1});
  constant.Output("c");
  EXPECT_EQ(Message(constant), "output `c` is a constant, which no input changes; remove it from the outputs");
  EXPECT_EQ(Message(ModelMaker::Parse("x[1]")), "the model has no output");
}

class ExternalDataFile : public ::testing::Test {
 protected:
  // y = x + w, where the bytes of w are in `location`.
  Status Load(const std::string& location, const std::string& length = "8") {
    ModelMaker m = ModelMaker::Of("Add", {2}, 13, {"w"});
    PutOutside(&m.Floats("w", {2}, {}), location, "4", length);
    const std::string path = dir_.Join("models/m.onnx");
    EXPECT_TRUE(WriteFileAtomic(path, m.Bytes()).ok());
    auto model = ReadOnnx(path, {});
    if (!model.ok()) return model.status();
    EXPECT_EQ(model->values.at("w").Doubles(), (std::vector<double>{2, 3}));
    return model.status();
  }

  void SetUp() override {
    ASSERT_TRUE(MakeDirs(dir_.Join("models/sub")).ok());
    const float values[] = {1, 2, 3};
    const std::string_view bytes(reinterpret_cast<const char*>(values), sizeof(values));
    for (const char* name : {"models/w.bin", "models/sub/w.bin", "secret.bin"}) {
      ASSERT_TRUE(WriteFileAtomic(dir_.Join(name), bytes).ok());
    }
    std::filesystem::create_symlink(dir_.Join("secret.bin"), dir_.Join("models/link.bin"));
  }

  TempDir dir_ = std::move(*TempDir::Create());
};

TEST_F(ExternalDataFile, IsReadInsideTheFolder) {
  EXPECT_TRUE(Load("w.bin").ok());
  EXPECT_TRUE(Load("sub/w.bin").ok());
}

TEST_F(ExternalDataFile, IsRefusedOutside) {
  for (const std::string& location : {std::string("../secret.bin"), std::string("sub/../../secret.bin"),
                                      dir_.Join("secret.bin"), std::string("link.bin")}) {
    EXPECT_THAT(Load(location).message(), HasSubstr("lies outside the folder of the model"));
  }
}

TEST_F(ExternalDataFile, IsAbsentOrTooShort) {
  EXPECT_EQ(Load("gone.bin").kind(), StatusKind::kNotFound);
  EXPECT_THAT(Load("w.bin", "12").message(), HasSubstr("is too short"));
  EXPECT_THAT(Load("w.bin", "4").message(), HasSubstr("has 4 bytes, but its 2 elements take 8"));
  EXPECT_THAT(Load("w.bin", "-1").message(), HasSubstr("is not a number of bytes"));
  EXPECT_THAT(Load("").message(), HasSubstr("without the name of its file"));
}

TEST(InputFlags, Forms) {
  EXPECT_EQ(*ParseInputShapes({"x=1,3,224,224", "a=b=2"}), (InputShapes{{"x", {1, 3, 224, 224}}, {"a=b", {2}}}));
  for (const char* wrong : {"x", "=1", "x=", "x=1,", "x=0", "x=-1", "x=a"})
    EXPECT_FALSE(ParseInputShapes({wrong}).ok());
  EXPECT_FALSE(ParseInputShapes({"x=1", "x=2"}).ok());
}

}  // namespace
}  // namespace hone::onnx

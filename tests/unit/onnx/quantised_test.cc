// Quantised operators: values worked out by hand, the workloads that they become, and refusals.
#include <cmath>

#include "run_model.h"

namespace hone::onnx {
namespace {

// A model with constants of bytes, and scales.
struct QuantisedModel : ModelMaker {
  explicit QuantisedModel(int64_t opset = 13) : ModelMaker(opset) {}
  void Integers(const std::string& name, const std::vector<int64_t>& shape, const std::vector<int>& values,
                int type = pb::TensorProto::UINT8) {
    pb::TensorProto& tensor = *model.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    for (int64_t extent : shape) tensor.add_dims(extent);
    for (int value : values) tensor.add_int32_data(value);
  }
  // "NAME" and "NAME0": a scale and a zero point.
  void Scale(const std::string& name, float scale, int zero, int type = pb::TensorProto::UINT8) {
    Floats(name, {}, {scale});
    Integers(name + "0", {}, {zero}, type);
  }
};

constexpr int kI8 = pb::TensorProto::INT8, kU8 = pb::TensorProto::UINT8, kI32 = pb::TensorProto::INT32;

TensorData U8(const Shape& shape, const std::vector<double>& values) { return {{DType::UInt(8), shape}, values}; }
TensorData F32(const Shape& shape, const std::vector<double>& values) { return {{DType::Float(32), shape}, values}; }

TEST(Quantised, ThereAndBack) {
  QuantisedModel m;
  m.Input("x", {1, 6});
  m.Scale("s", 0.5f, 10);
  m.Node("QuantizeLinear", {"x", "s", "s0"}, "q");
  m.Node("DequantizeLinear", {"q", "s", "s0"}, "y");
  m.Output("q");
  m.Output("y");
  const Ran ran = RunModel(m, {{"x", F32({1, 6}, {0.25, 0.75, -0.25, 1000, -1000, 3})}});
  EXPECT_EQ(ran.values.at("q"), std::vector<double>({10, 12, 10, 255, 0, 16}));  // ties to even
  EXPECT_EQ(ran.values.at("y"), std::vector<double>({0, 1, 0, 122.5, -5, 3}));
}

TEST(Quantised, ConstantsAreDequantisedAlongAnAxis) {
  QuantisedModel m;
  m.Input("x", {2, 2});
  m.Integers("w", {2, 2}, {1, -2, 3, -4}, kI8);
  m.Floats("s", {2}, {0.5f, 2});
  m.Integers("z", {2}, {1, 0}, kI8);
  m.Node("DequantizeLinear", {"w", "s", "z"}, "f").Set("axis", 0);
  m.Node("Add", {"x", "f"}, "y");
  m.Output("y");
  EXPECT_EQ(RunModel(m, {{"x", F32({2, 2}, {0, 0, 0, 0})}}).values.at("y"), std::vector<double>({0, -1.5, 6, -8}));
}

std::string Texts(const ModelMaker& m) {
  std::string texts;
  const ImportedModel imported = Must(ImportBytes(m));
  for (const graph::Node& node : imported.graph.nodes) texts += node.name + " = " + node.workload.Text() + "\n";
  return texts;
}

// Pairs around operators of floats, with the weight's scales along its axis of output channels.
TEST(Quantised, PairsAroundALayerMakeItOneOfIntegers) {
  for (const int axis : {1, 0}) {
    QuantisedModel m;
    m.Input("x", {1, 3}, kU8);
    m.Scale("sx", 0.5f, 10);
    m.Integers("w", {3, 3}, {1, -2, 3, -4, 5, -6, 7, 8, 9}, kI8);
    m.Floats("sw", {3}, {0.5f, 0.25f, 1});
    m.Scale("sy", 0.25f, 3);
    m.Floats("b", {3}, {0.25f, 0, -1});
    m.Node("DequantizeLinear", {"x", "sx", "sx0"}, "xd");
    m.Node("DequantizeLinear", {"w", "sw"}, "wd").Set("axis", axis);
    m.Node("MatMul", {"xd", "wd"}, "m");
    m.Node("Add", {"m", "b"}, "a");
    m.Node("Relu", {"a"}, "r");
    m.Node("QuantizeLinear", {"r", "sy", "sy0"}, "y");
    m.Output("y");
    const std::map<std::string, TensorData> x = {{"x", U8({1, 3}, {12, 9, 20})}};
    // Scales along the summed axis have no sum of integers.
    const std::vector<double> expected =
        axis == 1 ? std::vector<double>({80, 39, 203}) : std::vector<double>({148, 157, 188});
    EXPECT_EQ(RunModel(m, x).values.at("y"), expected);
    EXPECT_THAT(Texts(m), ::testing::HasSubstr(axis == 1 ? "dense(u8[1,3], i8[3,3], u8[1])" : "dense(f32[1,3], f32"));
  }
}

// One output channel, 1x1: y = round((sum of (x - 10)(w - zero) + 4) * 0.5 * 0.25 / 0.125) + 3.
QuantisedModel Convolution(int type, int weight, int zero) {
  QuantisedModel m;
  m.Input("x", {1, 2, 1, 1}, kU8);
  m.Scale("sx", 0.5f, 10);
  m.Integers("w", {1, 2, 1, 1}, {weight, weight + 2}, type);
  m.Scale("sw", 0.25f, zero, type);
  m.Scale("sy", 0.125f, 3);
  m.Integers("b", {1}, {4}, kI32);
  m.Node("QLinearConv", {"x", "sx", "sx0", "w", "sw", "sw0", "sy", "sy0", "b"}, "y");
  m.Output("y");
  return m;
}

TEST(Quantised, ConvolutionsAreOneOperator) {
  const std::map<std::string, TensorData> x = {{"x", U8({1, 2, 1, 1}, {12, 20})}};
  const auto workload = [](const ModelMaker& m) { return Must(ImportBytes(m)).graph.nodes[0].workload.Text(); };
  const QuantisedModel plain = Convolution(kI8, 3, 0);
  EXPECT_EQ(RunModel(plain, x).values.at("y"), std::vector<double>({2 * 3 + 10 * 5 + 4 + 3}));
  EXPECT_EQ(workload(plain), "conv2d(u8[1,2,1,1], i8[1,2,1,1], u8[1]) + bias + requant(u8)");
  // A weight of u8 becomes one of i8; what is left of its zero point is an operand.
  const QuantisedModel same = Convolution(kU8, 131, 128), other = Convolution(kU8, 131, 130);
  EXPECT_EQ(RunModel(same, x).values.at("y"), std::vector<double>({63}));
  EXPECT_EQ(workload(same), workload(plain));
  EXPECT_EQ(RunModel(other, x).values.at("y"), std::vector<double>({2 * 1 + 10 * 3 + 4 + 3}));
  EXPECT_EQ(workload(other), "conv2d(u8[1,2,1,1], i8[1,2,1,1], u8[1], i8[1]) + bias + requant(u8)");
}

TEST(Quantised, ProductsOfMatricesAreDenseLayers) {
  QuantisedModel m(10);
  m.Input("x", {1, 2}, kU8);
  m.Integers("w", {2, 3}, {1, 2, 3, 4, 5, -6}, kI8);
  m.Integers("z", {}, {7});
  m.Node("MatMulInteger", {"x", "w", "z"}, "sums");
  m.Scale("sx", 1, 7);
  m.Scale("sw", 0.5f, 0, kI8);
  m.Scale("sy", 1, 100, kI8);
  m.Node("QLinearMatMul", {"x", "sx", "sx0", "w", "sw", "sw0", "sy", "sy0"}, "y");
  m.Output("sums");
  m.Output("y");
  const Ran ran = RunModel(m, {{"x", U8({1, 2}, {8, 10})}});
  EXPECT_EQ(ran.values.at("sums"), std::vector<double>({1 + 12, 2 + 15, 3 - 18}));
  EXPECT_EQ(ran.values.at("y"), std::vector<double>({106, 108, 92}));  // 6.5, 8.5 and -7.5 to even
  EXPECT_EQ(ran.operators, "dense dense");
}

std::string QuantiseRefusal(float scale, int type, const std::vector<int>& zeros, const char* op = "QuantizeLinear") {
  QuantisedModel m;
  m.Input("x", {1, 2}, std::string(op) == "QuantizeLinear" ? pb::TensorProto::FLOAT : kU8);
  m.Floats("s", {}, {scale});
  m.Integers("z", zeros.size() == 1 ? std::vector<int64_t>{} : std::vector<int64_t>{2}, zeros, type);
  m.Node(op, {"x", "s", "z"}, "y");
  m.Output("y");
  return Refusal(m);
}

TEST(Quantised, RefusedScalesAndZeroPoints) {
  for (const float scale : {0.0f, -1.0f, NAN, INFINITY, 1e-40f}) {
    EXPECT_THAT(QuantiseRefusal(scale, kU8, {1}), HasSubstr("is not a positive normal number")) << scale;
  }
  EXPECT_THAT(QuantiseRefusal(1, pb::TensorProto::INT16, {1}), HasSubstr("its zero point is int16; uint8 and int8"));
  EXPECT_THAT(QuantiseRefusal(1, kU8, {1, 2}), HasSubstr("it has 1 scales, but 2 zero points"));
  EXPECT_THAT(QuantiseRefusal(1, kI32, {0}), HasSubstr("the zero point is i32[1], not u8[1] or i8[1]"));
  EXPECT_THAT(QuantiseRefusal(1, kI8, {0}, "DequantizeLinear"),
              HasSubstr("takes i8[..], f32[1] and i8[1], not u8[1,2]"));
}

TEST(Quantised, RefusedConvolutions) {
  QuantisedModel mixed = Convolution(kI8, 3, 0);
  mixed.FirstNode()->set_input(5, "sx0");
  EXPECT_THAT(Refusal(mixed), HasSubstr("its weight is int8, but the zero point is uint8"));
  QuantisedModel bias = Convolution(kI8, 3, 0);
  bias.Integers("two", {2}, {4, 5}, kI32);
  bias.FirstNode()->set_input(8, "two");
  EXPECT_THAT(Refusal(bias), HasSubstr("its bias has 2 values for 1 channels"));
  QuantisedModel far = Convolution(kI8, 3, 0);
  far.Floats("tiny", {}, {1e-37f});
  far.Floats("large", {}, {1e30f});
  far.FirstNode()->set_input(1, "large");
  far.FirstNode()->set_input(6, "tiny");
  EXPECT_THAT(Refusal(far), HasSubstr("its scales are too far apart"));
  QuantisedModel domain = Convolution(kI8, 3, 0);
  domain.FirstNode()->set_domain("com.microsoft");
  EXPECT_THAT(Refusal(domain), HasSubstr("operators of the domain `com.microsoft` are not supported"));
}

}  // namespace
}  // namespace hone::onnx

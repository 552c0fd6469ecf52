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

// Scales along an axis of a tensor that is computed.
TEST(Quantised, ScalesAlongAnAxis) {
  for (const int axis : {0, 1}) {
    QuantisedModel m;
    m.Input("x", {2, 2});
    m.Floats("s", {2}, {0.5f, 2});
    m.Integers("z", {2}, {10, 20});
    m.Node("QuantizeLinear", {"x", "s", "z"}, "q").Set("axis", axis);
    m.Node("DequantizeLinear", {"q", "s", "z"}, "y").Set("axis", axis);
    m.Output("q");
    m.Output("y");
    const Ran ran = RunModel(m, {{"x", F32({2, 2}, {1, 2, 3, 4})}});
    EXPECT_EQ(ran.values.at("q"),
              axis == 1 ? std::vector<double>({12, 21, 16, 22}) : std::vector<double>({12, 14, 22, 22}));
    EXPECT_EQ(ran.values.at("y"), axis == 1 ? std::vector<double>({1, 2, 3, 4}) : std::vector<double>({1, 2, 4, 4}));
  }
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

// The sums of a convolution as i32, and as floats.
TEST(Quantised, ConvIntegerAndCasts) {
  QuantisedModel m(15);
  m.Input("x", {1, 2, 1, 2}, kU8);
  m.Integers("w", {1, 2, 1, 1}, {3, 200}, kU8);
  m.Integers("zx", {}, {10}, kU8);
  m.Integers("zw", {}, {128}, kU8);
  m.Node("ConvInteger", {"x", "w", "zx", "zw"}, "sums");
  m.Node("Cast", {"sums"}, "real").Set("to", 1);
  m.Node("CastLike", {"x", "real"}, "image");
  m.Floats("half", {}, {0.5f});
  m.Node("Mul", {"real", "half"}, "y");
  for (const char* output : {"sums", "real", "image", "y"}) m.Output(output);
  const Ran ran = RunModel(m, {{"x", U8({1, 2, 1, 2}, {12, 10, 9, 255})}});
  const double a = 2 * (3 - 128) - 72, b = 245 * 72;
  EXPECT_EQ(ran.values.at("sums"), std::vector<double>({a, b}));
  EXPECT_EQ(ran.values.at("real"), std::vector<double>({a, b}));
  EXPECT_EQ(ran.values.at("image"), std::vector<double>({12, 10, 9, 255}));
  EXPECT_EQ(ran.values.at("y"), std::vector<double>({a / 2, b / 2}));
  m.Node("Cast", {"sums"}, "bytes").Set("to", static_cast<int64_t>(kU8));
  m.Output("bytes");
  EXPECT_THAT(Refusal(m), HasSubstr("it casts int32, which the network computes, to uint8; float32 is supported"));
}

// An output that is an input, or another output, of integers.
TEST(Quantised, IntegersThatArePassedOn) {
  QuantisedModel m;
  m.Input("x", {1, 4}, kU8);
  m.Node("Identity", {"x"}, "y");
  m.Node("Identity", {"y"}, "z");
  m.Output("y");
  m.Output("z");
  const Ran ran = RunModel(m, {{"x", U8({1, 4}, {1, 2, 254, 255})}});
  EXPECT_EQ(ran.values.at("y"), std::vector<double>({1, 2, 254, 255}));
  EXPECT_EQ(ran.values.at("z"), std::vector<double>({1, 2, 254, 255}));
}

// Scales of a constant are those of the output's channels only as long as their axis is.
TEST(Quantised, ScalesOfReshapedConstants) {
  for (const auto& [shape, axis, w, integers] :
       {std::tuple<Shape, int, Shape, bool>{{1, 2, 2}, 2, {2, 2}, false}, {{2, 2, 1}, 1, {2, 2}, true}}) {
    QuantisedModel m;
    m.Input("x", {1, 2}, kU8);
    m.Scale("sx", 1, 0);
    m.Integers("w", shape, {1, 2, 3, 4}, kI8);
    m.Floats("s", {2}, {0.5f, 10});
    m.Ints("to", w);
    m.Node("DequantizeLinear", {"x", "sx", "sx0"}, "xd");
    m.Node("DequantizeLinear", {"w", "s"}, "d").Set("axis", axis);
    m.Node("Reshape", {"d", "to"}, "r");
    m.Node("MatMul", {"xd", "r"}, "y");
    m.Output("y");
    EXPECT_EQ(RunModel(m, {{"x", U8({1, 2}, {1, 1})}}).values.at("y"), std::vector<double>({2, 60}));
    EXPECT_EQ(Texts(m).find("dense(u8") != std::string::npos, integers) << Texts(m);
  }
}

// Weights may be quantised in the model, along an axis.
TEST(Quantised, ConstantsAreQuantisedAlongAnAxis) {
  QuantisedModel m;
  m.Input("x", {1, 2}, kU8);
  m.Scale("sx", 1, 0);
  m.Floats("w", {2, 2}, {1, 2.25f, -3, NAN});
  m.Floats("s", {2}, {0.5f, 1});
  m.Integers("z", {2}, {0, 1}, kI8);
  m.Node("QuantizeLinear", {"w", "s", "z"}, "q").Set("axis", 0);
  m.Node("DequantizeLinear", {"q", "s", "z"}, "d").Set("axis", 0);
  m.Node("DequantizeLinear", {"x", "sx", "sx0"}, "xd");
  m.Node("Gemm", {"xd", "d"}, "y").Set("transB", 1);
  m.Output("y");
  // Rows 1 and 2 (2.25 / 0.5 is 4.5, a tie), -3 and -129.
  EXPECT_EQ(RunModel(m, {{"x", U8({1, 2}, {1, 10})}}).values.at("y"), std::vector<double>({21, -1293}));
  EXPECT_THAT(Texts(m), HasSubstr("dense(u8[1,2], i8[2,2], u8[1], i8[2])"));
}

// A pool with a scale of its own.
TEST(Quantised, AveragePools) {
  QuantisedModel m;
  m.model.add_opset_import()->set_version(1);
  m.model.mutable_opset_import(1)->set_domain("com.microsoft");
  m.Input("x", {1, 1, 2, 2}, kU8);
  m.Scale("s", 0.5f, 2);
  m.Scale("t", 0.25f, 1);
  m.Node("QLinearAveragePool", {"x", "s", "s0", "t", "t0"}, "y")
      .Set("kernel_shape", {1, 2})
      .proto->set_domain("com.microsoft");
  m.Output("y");
  EXPECT_EQ(RunModel(m, {{"x", U8({1, 1, 2, 2}, {2, 4, 3, 10})}}).values.at("y"), std::vector<double>({3, 10}));
}

// Operators of com.microsoft that are defined by real numbers. A missing zero point is 0 of the tensor's type.
TEST(Quantised, OperatorsDefinedByRealNumbers) {
  QuantisedModel m;
  m.model.add_opset_import()->set_version(1);
  m.model.mutable_opset_import(1)->set_domain("com.microsoft");
  m.Input("x", {1, 3}, kI8);
  m.Scale("s", 0.5f, -2, kI8);
  m.Floats("t", {}, {0.25f});
  const auto node = [&](const char* op, const std::vector<std::string>& inputs, const char* name) {
    MadeNode made = m.Node(op, inputs, name);
    made->set_domain("com.microsoft");
    m.Output(name);
    return made;
  };
  node("QLinearMul", {"x", "s", "s0", "x", "s", "s0", "t", ""}, "mul");
  node("QLinearAdd", {"x", "s", "s0", "x", "t", "", "t", ""}, "add");
  m.Integers("z", {}, {0}, kI8);
  node("QLinearConcat", {"t", "z", "x", "s", "s0", "x", "t", "z"}, "concat").Set("axis", 1);
  node("QLinearLeakyRelu", {"x", "s", "s0", "t", ""}, "leaky");
  node("QLinearSigmoid", {"x", "s", "s0", "t", ""}, "sigmoid");
  const Ran ran = RunModel(m, {{"x", {{DType::Int(8), {1, 3}}, {2, -2, -42}}}});
  // Real values 2, 0 and -20; by t without a zero point 0.5, -0.5 and -10.5.
  EXPECT_EQ(ran.values.at("mul"), std::vector<double>({16, 0, 127}));
  EXPECT_EQ(ran.values.at("add"), std::vector<double>({10, -2, -122}));
  EXPECT_EQ(ran.values.at("concat"), std::vector<double>({8, 0, -80, 2, -2, -42}));
  EXPECT_EQ(ran.values.at("leaky"), std::vector<double>({8, 0, -1}));
  EXPECT_EQ(ran.values.at("sigmoid"), std::vector<double>({4, 2, 0}));
}

// Data of three axes, and a product of two matrices that the network computes.
TEST(Quantised, ProductsOfOtherShapes) {
  QuantisedModel m;
  m.Input("x", {2, 1, 2}, kU8);
  m.Input("b", {2, 2, 1}, kU8);
  m.Integers("w", {2, 1}, {2, -3}, kI8);
  m.Scale("s", 0.5f, 3);
  m.Node("MatMulInteger", {"x", "w"}, "sums");
  m.Node("QLinearMatMul", {"x", "s", "s0", "b", "s", "s0", "s", "s0"}, "y");
  m.Output("sums");
  m.Output("y");
  const Ran ran = RunModel(m, {{"x", U8({2, 1, 2}, {1, 2, 3, 4})}, {"b", U8({2, 2, 1}, {5, 9, 200, 1})}});
  EXPECT_EQ(ran.values.at("sums"), std::vector<double>({2 - 6, 6 - 12}));
  // -2 * 2 + -1 * 6 and 0 * 197 + 1 * -2, times 0.25, over 0.5, plus 3.
  EXPECT_EQ(ran.values.at("y"), std::vector<double>({0, 2}));
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
  EXPECT_THAT(QuantiseRefusal(1, kI32, {0}), HasSubstr("its zero point is int32, not uint8 or int8"));
  EXPECT_THAT(QuantiseRefusal(1, kI8, {0}, "DequantizeLinear"),
              HasSubstr("takes i8[..], f32[1] and i8[1], not u8[1,2]"));
}

TEST(Quantised, RefusedAttributes) {
  const auto refusal = [](const char* op, const char* name, int64_t value) {
    QuantisedModel m(21);
    const bool quantise = std::string(op) == "QuantizeLinear";
    m.Input("x", {1, 2}, quantise ? pb::TensorProto::FLOAT : kU8);
    m.Floats("s", {}, {1});
    m.Node(op, {"x", "s"}, "y").Set(name, value);
    m.Output("y");
    return Refusal(m);
  };
  EXPECT_THAT(refusal("QuantizeLinear", "output_dtype", 4), HasSubstr("its output_dtype is uint16; uint8 and int8"));
  EXPECT_THAT(refusal("QuantizeLinear", "output_dtype", 99), HasSubstr("its output_dtype is type 99"));
  EXPECT_THAT(refusal("QuantizeLinear", "block_size", 2), HasSubstr("its block_size is not supported"));
  EXPECT_THAT(refusal("DequantizeLinear", "block_size", 2), HasSubstr("its block_size is not supported"));
}

TEST(Quantised, RefusedScalesOfConstants) {
  const auto refusal = [](const std::vector<float>& scales, int64_t axis) {
    QuantisedModel m;
    m.Input("x", {2, 3});
    m.Integers("w", {2, 3}, {1, 2, 3, 4, 5, 6}, kI8);
    m.Floats("s", {std::ssize(scales)}, scales);
    m.Node("DequantizeLinear", {"w", "s"}, "d").Set("axis", axis);
    m.Node("Add", {"x", "d"}, "y");
    m.Output("y");
    return Refusal(m);
  };
  EXPECT_THAT(refusal({}, 0), HasSubstr("it has no scale"));
  EXPECT_THAT(refusal({1, 1}, 1), HasSubstr("it has 2 scales for axis 1 of [2,3]"));
  EXPECT_THAT(refusal({1, 1}, 2), HasSubstr("a tensor of 2 dimensions has no axis 2"));
}

TEST(Quantised, RefusedZeroPointsOfIntegerProducts) {
  const auto refusal = [](int data, int weight) {
    QuantisedModel m;
    m.Input("x", {1, 2}, kU8);
    m.Integers("w", {2, 3}, {1, 2, 3, 4, 5, -6}, kI8);
    m.Integers("zx", {}, {7}, data);
    m.Integers("zw", {}, {100}, weight);
    m.Node("MatMulInteger", {"x", "w", "zx", "zw"}, "y");
    m.Output("y");
    return Refusal(m);
  };
  EXPECT_THAT(refusal(kU8, kU8), HasSubstr("it has 1 zero points of uint8 for int8"));
  EXPECT_THAT(refusal(kI8, kI8), HasSubstr("it has 1 zero points of int8 for uint8"));
}

TEST(Quantised, RefusedConvolutions) {
  QuantisedModel mixed = Convolution(kI8, 3, 0);
  mixed.FirstNode()->set_input(5, "sx0");
  EXPECT_THAT(Refusal(mixed), HasSubstr("its weight is int8, but the zero point is uint8"));
  QuantisedModel bias = Convolution(kI8, 3, 0);
  bias.Integers("two", {2}, {4, 5}, kI32);
  bias.FirstNode()->set_input(8, "two");
  EXPECT_THAT(Refusal(bias), HasSubstr("its bias has 2 values for 1 channels"));
  bias.Integers("bytes", {1}, {4});
  bias.FirstNode()->set_input(8, "bytes");
  EXPECT_THAT(Refusal(bias), HasSubstr("its bias is uint8, not int32"));
  QuantisedModel scales = Convolution(kI8, 3, 0);
  scales.Floats("square", {2, 2}, {1, 1, 1, 1});
  scales.FirstNode()->set_input(4, "square");
  EXPECT_THAT(Refusal(scales), HasSubstr("its scales are [2,2]; one, or one for each channel is supported"));
  QuantisedModel outside = Convolution(kI8, 3, 0);
  outside.Integers("large", {1, 2, 1, 1}, {1, 200}, kI8);
  outside.FirstNode()->set_input(3, "large");
  EXPECT_THAT(ParseModel(outside.Bytes(), "m.onnx", false).status().message(),
              HasSubstr("`large`: has the value 200, which is no int8"));
  QuantisedModel far = Convolution(kI8, 3, 0);
  far.Floats("tiny", {}, {1e-37f});
  far.Floats("large", {}, {1e30f});
  far.FirstNode()->set_input(1, "large");
  far.FirstNode()->set_input(6, "tiny");
  EXPECT_THAT(Refusal(far), HasSubstr("its scales are too far apart"));
  QuantisedModel domain = Convolution(kI8, 3, 0);
  domain.FirstNode()->set_domain("com.microsoft");
  EXPECT_THAT(Refusal(domain), HasSubstr("this operator of the domain `com.microsoft` is not supported"));
}

}  // namespace
}  // namespace hone::onnx

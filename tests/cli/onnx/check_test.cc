// hone-extract --check: what it prints of a model, and its exit codes.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>

#include "base/file.h"
#include "base/subprocess.h"

namespace hone {
namespace {

class CheckTool : public ::testing::Test {
 protected:
  // x[1,2,5,5] -> Conv -> Relu -> Relu -> y at opset 13.
  void SetUp() override {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(13);
    auto* input = graph().add_input();
    input->set_name("x");
    auto* type = input->mutable_type()->mutable_tensor_type();
    type->set_elem_type(::onnx::TensorProto::FLOAT);
    for (int extent : {1, 2, 5, 5}) type->mutable_shape()->add_dim()->set_dim_value(extent);
    auto* weight = graph().add_initializer();
    weight->set_name("w");
    weight->set_data_type(::onnx::TensorProto::FLOAT);
    for (int extent : {4, 2, 3, 3}) weight->add_dims(extent);
    for (int i = 0; i < 72; ++i) weight->add_float_data(0.5f);
    Node("Conv", {"x", "w"}, "a");
    Node("Relu", {"a"}, "b");
    Node("Relu", {"b"}, "y");
    graph().add_output()->set_name("y");
  }

  ::onnx::GraphProto& graph() { return *model_.mutable_graph(); }

  ::onnx::NodeProto& Node(const std::string& op, const std::vector<std::string>& inputs, const std::string& output) {
    ::onnx::NodeProto& node = *graph().add_node();
    node.set_op_type(op);
    node.set_name(output + "_node");
    for (const std::string& name : inputs) node.add_input(name);
    node.add_output(output);
    return node;
  }

  CommandResult Check(const std::vector<std::string>& more = {}) {
    EXPECT_TRUE(WriteFileAtomic(dir_.Join("net.onnx"), model_.SerializeAsString()).ok());
    return Run("net.onnx", more);
  }

  CommandResult Run(const std::string& file, const std::vector<std::string>& more = {}) {
    std::vector<std::string> argv = {HONE_EXTRACT, "--check", file};
    argv.insert(argv.end(), more.begin(), more.end());
    CommandOptions options;
    options.cwd = dir_.path();
    auto result = RunCommand(argv, options);
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result.ok() ? std::move(*result) : CommandResult();
  }

  static void ExpectOneLine(const CommandResult& result, const std::string& words) {
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
  }

  TempDir dir_ = std::move(*TempDir::Create());
  ::onnx::ModelProto model_;
};

TEST_F(CheckTool, AModelThatCanBeUsed) {
  const CommandResult result = Check();
  EXPECT_EQ(result.status.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out,
            "net.onnx: opset 13, 3 nodes, 2 operators\n"
            "  Conv                         1  supported\n"
            "  Relu                         2  supported\n"
            "2 operators supported, 0 not\n"
            "the model can be used: 3 nodes and 1 parameters in the graph\n");
  EXPECT_EQ(ListDir(dir_.path())->size(), 1u) << "something was written";
}

TEST_F(CheckTool, OperatorsThatAreNotSupportedWithNodeAndOpset) {
  Node("NonMaxSuppression", {"y", "y"}, "boxes");
  Node("Gelu", {"y"}, "late");
  auto& stranger = Node("Fused", {"y"}, "z");
  stranger.set_domain("com.example");
  model_.add_opset_import()->set_domain("com.example");
  model_.mutable_opset_import(1)->set_version(2);
  graph().add_output()->set_name("boxes");
  const CommandResult result = Check();
  EXPECT_EQ(result.status.code, 1);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out,
            "net.onnx: opset 13, 6 nodes, 5 operators\n"
            "  Conv                         1  supported\n"
            "  Gelu                         1  NOT supported: node `late_node` (Gelu, opset 13): the operator is there "
            "only since opset 20\n"
            "  NonMaxSuppression            1  NOT supported: node `boxes_node` (NonMaxSuppression, opset 13): the "
            "operator is not supported\n"
            "  Relu                         2  supported\n"
            "  com.example::Fused           1  NOT supported: node `z_node` (com.example::Fused, opset 2): operators "
            "of the domain `com.example` are not supported; export the model with ONNX's own operators alone\n"
            "2 operators supported, 3 not\n"
            "the model cannot be used: node `boxes_node` (NonMaxSuppression, opset 13): the operator is not "
            "supported\n");
}

// All of its operators are supported, and what one of its nodes says is not.
TEST_F(CheckTool, WhatStandsInTheWayBesidesOperators) {
  auto* group = graph().mutable_node(0)->add_attribute();
  group->set_name("group");
  group->set_type(::onnx::AttributeProto::INT);
  group->set_i(3);
  const CommandResult result = Check();
  EXPECT_EQ(result.status.code, 1);
  EXPECT_NE(
      result.out.find("\n2 operators supported, 0 not\nthe model cannot be used: node `a_node` (Conv, opset 13): "),
      std::string::npos)
      << result.out;
}

TEST_F(CheckTool, AStrideThatNoKernelHas) {
  auto* strides = graph().mutable_node(0)->add_attribute();
  strides->set_name("strides");
  strides->set_type(::onnx::AttributeProto::INTS);
  for (int stride : {100000, 1}) strides->add_ints(stride);
  const CommandResult result = Check();
  EXPECT_EQ(result.status.code, 1) << result.err;
  EXPECT_NE(result.out.find("\n2 operators supported, 0 not\nthe model cannot be used: node `a_node` (Conv, opset 13): conv2d: "),
            std::string::npos)
      << result.out;
}

TEST_F(CheckTool, OpenShapesAreFixedByInput) {
  graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param("N");
  CommandResult result = Check();
  EXPECT_EQ(result.status.code, 1);
  EXPECT_NE(result.out.find("the model cannot be used: input `x` has open dimensions, [N,2,5,5]: "), std::string::npos)
      << result.out;
  result = Check({"--input", "x=3,2,5,5"});
  EXPECT_EQ(result.status.code, 0) << result.out << result.err;
  result = Check({"--input", "x=100000,2,100000,1"});
  EXPECT_EQ(result.status.code, 1);
  EXPECT_NE(result.out.find("the model cannot be used: input `x`: [100000,2,100000,1] is too large: at most 536870912 "
                            "elements\n"),
            std::string::npos)
      << result.out;
  result = Check({"--input", "x=3,2"});
  EXPECT_EQ(result.status.code, 1);
  result = Check({"--input", "x"});
  EXPECT_EQ(result.status.code, 2);
  ExpectOneLine(result, "--input x: expected NAME=1,3,224,224");
}

TEST_F(CheckTool, WhatIsNoModel) {
  CommandResult result = Run("gone.onnx");
  EXPECT_EQ(result.status.code, 2);
  ExpectOneLine(result, "gone.onnx");
  ASSERT_TRUE(WriteFileAtomic(dir_.Join("text.onnx"), "not protobuf").ok());
  result = Run("text.onnx");
  EXPECT_EQ(result.status.code, 2);
  ExpectOneLine(result, "text.onnx: not an ONNX model");
  const std::string bytes = model_.SerializeAsString();
  ASSERT_TRUE(WriteFileAtomic(dir_.Join("cut.onnx"), bytes.substr(0, bytes.size() - 3)).ok());
  result = Run("cut.onnx");
  EXPECT_EQ(result.status.code, 2);
  ExpectOneLine(result, "cut.onnx: not an ONNX model, or cut short");
}

}  // namespace
}  // namespace hone

// hone-extract --check: its output for a model, and its exit codes.
#include <onnx/onnx_pb.h>

#include "test_folder.h"

namespace hone {
namespace {

class CheckTool : public TestFolder {
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

  CommandResult Check(const Words& more = {}) {
    Write("net.onnx", model_.SerializeAsString());
    return CheckFile("net.onnx", more);
  }
  CommandResult CheckFile(const std::string& file, const Words& more = {}) {
    return Run(Words{HONE_EXTRACT, "--check", file} + more);
  }
  // Expects that the model cannot be used, with these words.
  void ExpectUnusable(const std::string& why, const Words& more = {}) {
    const CommandResult result = Check(more);
    EXPECT_EQ(result.status.code, 1) << result.err;
    EXPECT_EQ(result.err, "");
    ExpectHas(result.out, {"the model cannot be used: " + why});
  }

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
  EXPECT_EQ(ListDir(Path(""))->size(), 1u) << "something was written";
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

// All of its operators are supported, but an attribute of one node is not.
TEST_F(CheckTool, WhatStandsInTheWayBesidesOperators) {
  auto* group = graph().mutable_node(0)->add_attribute();
  group->set_name("group");
  group->set_type(::onnx::AttributeProto::INT);
  group->set_i(3);
  ExpectHas(Check().out, {"\n2 operators supported, 0 not\nthe model cannot be used: "});
  ExpectUnusable("node `a_node` (Conv, opset 13): ");
  // No kernel supports this stride.
  group->set_i(1);
  auto* strides = graph().mutable_node(0)->add_attribute();
  strides->set_name("strides");
  strides->set_type(::onnx::AttributeProto::INTS);
  for (int stride : {100000, 1}) strides->add_ints(stride);
  ExpectUnusable("node `a_node` (Conv, opset 13): conv2d: ");
}

TEST_F(CheckTool, OpenShapesAreFixedByInput) {
  graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param("N");
  ExpectUnusable("input `x` has open dimensions, [N,2,5,5]: ");
  ExpectOk(Check({"--input", "x=3,2,5,5"}));
  ExpectUnusable("input `x`: [100000,2,100000,1] is too large: at most 536870912 elements\n",
                 {"--input", "x=100000,2,100000,1"});
  ExpectUnusable("", {"--input", "x=3,2"});
  ExpectRefused(Check({"--input", "x"}), 2, {"--input x: expected NAME=1,3,224,224"});
}

TEST_F(CheckTool, WhatIsNoModel) {
  ExpectRefused(CheckFile("gone.onnx"), 2, {"gone.onnx"});
  Write("text.onnx", "not protobuf");
  ExpectRefused(CheckFile("text.onnx"), 2, {"text.onnx: not an ONNX model"});
  const std::string bytes = model_.SerializeAsString();
  Write("cut.onnx", bytes.substr(0, bytes.size() - 3));
  ExpectRefused(CheckFile("cut.onnx"), 2, {"cut.onnx: not an ONNX model, or cut short"});
}

}  // namespace
}  // namespace hone

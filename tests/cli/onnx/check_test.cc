// hone-extract --check: its output for a model, and its exit codes.
#include "test_folder.h"
#include "unit/onnx/model_maker.h"

namespace hone {
namespace {

class CheckTool : public TestFolder {
 protected:
  CheckTool() { model_.Floats("w", {4, 2, 3, 3}, std::vector<float>(72, 0.5f)); }

  CommandResult Check(const Words& more = {}) {
    Write("net.onnx", model_.Bytes());
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

  onnx::ModelMaker model_ =  // at opset 13
      onnx::ModelMaker::Parse("x[1,2,5,5]; a = Conv(x, w); b = Relu(a); y = Relu(b); -> y");
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
  model_.Node("NonMaxSuppression", {"y", "y"}, "boxes");
  model_.Node("Gelu", {"y"}, "late");
  model_.Node("Fused", {"y"}, "z")->set_domain("com.example");
  model_.model.add_opset_import()->set_domain("com.example");
  model_.model.mutable_opset_import(1)->set_version(2);
  model_.Output("boxes");
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
            "  com.example::Fused           1  NOT supported: node `z_node` (com.example::Fused, opset 2): this "
            "operator of the domain `com.example` is not supported; export the model with ONNX's own operators alone\n"
            "2 operators supported, 3 not\n"
            "the model cannot be used: node `boxes_node` (NonMaxSuppression, opset 13): the operator is not "
            "supported\n");
}

// All of its operators are supported, but an attribute of one node is not.
TEST_F(CheckTool, WhatStandsInTheWayBesidesOperators) {
  model_.FirstNode().Set("group", 3);
  ExpectHas(Check().out, {"\n2 operators supported, 0 not\nthe model cannot be used: "});
  ExpectUnusable("node `a_node` (Conv, opset 13): ");
  // No kernel supports this stride.
  model_.FirstNode()->mutable_attribute(0)->set_i(1);
  model_.FirstNode().Set("strides", {100000, 1});
  ExpectUnusable("node `a_node` (Conv, opset 13): conv2d: ");
}

TEST_F(CheckTool, OpenShapesAreFixedByInput) {
  auto* type = model_.model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
  type->mutable_shape()->mutable_dim(0)->set_dim_param("N");
  ExpectUnusable("input `x` has open dimensions, [N,2,5,5]: ");
  ExpectUnusable("no input `y` to give a shape; known: x\n", {"--input", "y=3,2,5,5"});
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
  const std::string bytes = model_.Bytes();
  Write("cut.onnx", bytes.substr(0, bytes.size() - 3));
  ExpectRefused(CheckFile("cut.onnx"), 2, {"cut.onnx: not an ONNX model, or cut short"});
}

}  // namespace
}  // namespace hone

// A model file from a pipeline to a library and its report, under a real Ninja, and again after the model was changed.
#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include "base/json.h"
#include "chain_folder.h"

namespace hone {
namespace {

class OnnxChain : public ChainFolder {
 protected:
  void SetUp() override {
    ChainFolder::SetUp();
    const Result<std::string> bytes = ReadFile(std::string(HONE_MODELS) + "/residual/model.onnx");
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    ASSERT_TRUE(model_.ParseFromString(*bytes));
    Save();
    // The model stands beside its pipeline, not beside whoever plans.
    Write("pipelines/net.toml",
          "network = \"models/net.onnx\"\ntargets = [\"cpu\"]\n[input]\nx = [2, 3, 20, 20]\n[tune]\ntrials = 2\n"
          "[measure]\ncandidate_seconds = 0.01\ntimeout_seconds = 120\nfinalists = 1\n[bench]\nprocesses = 2\n"
          "iterations = 3\nwarmup = 1\n");
    const CommandResult plan = Plan();
    ASSERT_TRUE(plan.status.ok()) << plan.err;
  }

  void Save() { Write("pipelines/models/net.onnx", model_.SerializeAsString()); }

  void ExpectVerified() {
    const auto bench = ReadJsonFile(Work("bench/net.cpu.json"));
    ASSERT_TRUE(bench.ok()) << bench.status().message();
    EXPECT_TRUE((*bench)["verification"]["ok"].get<bool>()) << bench->dump(1);
  }

  ::onnx::ModelProto model_;
};

TEST_F(OnnxChain, FromAModelToAReportAndOtherWeightsAreOnlyBuiltAnew) {
  NinjaOk({"tune-net-cpu"});
  ExpectVerified();
  EXPECT_TRUE(Exists(Work("report/net.cpu/index.html")));
  EXPECT_TRUE(Exists(Work("out/net.cpu/libnet.so")));
  // Three convolutions, which differ in what is fused into them, and a dense layer. To choose among: the first one with its
  // pool as one kernel, the pool alone; and the first one on blocked input, blocking alone.
  EXPECT_EQ(Tasks("net").size(), 8u);
  const auto trials = AllTrials("net");
  const std::string parameters = Read("work/out/net.cpu/net.params");
  ExpectNoWork("tune-net-cpu");

  for (::onnx::TensorProto& tensor : *model_.mutable_graph()->mutable_initializer()) {
    if (tensor.name() != "fc.bias") continue;
    tensor.clear_raw_data();
    tensor.clear_float_data();
    for (int i = 0; i < 5; ++i) tensor.add_float_data(static_cast<float>(i));
  }
  Save();
  NinjaOk({"tune-net-cpu"});
  ExpectVerified();
  EXPECT_NE(Read("work/out/net.cpu/net.params"), parameters);
  EXPECT_EQ(AllTrials("net"), trials);
  ExpectNoWork("tune-net-cpu");
}

TEST_F(OnnxChain, AModelThatCannotBeUsedIsOneLineAndNothingIsTuned) {
  for (::onnx::NodeProto& node : *model_.mutable_graph()->mutable_node()) {
    if (node.op_type() == "MaxPool") node.set_op_type("NonMaxSuppression");
  }
  Save();
  const CommandResult result = Ninja({"tune-net-cpu"});
  EXPECT_FALSE(result.status.ok());
  const std::string text = result.out + result.err;
  EXPECT_NE(text.find("(NonMaxSuppression, opset 13): the operator is not supported"), std::string::npos) << text;
  EXPECT_FALSE(Exists(Work("records/cpu")) && !ListDir(Work("records/cpu"))->empty());
}

}  // namespace
}  // namespace hone

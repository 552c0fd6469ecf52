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

// A model that lacks the shape of its input stops itself alone, and a repaired or removed pipeline is planned again.
TEST_F(OnnxChain, AModelThatCannotBeExtractedStopsItselfAloneUntilItIsMended) {
  const std::string with_input = Read("pipelines/net.toml");
  const std::string input = "[input]\nx = [2, 3, 20, 20]\n";
  std::string without_input = with_input;
  without_input.replace(without_input.find(input), input.size(), "");
  const std::string reason = "net.onnx: input `x` has open dimensions";
  Write("pipelines/open.toml", without_input);
  const CommandResult all = Ninja({"tune-all"});
  EXPECT_FALSE(all.status.ok());
  EXPECT_NE(all.out.find(reason), std::string::npos) << all.out;
  EXPECT_TRUE(Exists(Work("report/net.cpu/index.html"))) << "the other one is built";
  NinjaOk({"tune-net-cpu"});
  const CommandResult one = Ninja({"tune-open-cpu"});
  EXPECT_FALSE(one.status.ok());
  EXPECT_NE(one.out.find("[input]"), std::string::npos) << one.out;
  EXPECT_EQ(one.out, Ninja({"tune-open-cpu"}).out) << "as often as one asks";
  const CommandResult why = Run({Path("bin/hone-plan"), "--pipelines", "pipelines", "--work", "work", "--tools", "bin",
                                 "--why", "tune-open-cpu"});
  EXPECT_NE(why.out.find("cannot extract open for cpu: "), std::string::npos) << why.out << why.err;
  EXPECT_EQ(why.out.find("No new trials"), std::string::npos) << why.out;
  const CommandResult status = Run({Path("bin/hone-records"), "status", "work"});
  EXPECT_NE(status.out.find("open.cpu cannot be extracted: "), std::string::npos) << status.out;

  Write("pipelines/open.toml", with_input);
  NinjaOk({"tune-open-cpu"});
  EXPECT_TRUE(Exists(Work("report/open.cpu/index.html")));
  NinjaOk({"tune-all"});
  ExpectNoWork("tune-all");

  Write("pipelines/open.toml", without_input);
  EXPECT_FALSE(Ninja({"tune-all"}).status.ok());
  ASSERT_TRUE(Remove(Path("pipelines/open.toml")).ok());
  NinjaOk({"tune-all"});
  ExpectNoWork("tune-all");
}

TEST_F(OnnxChain, FromAModelToAReportAndOtherWeightsAreOnlyBuiltAnew) {
  NinjaOk({"tune-net-cpu"});
  ExpectVerified();
  EXPECT_TRUE(Exists(Work("report/net.cpu/index.html")));
  EXPECT_TRUE(Exists(Work("out/net.cpu/libnet.so")));
  // Three convolutions, which differ in what is fused into them, and a dense layer. To choose among: the first one with
  // its pool as one kernel, the pool alone; and the first one on blocked input, blocking alone.
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

// Ninja knows the model's file; that its values lie elsewhere it is told when the model has been read.
TEST_F(OnnxChain, ValuesInAFileBesideTheModelAreInputsToo) {
  std::string values;
  for (::onnx::TensorProto& tensor : *model_.mutable_graph()->mutable_initializer()) {
    if (!tensor.has_raw_data() || tensor.data_type() != ::onnx::TensorProto::FLOAT) continue;
    const auto put = [&](const char* key, const std::string& value) {
      auto* entry = tensor.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    };
    put("location", "w/values.bin");
    put("offset", std::to_string(values.size()));
    put("length", std::to_string(tensor.raw_data().size()));
    tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
    values += tensor.raw_data();
    tensor.clear_raw_data();
  }
  ASSERT_FALSE(values.empty());
  Save();
  Write("pipelines/models/w/values.bin", values);
  Write("pipelines/net.toml",
        "network = \"models/net.onnx\"\ntargets = [\"cpu\"]\n[input]\nx = [2, 3, 20, 20]\n[tune]\ntrials = 4\n"
        "alternatives = false\nin_network = false\n");
  InventTimes(3);
  NinjaOk({"build-net-cpu"});
  ExpectNoWork("build-net-cpu");
  const std::string parameters = Read("work/out/net.cpu/net.params");
  const auto trials = AllTrials("net");

  values[3] = static_cast<char>(values[3] ^ 1);  // the least bit of the exponent of the first value
  Write("pipelines/models/w/values.bin", values);
  NinjaOk({"build-net-cpu"});
  EXPECT_NE(Read("work/out/net.cpu/net.params"), parameters);
  EXPECT_EQ(AllTrials("net"), trials);
  ExpectNoWork("build-net-cpu");

  ASSERT_TRUE(Remove(Path("pipelines/models/w/values.bin")).ok());
  const CommandResult gone = Ninja({"build-net-cpu"});
  EXPECT_FALSE(gone.status.ok());
  EXPECT_NE(gone.out.find("external data: "), std::string::npos) << gone.out << gone.err;
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

// A model file from a pipeline to a library and its report, under a real Ninja, and again after the model was changed.
#include "base/text.h"
#include "chain_folder.h"
#include "unit/onnx/model_maker.h"

namespace hone {
namespace {

class OnnxChain : public ChainFolder {
 protected:
  void SetUp() override {
    ChainFolder::SetUp();
    ASSERT_TRUE(model_.ParseFromString(Must(ReadFile(std::string(HONE_MODELS) + "/residual/model.onnx"))));
    Save();
    // The model's path is relative to its pipeline file, not to the current folder.
    Write("pipelines/net.toml",
          kNetwork + kInput +
              "[tune]\ntrials = 2\n[measure]\ncandidate_seconds = 0.01\ntimeout_seconds = 120\nfinalists = 1\n"
              "[bench]\nprocesses = 2\niterations = 3\nwarmup = 1\n");
    ExpectOk(Plan());
  }

  void Save() { Write("pipelines/models/net.onnx", model_.SerializeAsString()); }

  static inline const std::string kNetwork = "network = \"models/net.onnx\"\ntargets = [\"cpu\"]\n";
  static inline const std::string kInput = "[input]\nx = [2, 3, 20, 20]\n";
  ::onnx::ModelProto model_;
};

// A model that lacks the shape of its input stops only itself, and a repaired or removed pipeline is planned again.
TEST_F(OnnxChain, AModelThatCannotBeExtractedStopsItselfAloneUntilItIsMended) {
  const std::string with_input = Read("pipelines/net.toml");
  const std::string without_input = ReplaceAll(with_input, kInput, "");
  Write("pipelines/open.toml", without_input);
  ExpectFails(Ninja({"tune-all"}), {"net.onnx: input `x` has open dimensions"});
  EXPECT_TRUE(Has("work/report/net.cpu/index.html")) << "the other one is built";
  NinjaOk({"tune-net-cpu"});
  const CommandResult one = Ninja({"tune-open-cpu"});
  ExpectFails(one, {"[input]"});
  ExpectFails(Ninja({"tune-open-cpu"}), {one.out});  // fails each time
  const CommandResult why = Plan({"--why", "tune-open-cpu"});
  ExpectHas(why.out, {"cannot extract open for cpu: "});
  ExpectHasNot(why.out, {"No new trials"});
  ExpectHas(Tool("hone-records", {"status", "work"}).out, {"open.cpu cannot be extracted: "});

  // hone-plan leaves the reason to the edge that fails, which says it once.
  const std::string warning = "open.cpu cannot be extracted, and only its own targets fail";
  const CommandResult plan = ExpectOk(Plan());
  ExpectHas(plan.err, {warning});
  ExpectHasNot(plan.err, {"open dimensions"});

  // The failure is out of date: nothing is said about it before the network is extracted again.
  Write("pipelines/open.toml", with_input);
  ExpectHasNot(NinjaOk({"tune-open-cpu"}), {warning});
  EXPECT_TRUE(Has("work/report/open.cpu/index.html"));
  NinjaOk({"tune-all"});
  ExpectNoWork("tune-all");

  Write("pipelines/open.toml", without_input);
  ExpectFails(Ninja({"tune-all"}), {});
  Delete("pipelines/open.toml");
  NinjaOk({"tune-all"});
  ExpectNoWork("tune-all");
}

TEST_F(OnnxChain, AModelThatIsMissingStopsItselfAloneUntilItIsThere) {
  InventTimes(3);
  Write("pipelines/late.toml", "targets = [\"cpu\"]\nnetwork = \"models/Late.ONNX\"\n" + kInput);
  const std::string place = "pipelines/late.toml:2: no such file: pipelines/models/Late.ONNX";
  ExpectHas(ExpectOk(Plan()).err, {place});
  NinjaOk({"records-net-cpu"});
  ExpectFails(Ninja({"records-late-cpu"}), {"Late.ONNX: "});
  ExpectHas(ExpectOk(Plan()).err, {place});

  Write("pipelines/models/Late.ONNX", model_.SerializeAsString());
  EXPECT_EQ(ExpectOk(Plan()).err, "") << "Ninja will try again";
  NinjaOk({"records-late-cpu"});
  ExpectNoWork("records-late-cpu");

  Delete("pipelines/models/Late.ONNX");
  NinjaOk({"records-net-cpu"});
  ExpectFails(Ninja({"records-late-cpu"}), {"Late.ONNX: "});
}

TEST_F(OnnxChain, FromAModelToAReportAndOtherWeightsAreOnlyBuiltAnew) {
  NinjaOk({"tune-net-cpu"});
  ExpectVerified("net.cpu");
  for (const char* file : {"report/net.cpu/index.html", "out/net.cpu/libnet.so"}) EXPECT_TRUE(Exists(Work(file)));
  // Three convolutions with different fused operations, and a dense layer. Alternatives: the first convolution with its
  // pool as one kernel, and the pool alone; the first one on blocked input, and blocking alone.
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
  ExpectVerified("net.cpu");
  EXPECT_NE(Read("work/out/net.cpu/net.params"), parameters);
  EXPECT_EQ(AllTrials("net"), trials);
  ExpectNoWork("tune-net-cpu");
}

TEST_F(OnnxChain, AModelHasTheLayoutOfItsPipeline) {
  InventTimes(3);
  const std::string pipeline = Read("pipelines/net.toml");
  for (const char* layout : {"nhwc", "nchw"}) {
    Write("pipelines/net.toml", std::string("layout = \"") + layout + "\"\n" + pipeline);
    NinjaOk({"tune-net-cpu"});
    ExpectVerified("net.cpu");
    ExpectHas(Read("work/report/net.cpu/report.json"), {std::string("\"layout\":\"") + layout + "\""});
    ExpectHas(Read("work/out/net.cpu/net.h"),
              {layout == std::string("nhwc") ? "f32[2,20,20,3] NHWC" : "f32[2,3,20,20], "});
    for (const pipeline::TaskEntry& task : List("net").tasks) {
      if (StartsWith(task.id, "conv2d"))
        ExpectHas(task.workload, {layout == std::string("nhwc") ? "layout=nhwc" : "layout=plain"});
    }
  }
  Write("pipelines/net.toml", "layout = \"nwhc\"\n" + pipeline);
  ExpectRefused(Plan(), 2, {"net.toml:1: `nwhc` is no layout; did you mean `nhwc`?"});
}

// Ninja knows the model's file; only reading the model reveals its external data.
TEST_F(OnnxChain, ValuesInAFileBesideTheModelAreInputsToo) {
  std::string values;
  for (::onnx::TensorProto& tensor : *model_.mutable_graph()->mutable_initializer()) {
    if (!tensor.has_raw_data() || tensor.data_type() != ::onnx::TensorProto::FLOAT) continue;
    onnx::PutOutside(&tensor, "w/values.bin", std::to_string(values.size()), std::to_string(tensor.raw_data().size()));
    values += tensor.raw_data();
    tensor.clear_raw_data();
  }
  ASSERT_FALSE(values.empty());
  Save();
  Write("pipelines/models/w/values.bin", values);
  Write("pipelines/net.toml", kNetwork + kInput + "[tune]\ntrials = 4\nalternatives = false\nin_network = false\n");
  InventTimes(3);
  NinjaOk({"build-net-cpu"});
  ExpectNoWork("build-net-cpu");
  const std::string parameters = Read("work/out/net.cpu/net.params");
  const auto trials = AllTrials("net");

  values[3] = static_cast<char>(values[3] ^ 1);  // the lowest bit of the first value's exponent
  Write("pipelines/models/w/values.bin", values);
  NinjaOk({"build-net-cpu"});
  EXPECT_NE(Read("work/out/net.cpu/net.params"), parameters);
  EXPECT_EQ(AllTrials("net"), trials);
  ExpectNoWork("build-net-cpu");

  Delete("pipelines/models/w/values.bin");
  ExpectFails(Ninja({"build-net-cpu"}), {"external data: "});
}

}  // namespace
}  // namespace hone

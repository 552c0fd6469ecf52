// [quantise] of a pipeline, from the network to the library and its report, under a real Ninja.
#include "base/rng.h"
#include "chain_folder.h"
#include "graph/graph.h"
#include "quantise/samples.h"

namespace hone {
namespace {

class QuantisedChain : public ChainFolder {
 protected:
  void SetUp() override {
    ChainFolder::SetUp();
    InventTimes(kSeed);
    for (const char* name : {"0.npy", "1.npy"}) WriteInput(name, name[0]);
    WriteQuantised("data = \"images\"\n");
    Delete("pipelines/two.toml");
    ExpectOk(Plan());
  }
  void WriteQuantised(const std::string& keys) {
    WritePipeline("one", 2);
    Write("pipelines/one-int8.toml", Read("pipelines/one.toml") + "[quantise]\n" + keys);
  }
  void WriteInput(const std::string& name, uint64_t seed) {
    Rng rng(seed);
    std::vector<float> values(3 * 14 * 14);
    for (float& v : values) v = static_cast<float>(rng.UniformDouble());
    Write("pipelines/images/" + name, quantise::NpyText({1, 3, 14, 14}, values));
  }
  std::string Params() const { return Read("work/quantised/one-int8.params"); }
};

TEST_F(QuantisedChain, EndsInALibraryOfIntegersWhoseOutputsAreExact) {
  NinjaOk({"bench-one-int8-cpu"});
  EXPECT_TRUE(Has("work/quantised/one-int8.report.json"));
  ExpectVerified("one-int8.cpu");
  const graph::Graph graph = Must(graph::ReadGraph(Work("nets/one-int8.graph.json"), nullptr));
  EXPECT_EQ(graph.name, "one-int8");
  EXPECT_THAT(Read("work/nets/one-int8.graph.json"), HasSubstr("+ bias + add(u8) + requant(u8)"));
  ExpectNoWork("bench-one-int8-cpu");
  ExpectRecordsAreWhole();
}

// Tasks with shifts are tuned, and their records replayed, as others.
TEST_F(QuantisedChain, PowersOfTwoAreShifted) {
  WriteQuantised("data = \"images\"\nscheme = \"power2\"\n");
  NinjaOk({"bench-one-int8-cpu"});
  ExpectVerified("one-int8.cpu");
  EXPECT_THAT(Read("work/nets/one-int8.graph.json"), HasSubstr("+ bias + add(i8) + shift(i8)"));
  EXPECT_THAT(Read("work/tasks/one-int8.cpu.tasks.json"), HasSubstr("add(i8) + shift(i8)"));
  ExpectNoWork("bench-one-int8-cpu");
  ExpectRecordsAreWhole();
}

TEST_F(QuantisedChain, OtherInputsOrSettingsCalibrateAgainAndTuneNothing) {
  NinjaOk({"bench-one-int8-cpu"});
  const std::string stamps = Snapshot("work/stamps", {".tuned"}), first = Params();
  const auto again = [&](const std::string& why) {
    const std::string out = NinjaOk({"bench-one-int8-cpu"});
    ExpectHas(out, {"quantise one-int8", "build one-int8.cpu"});
    ExpectHasNot(out, {"\ntune "});
    EXPECT_EQ(Snapshot("work/stamps", {".tuned"}), stamps) << why;
    ExpectNoWork("bench-one-int8-cpu");
    return Params();
  };
  WriteInput("1.npy", 99);
  const std::string changed = again("a changed input");
  EXPECT_NE(changed, first);
  WriteInput("2.npy", 5);
  EXPECT_NE(again("a further input"), changed);
  Delete("pipelines/images/2.npy");
  EXPECT_EQ(again("one less"), changed);
  WriteQuantised("data = \"images\"\nmethod = \"kl\"\n");
  again("another method");
  WriteQuantised("data = \"images\"\n");
  EXPECT_EQ(again("as before"), changed);
  // A kept layer changes the graph, and so its tasks.
  WriteQuantised("data = \"images\"\nkeep = [\"fc\"]\n");
  NinjaOk({"bench-one-int8-cpu"});
  EXPECT_THAT(Read("work/nets/one-int8.graph.json"), HasSubstr("dense(f32[1,64], f32[192,64]) + bias"));
}

TEST_F(QuantisedChain, MistakesStopThatNetworkAlone) {
  Delete("pipelines/images");
  ExpectHas(ExpectOk(Plan()).err, {"one-int8.toml:", "no such file: pipelines/images"});
  NinjaOk({"bench-one-cpu"});
  ExpectFails(Ninja({"build-one-int8-cpu"}), {"images: no such file or folder with calibration inputs"});
  EXPECT_FALSE(Has("work/quantised/one-int8.params"));
  WriteInput("0.npy", 1);
  NinjaOk({"build-one-int8-cpu"});

  WriteQuantised("data = \"images\"\nkeep = [\"fd\"]\n");
  NinjaOk({"bench-one-cpu"});
  ExpectFails(Ninja({"bench-one-int8-cpu"}), {"no node `fd` is in one; did you mean `fc`?"});
  WriteQuantised("data = \"images\"\nschem = \"affine\"\n");
  ExpectFails(Ninja({"bench-one-cpu"}), {"unknown key `schem` in [quantise]; did you mean `scheme`?"});
}

}  // namespace
}  // namespace hone

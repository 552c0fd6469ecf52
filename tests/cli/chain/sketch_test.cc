// A pipeline with a sketch of its own, through the whole chain with the real tools.
#include "chain_folder.h"

namespace hone {
namespace {

class SketchChain : public ChainFolder {
 protected:
  void SetUp() override {
    ChainFolder::SetUp();
    InventTimes(kSeed);
    WriteSketch("16 8", "l");
    Write("pipelines/flat.toml",
          "network = \"relu(f32[4096])\"\n[tune]\ntrials = 6\nmode = \"sketches\"\nsketch = \"mine.sketch\"\n");
    for (const char* other : {"one", "two"}) Delete("pipelines/" + std::string(other) + ".toml");
  }
  void WriteSketch(const std::string& lanes, const std::string& axis) {
    Write("pipelines/mine.sketch", "sketch mine\ndecide lanes " + lanes +
                                       "\nsplit out a0 [{lanes}] -> o l\nparallel out o\nvectorize out " + axis + "\n");
  }
  // The values of `lanes` in the trials that count.
  std::set<int64_t> Lanes() {
    std::set<int64_t> lanes;
    const auto store = Must(record::Store::OpenForReading(Db(Tasks("flat")[0])));
    for (const record::Trial& trial : Must(store->Trials())) {
      EXPECT_EQ(trial.outcome.config.template_name, "mine");
      lanes.insert(trial.outcome.config.Number("lanes"));
    }
    return lanes;
  }
};

TEST_F(SketchChain, WhatItFitsIsATaskAndIsBuiltWithoutTheFile) {
  ExpectOk(Plan());
  NinjaOk({"build-flat-cpu"});
  EXPECT_EQ(Lanes(), (std::set<int64_t>{8, 16}));
  const pipeline::BestEntry entry = Best("flat.cpu.choice").tasks[0];
  EXPECT_EQ(entry.config->template_name, "mine");
  EXPECT_THAT(entry.candidate->Text(), HasSubstr("vectorize out l"));
  ExpectHas(ReadJson("work/out/flat.cpu/manifest.json")["kernels"].dump(), {"\"source\":\"tuned\""});
  ExpectNoWork("build-flat-cpu");
  const std::string library = Read("work/out/flat.cpu/libflat.so");
  Delete("pipelines/mine.sketch");
  Delete("work/out");
  ExpectOk(Run({Path("bin/hone-build"), "--graph", "work/nets/flat.graph.json", "--target", "work/targets/cpu.json",
                "--best", "work/best/flat.cpu.choice.json", "--out", "work/out/flat.cpu"}));
  EXPECT_EQ(Read("work/out/flat.cpu/libflat.so"), library);
}

TEST_F(SketchChain, AChangeTunesAgainAndAMistakeIsNamed) {
  ExpectOk(Plan());
  NinjaOk({"records-flat-cpu"});
  WriteSketch("4", "l");
  NinjaOk({"records-flat-cpu"});
  EXPECT_EQ(Lanes(), std::set<int64_t>{4}) << "earlier trials are of another version";
  WriteSketch("4 2", "q");
  ExpectFails(Ninja({"records-flat-cpu"}), {"pipelines/mine.sketch:5:1: stage `out` has no axis `q`; known: o, l",
                                            "sketch `mine` fits no task of relu"});
  WriteSketch("4 2", "{lane}");
  ExpectFails(Ninja({"records-flat-cpu"}), {"pipelines/mine.sketch:5:16: no decision `lane`; did you mean `lanes`?"});
  Delete("pipelines/mine.sketch");
  ExpectFails(Ninja({"records-flat-cpu"}), {"pipelines/flat.toml:5: no such file: ", "mine.sketch"});
}

// A plugin's rule is needed to tune, not to build.
TEST_F(SketchChain, ARuleOfAPluginMakesTasksOfWhatItFits) {
  Write("bin/plugins/flat_rule.so", Must(ReadFile(std::string(HONE_PLUGINS) + "/flat_rule.so")));
  Write("pipelines/flat.toml",
        "plugin = \"flat_rule.so\"\nnetwork = \"relu(f32[64,64])\"\n[tune]\ntrials = 6\nmode = \"sketches\"\n");
  ExpectOk(Plan());
  NinjaOk({"build-flat-cpu"});
  const pipeline::BestEntry entry = Best("flat.cpu.choice").tasks[0];
  EXPECT_EQ(entry.config->template_name, "flat");
  EXPECT_THAT(entry.candidate->Text(), HasSubstr("parallel out task"));
  ExpectHas(Read("work/tasks/" + Tasks("flat")[0] + ".task.json"), {"flat_rule.so", "\"space\": \"stages=1,flat=1\""});
  ExpectNoWork("build-flat-cpu");
}

// Rules that throw or make nonsense are named, and the network is tuned without them.
TEST_F(SketchChain, AWrongRuleOfAPluginIsAWarning) {
  Write("cpu.json", "{\"kind\": \"cpu\"}");
  const CommandResult extracted =
      Run({Path("bin/hone-extract"), "--plugin", std::string(HONE_WRONG_RULES) + "/rules.so", "--network",
           "transpose(f32[16,64], perm=1,0)", "--target", "cpu.json", "--graph", "work/g.json", "--tasks",
           "work/t.json", "--task-dir", "work/wrong"});
  ExpectOk(extracted);
  EXPECT_THAT(extracted.err, AllOf(HasSubstr("rule `throws` threw an exception: no rule"),
                                   HasSubstr("the task is tuned without this rule")));
  ExpectHas(Read("work/t.json"), {"transpose"});
}

}  // namespace
}  // namespace hone

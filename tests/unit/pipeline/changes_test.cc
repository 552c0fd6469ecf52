#include "pipeline/changes.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "base/json.h"
#include "pipeline/ninja_explain.h"
#include "pipeline/ninja_reader.h"

namespace hone::pipeline {
namespace {

using Words = std::vector<std::string>;

TEST(ChangesTest, SettingsByKey) {
  EXPECT_EQ(JsonChanges(R"({"version": 1, "trials": 8, "measure": {"finalists": 8}})",
                        R"({"version": 2, "trials": 16, "measure": {"finalists": 8, "cooldown": 0.5}})"),
            (Words{"measure.cooldown none -> 0.5", "trials 8 -> 16"}));
  EXPECT_EQ(JsonChanges("{}", "{}"), Words());
  EXPECT_EQ(JsonChanges("torn {", R"({"seed": 1})"), Words{"seed none -> 1"});
}

TEST(ChangesTest, VersionsInWords) {
  EXPECT_EQ(AbiChanges("build 2\ncodegen 3\nspace a=1 b=2\n", "build 2\ncodegen 4\nspace a=1 b=3 c=1\n"),
            (Words{"knob list of b version 2 -> 3", "knob list of c version none -> 1",
                   "version of the code generator 3 -> 4"}));
}

Json Stamp(const TuneInputs& inputs) {
  return {{"trials", 8},
          {"inputs",
           {{"task", Digest128(inputs.task).Hex()},
            {"settings", Digest128(inputs.settings).Hex()},
            {"abi", Digest128(inputs.abi).Hex()}}},
          {"task_file", *ParseJson(inputs.task, "")},
          {"settings", *ParseJson(inputs.settings, "")},
          {"abi", inputs.abi}};
}

TEST(ChangesTest, AForeignStampHasNoTrials) {
  const TuneInputs inputs = {R"({"id": "x"})", R"({"trials": 8})", "codegen 3", {}};
  for (const Json& trials : {Json("8"), Json::array({8}), Json(-5), Json(2.5), Json(true), Json()}) {
    Json stamp = Stamp(inputs);
    stamp["trials"] = trials;
    EXPECT_EQ(NewTrials(DumpJson(stamp), inputs), 8) << trials;
    EXPECT_EQ(StampChanges(DumpJson(stamp), inputs), Words()) << trials;
  }
  TuneInputs foreign = inputs;
  foreign.settings = R"({"trials": "8"})";
  EXPECT_EQ(NewTrials("", foreign), 0);
}

TEST(ChangesTest, AStampAgainstWhatItsJobReadsNow) {
  const TuneInputs was = {
      R"({"id": "x", "space": "direct=3,winograd=1"})", R"({"trials": 8, "seed": 1})", "codegen 3\nmeasure 1", {}};
  const std::string stamp = DumpJson(Stamp(was));
  EXPECT_EQ(StampChanges(stamp, was), Words());
  EXPECT_EQ(NewTrials(stamp, was), 0);
  TuneInputs now = was;
  now.settings = R"({"trials": 20, "seed": 2})";
  now.donors = {"y"};
  EXPECT_EQ(StampChanges(stamp, now), (Words{"seed 1 -> 2", "trials 8 -> 20", "it learns from y"}));
  EXPECT_EQ(NewTrials(stamp, now), 12);
  now = was;
  now.task = R"({"id": "x", "space": "direct=4,winograd=1"})";
  EXPECT_EQ(StampChanges(stamp, now), Words{"knob list of direct version 3 -> 4"});
  EXPECT_EQ(NewTrials(stamp, now), 8) << "all anew";
  now = was;
  now.abi = "codegen 4\nmeasure 1";
  EXPECT_EQ(NewTrials(stamp, now), 8);
  EXPECT_EQ(NewTrials("", was), 8) << "no stamp";
  // A stamp that has digests alone.
  Json old = Stamp(was);
  old.erase("task_file"), old.erase("settings");
  now = was;
  now.settings = R"({"trials": 8, "seed": 2})";
  EXPECT_EQ(StampChanges(DumpJson(old), now), Words{"its settings changed"});
  EXPECT_EQ(StampChanges("torn", was), Words{"the stamp cannot be read"});
}

// Sentences of Ninja 1.11, and those of 1.10 and 1.12 where they differ.
TEST(NinjaExplainTest, Reasons) {
  const std::vector<Explanation> found = ParseExplanations(
      "ninja explain: output stamps/a b.done doesn't exist\n"
      "ninja explain: stamps/a b.done is dirty\n"
      "ninja explain: output x older than most recent input settings/one (2).json (17 vs 18)\n"
      "ninja explain: restat of output y older than most recent input abi/hone-tune.txt (17 vs 18)\n"
      "ninja explain: recorded mtime of z older than most recent input t (1 vs 2)\n"
      "ninja explain: command line changed for best/one.json\n"
      "ninja explain: command line not found in log for out/lib.so\n"
      "exec hone-tune --task t\n");
  ASSERT_EQ(found.size(), 6u);
  EXPECT_EQ(found[0].output, "stamps/a b.done");
  EXPECT_EQ(found[0].kind, DirtyKind::kMissing);
  EXPECT_EQ(found[1].input, "settings/one (2).json");
  EXPECT_EQ(found[2].output, "y");
  EXPECT_EQ(found[2].input, "abi/hone-tune.txt");
  EXPECT_EQ(found[3].kind, DirtyKind::kNewer);
  EXPECT_EQ(found[4].kind, DirtyKind::kCommand);
  EXPECT_EQ(found[5].kind, DirtyKind::kUnlogged);
  EXPECT_EQ(
      ParseCommands("ninja: Entering directory `w'\nexec a b\nninja explain: x is dirty\n\nninja: no work to do.\n"),
      Words{"exec a b"});
}

TEST(NinjaExplainTest, CommandsAreSplitAsTheShellWould) {
  EXPECT_EQ(SplitCommand("exec $HONE_LAUNCHER ../bin/hone-tune --task 'a b' --x 'it'\\''s'"),
            (Words{"../bin/hone-tune", "--task", "a b", "--x", "it's"}));
  EXPECT_EQ(SplitCommand("exec '/with space/hone-plan'"), Words{"/with space/hone-plan"});
  EXPECT_EQ(SplitCommand("rm -rf stamps"), Words());
  EXPECT_EQ(SplitCommand("exec 'open"), Words());
}

// What the writer writes is read back as it was.
TEST(NinjaReaderTest, RoundTrip) {
  NinjaBuild first{{"a b:c", "d$e"},        {"i1"}, "tune", {"in put"}, {"x", "y|z"}, {"tools/hone"},
                   {{"flags", "--donor a"}}};
  NinjaBuild second{{"alias"}, {}, "phony", {}, {}, {}, {}};
  for (int i = 0; i < 40; ++i)
    second.inputs.push_back("stamps/conv2d-0123456789abcdef" + std::to_string(i) + ".cpu.done");
  NinjaWriter writer;
  writer.Comment("build of nothing: comment");
  writer.Rule("tune", {{"command", "exec hone-tune $in"}});
  writer.Build(first);
  writer.Blank();
  writer.Build(second);
  writer.Default({"alias"});
  const auto builds = ReadBuilds(writer.text());
  ASSERT_TRUE(builds.ok()) << builds.status().message();
  ASSERT_EQ(builds->size(), 2u);
  for (const auto& [read, was] : {std::pair(&(*builds)[0], &first), std::pair(&(*builds)[1], &second)}) {
    EXPECT_EQ(read->outputs, was->outputs);
    EXPECT_EQ(read->implicit_outputs, was->implicit_outputs);
    EXPECT_EQ(read->rule, was->rule);
    EXPECT_EQ(read->inputs, was->inputs);
    EXPECT_EQ(read->implicit_inputs, was->implicit_inputs);
    EXPECT_EQ(read->order_only_inputs, was->order_only_inputs);
    EXPECT_EQ(read->bindings, was->bindings);
  }
  EXPECT_FALSE(ReadBuilds("build x\n").ok());
}

}  // namespace
}  // namespace hone::pipeline

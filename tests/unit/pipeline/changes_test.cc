#include "pipeline/changes.h"

#include "base/hash.h"
#include "base/json.h"
#include "common/expect.h"
#include "pipeline/ninja_writer.h"

namespace hone::pipeline {
namespace {

using Words = std::vector<std::string>;

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
  now.settings = R"({"version": 2, "trials": 20, "seed": 2, "measure": {"cooldown": 0.5}})";
  now.donors = {"y"};
  EXPECT_EQ(StampChanges(stamp, now),
            (Words{"measure.cooldown none -> 0.5", "seed 1 -> 2", "trials 8 -> 20", "it learns from y"}));
  EXPECT_EQ(NewTrials(stamp, now), 12);
  now = was;
  now.task = R"({"id": "x", "space": "direct=4,gemm=1,winograd=1"})";
  EXPECT_EQ(StampChanges(stamp, now),
            (Words{"knob list of direct version 3 -> 4", "knob list of gemm version none -> 1"}));
  EXPECT_EQ(NewTrials(stamp, now), 8) << "all anew";
  now = was;
  now.abi = "codegen 4\nmeasure 1";
  EXPECT_EQ(StampChanges(stamp, now), Words{"version of the code generator 3 -> 4"});
  EXPECT_EQ(NewTrials(stamp, now), 8);
  EXPECT_EQ(NewTrials("", was), 8) << "no stamp";
  // A stamp with digests only.
  Json old = Stamp(was);
  old.erase("task_file"), old.erase("settings");
  now = was;
  now.settings = R"({"trials": 8, "seed": 2})";
  EXPECT_EQ(StampChanges(DumpJson(old), now), Words{"its settings changed"});
  EXPECT_EQ(StampChanges("torn", was), Words{"the stamp cannot be read"});
}

TEST(ChangesTest, AJobThatOnlySecondsLimitHasSecondsToCome) {
  const TuneInputs was = {R"({"id": "x"})", R"({"trials": 1000000000, "seconds": 4.5})", "codegen 3", {}};
  Json stamp = Stamp(was);
  stamp["search"] = {{"tuning_seconds", 4.75}};
  EXPECT_EQ(NewTrials("", was), 0);
  EXPECT_EQ(NewSeconds("", was), 4.5);
  EXPECT_EQ(NewSeconds(DumpJson(stamp), was), 0) << "it took a trial more than it was given";
  TuneInputs now = was;
  now.settings = R"({"trials": 1000000000, "seconds": 6})";
  EXPECT_EQ(NewSeconds(DumpJson(stamp), now), 1.25);
  now.abi = "codegen 4";
  EXPECT_EQ(NewSeconds(DumpJson(stamp), now), 6) << "all anew";
  stamp["met_by"] = "space-exhausted";
  now.abi = was.abi;
  EXPECT_EQ(NewSeconds(DumpJson(stamp), now), 0);
  now.settings = R"({"trials": 20, "seconds": 6})";
  EXPECT_EQ(NewSeconds("", now), 0) << "trials limit it as well";
}

TEST(NinjaWriter, CommandsAreSplitAsTheShellWould) {
  EXPECT_EQ(SplitCommand("exec $HONE_LAUNCHER ../bin/hone-tune --task 'a b' --x 'it'\\''s'"),
            (Words{"../bin/hone-tune", "--task", "a b", "--x", "it's"}));
  EXPECT_EQ(SplitCommand("exec '/with space/hone-plan'"), Words{"/with space/hone-plan"});
  EXPECT_EQ(SplitCommand("rm -rf stamps"), Words());
  EXPECT_EQ(SplitCommand("exec 'open"), Words());
}

}  // namespace
}  // namespace hone::pipeline

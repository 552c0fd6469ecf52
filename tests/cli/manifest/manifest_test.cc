// The generated manifest under a real Ninja with stand-ins for the tools: what runs, what does not, and what is left
// when something is deleted, changed or interrupted. tests/cli/incremental has the changes of the table "What runs
// again" with the real tools.
#include <signal.h>

#include "base/clock.h"
#include "nightly/accepted.h"
#include "work_folder.h"

namespace hone {
namespace {

class Manifest : public WorkFolder {
 protected:
  explicit Manifest(const std::string& name = "project") : WorkFolder(name) {}
  void SetUp() override {
    WorkFolder::SetUp();
    PlanOk();
  }
  // Makes everything.
  void MakeAll() {
    NinjaOk({});
    Calls();
  }
};

TEST_F(Manifest, AFreshFolderGoesThroughInOneInvocationAndASecondNetworkTunesOnlyWhatIsNew) {
  ExpectCalls({"tune-alpha-cpu"}, {"bench alpha.cpu", "build alpha.cpu", "build alpha.cpu.untuned", "confirm alpha.cpu",
                                   "extract alpha.cpu", "extract beta.cpu", "pick-best alpha.cpu", "report alpha.cpu",
                                   "tune a 4", "tune b 4"});
  EXPECT_EQ(Read("work/best/alpha.cpu.json"), "a 10, b 10\n");
  EXPECT_TRUE(Has("work/report/alpha.cpu/index.html"));
  ExpectNoWork({"tune-alpha-cpu"});
  ExpectCalls({"records-beta-cpu"}, {"tune c 4"});
}

// Regression runs cover accepted libraries: they build them and measure each time they are requested, and nothing waits
// for them.
TEST_F(Manifest, ANightBuildsAndMeasuresWhatIsAccepted) {
  ExpectCalls({"nightly"}, {"extract alpha.cpu", "extract beta.cpu", "nightly main"});  // no verdict without results
  nightly::Acceptance accepted;
  accepted.name = "alpha";
  accepted.digest = nightly::ArtifactDigest({}, "alpha");
  Write("work/accepted/alpha.cpu.jsonl", nightly::AcceptanceText(accepted));
  ExpectCalls({"nightly"}, {"build alpha.cpu", "confirm alpha.cpu", "nightly alpha.cpu", "nightly main",
                            "pick-best alpha.cpu", "tune a 4", "tune b 4"});
  ExpectCalls({"nightly"}, {"nightly alpha.cpu", "nightly main"});
  // The reference's choices are unknown: there is nothing to replay.
  ExpectCalls({"nightly-replay"}, {"nightly replay"});
  const std::string folder = "work/accepted/alpha.cpu/" + accepted.digest;
  accepted.files = {{nightly::kChoiceFile, "0"}};
  Write(folder + "/choice.json", "a 10\n");
  Write(folder + "/alpha.graph.json", "resnet-18 1\n");
  Write("work/accepted/alpha.cpu.jsonl", nightly::AcceptanceText(accepted));
  ExpectCalls({"nightly-replay"}, {"build alpha.cpu", "nightly alpha.cpu", "nightly replay"});
  EXPECT_TRUE(Has("work/nights/replay/out/alpha.cpu/libalpha.so"));
  // Neither has affected beta, or the ordinary targets.
  NinjaOk({"tune-alpha-cpu"});
  NinjaOk({"nightly"});
  Calls();
  ExpectNoWork({"tune-alpha-cpu"});
}

// beta has a larger budget for b than alpha; alpha's change affects only a.
TEST_F(Manifest, ABudgetDirtiesOnlyTheTasksThatAreTunedWithIt) {
  WritePipeline("beta", "resnet-34", 6);
  MakeAll();
  WritePipeline("alpha", "resnet-18", 5);
  // The best is unchanged: nothing is built or timed again.
  ExpectCalls({}, {"pick-best alpha.cpu", "report alpha.cpu", "tune a 1"});
  ExpectNoWork();
  // A halved budget measures nothing; b is beta's.
  WritePipeline("alpha", "resnet-18", 2);
  ExpectCalls({"records-alpha-cpu"}, {"tune a 0"});
}

// The finalists were timed again, and the same ones won: only the report changes.
TEST_F(Manifest, NewFiguresOfTheSameChoiceBuildNothingAndABetterRecordIsBuiltAndTimed) {
  WritePipeline("beta", "resnet-34", 9);
  MakeAll();
  const std::string choice = Read("work/best/alpha.cpu.choice.json");
  Write("bin/figures", "timed again\n");
  WritePipeline("alpha", "resnet-18", 5);
  ExpectCalls({"tune-alpha-cpu"}, {"confirm alpha.cpu", "pick-best alpha.cpu", "report alpha.cpu", "tune a 1"});
  ExpectHas(Read("work/best/alpha.cpu.confirmed.json"), {"timed again"});
  EXPECT_EQ(Read("work/best/alpha.cpu.choice.json"), choice);
  ExpectNoWork({"tune-alpha-cpu"});
  Write("bin/speed", "5\n");
  WritePipeline("alpha", "resnet-18", 6);
  ExpectCalls({"tune-alpha-cpu"}, {"bench alpha.cpu", "build alpha.cpu", "confirm alpha.cpu", "pick-best alpha.cpu",
                                   "report alpha.cpu", "tune a 1"});
}

TEST_F(Manifest, APipelineThatComesOrGoesIsNoticed) {
  MakeAll();
  Write("bin/networks/resnet-50", "a d\n");
  WritePipeline("aaa", "resnet-50", 4);  // sorts before the others, so the edge that owns task a changes
  NinjaOk({"records-aaa-cpu"});
  for (const std::string& call : Calls()) {
    EXPECT_TRUE(call == "tune d 4" || call == "tune a 0" || call == "extract aaa.cpu") << call;
  }
  EXPECT_EQ(Trials("d"), 4);
  MakeAll();
  ExpectNoWork();
  Delete("pipelines/beta.toml");
  ExpectCalls({}, {});
  ExpectHasNot(Read("work/build.ninja"), {"beta"});
  EXPECT_TRUE(Has("work/records/cpu/c.db"));
}

TEST_F(Manifest, WhatIsDeletedIsMadeAgainWithoutMeasuring) {
  MakeAll();
  const Words again = {"tune a 0", "tune b 0", "tune c 0"};
  const auto tuned = [&] {
    Words calls = Calls();
    std::erase_if(calls, [](const std::string& call) { return !StartsWith(call, "tune "); });
    return calls;
  };
  Delete("work/stamps/b.cpu.done");
  NinjaOk({});
  EXPECT_EQ(tuned(), Words{"tune b 0"});
  ExpectNoWork();
  NinjaOk({"clean-stamps"});
  EXPECT_FALSE(Has("work/stamps/a.cpu.done"));
  ExpectCalls({"records-alpha-cpu", "records-beta-cpu"}, again);
  MakeAll();
  Delete("work/.ninja_log");
  NinjaOk({});
  EXPECT_EQ(tuned(), again);
  ExpectNoWork();
  Delete("work/tasks/a.task.json");
  NinjaOk({});
  EXPECT_TRUE(Has("work/tasks/a.task.json"));
  for (const std::string& call : Calls()) EXPECT_TRUE(call == "extract alpha.cpu" || call == "tune a 0") << call;
  ExpectNoWork();
  EXPECT_EQ(Trials("a") + Trials("b") + Trials("c"), 12);
}

TEST_F(Manifest, AnotherLauncherIsUsedAndMakesNothingDirty) {
  WriteProgram(
      "bin/launch",
      "#!/bin/sh\necho \"launched $1 $(basename \"$2\")\" >>\"$(dirname \"$0\")/calls\"\nshift\nexec \"$@\"\n");
  ExpectOk(Ninja({"records-alpha-cpu"}, Path("bin/launch") + " -X"));
  EXPECT_EQ(Calls(),
            (Words{"extract alpha.cpu", "extract beta.cpu", "launched -X hone-extract", "launched -X hone-extract",
                   "launched -X hone-tune", "launched -X hone-tune", "tune a 4", "tune b 4"}));
  ExpectCalls({"records-alpha-cpu"}, {});
}

TEST_F(Manifest, ATerminatedNinjaWaitsForTheToolAndLeavesItsRecords) {
  WritePipeline("alpha", "resnet-18", 200);
  NinjaOk({"best-beta-cpu"});  // contains b, with 200 trials; leaves a to be tuned
  Calls();
  Write("bin/slow", "");
  Subprocess ninja = Start({"ninja", "-C", "work", "records-alpha-cpu"});
  for (int i = 0; i < 1000 && Trials("a") < 3; ++i) RealClock()->SleepSeconds(0.01);
  ASSERT_GE(Trials("a"), 3);
  kill(ninja.pid(), SIGTERM);
  EXPECT_FALSE(Must(ninja.Wait(30)).ok());
  // `exec` lets Ninja wait for the tool, so its last action is done and no trial is added afterwards.
  EXPECT_TRUE(Has("work/records/cpu/a.db.end"));
  EXPECT_FALSE(Has("work/stamps/a.cpu.done"));
  const int64_t done = Trials("a");
  EXPECT_LT(done, 200);
  EXPECT_EQ(Calls(), Words());
  Delete("bin/slow");
  ExpectCalls({"records-alpha-cpu"}, {fmt::format("tune a {}", 200 - done)});
  EXPECT_EQ(Trials("a"), 200);
}

// Ninja deletes the outputs of an interrupted edge that has a depfile: a lost manifest would need hone-plan by hand.
TEST_F(Manifest, AnInterruptedPlanLosesNoManifest) {
  MakeAll();
  const std::string tail = fmt::format("exec '{}' \"$@\"\n", HONE_PLAN);
  WriteProgram("bin/hone-plan", "#!/bin/sh\n: >planning\nsleep 20\n" + tail);
  WritePipeline("alpha", "resnet-18", 6);
  for (const int signal : {SIGINT, SIGTERM}) {
    Subprocess ninja = Start({"ninja", "-C", "work", "records-alpha-cpu"});
    for (int i = 0; i < 1000 && !Has("work/planning"); ++i) RealClock()->SleepSeconds(0.01);
    ninja.Kill(signal);
    EXPECT_FALSE(ninja.Wait(30)->ok());
    EXPECT_TRUE(Has("work/build.ninja"));
    Delete("work/planning");
  }
  WriteProgram("bin/hone-plan", "#!/bin/sh\n" + tail);
  ExpectCalls({"records-alpha-cpu"}, {"tune a 2", "tune b 2"});
}

TEST_F(Manifest, ToolsOfNinjaWorkOnIt) {
  NinjaOk({"records-alpha-cpu"});
  ExpectHas(NinjaOk({"-t", "query", "stamps/a.cpu.done"}), {"abi/hone-tune.txt"});
  ExpectHas(NinjaOk({"-t", "commands", "tune-alpha-cpu"}), {"exec $HONE_LAUNCHER"});
  NinjaOk({"-t", "clean"});
  EXPECT_FALSE(Has("work/stamps/a.cpu.done"));
  EXPECT_TRUE(Has("work/records/cpu/a.db"));
  Calls();
  ExpectCalls({"records-alpha-cpu"}, {"tune a 0", "tune b 0"});
  ExpectFails(Ninja({"tune-alhpa-cpu"}), {"did you mean 'tune-alpha-cpu'?"});
}

TEST_F(Manifest, AFailedExtractIsTriedAgain) {
  Delete("bin/networks/resnet-34");
  for (int i = 0; i < 2; ++i) ExpectFails(Ninja({"records-beta-cpu"}), {"no network resnet-34"});
  Write("bin/networks/resnet-34", "b c\n");
  ExpectCalls({"records-beta-cpu"}, {"extract alpha.cpu", "extract beta.cpu", "tune b 4", "tune c 4"});
}

TEST_F(Manifest, ASecondPlanWritesNothing) {
  MakeAll();
  const std::string before = Snapshot("work");
  PlanOk();
  EXPECT_EQ(Snapshot("work"), before);
}

TEST_F(Manifest, TargetsStopAtTheirPart) {
  ExpectCalls({"build-alpha-cpu"}, {"build alpha.cpu", "confirm alpha.cpu", "extract alpha.cpu", "extract beta.cpu",
                                    "pick-best alpha.cpu", "tune a 4", "tune b 4"});
  ExpectCalls({"bench-alpha-cpu"}, {"bench alpha.cpu", "build alpha.cpu.untuned"});
  ExpectCalls({"report-alpha-cpu"}, {"report alpha.cpu"});
}

class ManifestInOddFolder : public Manifest {
 protected:
  ManifestInOddFolder() : Manifest("my $project: 'one'") {}
};

TEST_F(ManifestInOddFolder, WorksAllTheSame) {
  NinjaOk({});
  EXPECT_FALSE(Calls().empty());
  ExpectNoWork();
}

}  // namespace
}  // namespace hone

// The generated manifest under a real Ninja with stand-ins for the tools: what runs, what does not, and what is left
// when something is deleted, changed or interrupted.
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "nightly/accepted.h"
#include "work_folder.h"

namespace hone {
namespace {

using Lines = std::vector<std::string>;

constexpr const char* kNothing = "ninja: no work to do.\n";

class Manifest : public WorkFolderTest {
 protected:
  void SetUp() override {
    WorkFolderTest::SetUp();
    const CommandResult plan = RunPlan();
    ASSERT_TRUE(plan.status.ok()) << plan.err;
    ASSERT_EQ(plan.err, "");
  }

  void ExpectNothingToDo() {
    EXPECT_NE(NinjaOk({}).find(kNothing), std::string::npos);
    EXPECT_EQ(Calls(), Lines());
  }
};

TEST_F(Manifest, AFreshFolderGoesThroughInOneInvocation) {
  NinjaOk({"tune-alpha-cpu"});
  const Lines calls = {"bench alpha.cpu",   "build alpha.cpu",  "build alpha.cpu.untuned", "confirm alpha.cpu",
                       "extract alpha.cpu", "extract beta.cpu", "pick-best alpha.cpu",     "report alpha.cpu",
                       "tune a 4",          "tune b 4"};
  EXPECT_EQ(Calls(), calls);
  EXPECT_EQ(Read("work/best/alpha.cpu.json"), "a 10, b 10\n");
  EXPECT_TRUE(Exists(Path(project_ + "/work/report/alpha.cpu/index.html")));
  EXPECT_NE(NinjaOk({"tune-alpha-cpu"}).find(kNothing), std::string::npos);
  EXPECT_EQ(Calls(), Lines());
}

TEST_F(Manifest, ASecondNetworkTunesOnlyWhatTheFirstHasNot) {
  NinjaOk({"tune-alpha-cpu"});
  Calls();
  NinjaOk({"records-beta-cpu"});
  EXPECT_EQ(Calls(), Lines{"tune c 4"});
}

TEST_F(Manifest, EachPartIsATargetOfItsOwn) {
  NinjaOk({"records-alpha-cpu"});
  EXPECT_FALSE(Exists(Path(project_ + "/work/best")));
  NinjaOk({"best-alpha-cpu"});
  EXPECT_FALSE(Exists(Path(project_ + "/work/out")));
  NinjaOk({"build-alpha-cpu"});
  EXPECT_FALSE(Exists(Path(project_ + "/work/bench")));
  NinjaOk({"bench-alpha-cpu"});
  EXPECT_FALSE(Exists(Path(project_ + "/work/report")));
  NinjaOk({"report-alpha-cpu"});
  EXPECT_TRUE(Exists(Path(project_ + "/work/report")));
  NinjaOk({});
  Calls();
  ExpectNothingToDo();
}

// Nights are for what was accepted; they build it, measure each time they are asked for, and nothing waits for them.
TEST_F(Manifest, ANightBuildsAndMeasuresWhatIsAccepted) {
  NinjaOk({"nightly"});
  EXPECT_EQ(Calls(), (Lines{"extract alpha.cpu", "extract beta.cpu", "nightly main"}));  // a verdict on nothing
  nightly::Acceptance accepted;
  accepted.name = "alpha";
  accepted.digest = nightly::ArtifactDigest({}, "alpha");
  Write("work/accepted/alpha.cpu.jsonl", nightly::AcceptanceText(accepted));
  NinjaOk({"nightly"});
  EXPECT_EQ(Calls(), (Lines{"build alpha.cpu", "confirm alpha.cpu", "nightly alpha.cpu", "nightly main",
                            "pick-best alpha.cpu", "tune a 4", "tune b 4"}));
  NinjaOk({"nightly"});
  EXPECT_EQ(Calls(), (Lines{"nightly alpha.cpu", "nightly main"}));
  // It is not known what the reference was built from: there is nothing to replay.
  NinjaOk({"nightly-replay"});
  EXPECT_EQ(Calls(), Lines{"nightly replay"});
  const std::string folder = "work/accepted/alpha.cpu/";
  accepted.files = {{nightly::kChoiceFile, "0"}};
  Write(folder + accepted.digest + "/choice.json", "a 10\n");
  Write(folder + accepted.digest + "/alpha.graph.json", "resnet-18 1\n");
  Write("work/accepted/alpha.cpu.jsonl", nightly::AcceptanceText(accepted));
  NinjaOk({"nightly-replay"});
  EXPECT_EQ(Calls(), (Lines{"build alpha.cpu", "nightly alpha.cpu", "nightly replay"}));
  EXPECT_TRUE(Exists(Path(project_ + "/work/nights/replay/out/alpha.cpu/libalpha.so")));
  // Neither has touched beta, nor what is made by day.
  NinjaOk({"tune-alpha-cpu"});
  Calls();
  NinjaOk({"nightly"});
  Calls();
  EXPECT_NE(NinjaOk({"tune-alpha-cpu"}).find(kNothing), std::string::npos);
}

// beta asks more of b than alpha does; alpha's change concerns a alone.
TEST_F(Manifest, ABudgetDirtiesOnlyTheTasksThatAreTunedWithIt) {
  WritePipeline("beta", "resnet-34", 6);
  NinjaOk({});
  Calls();
  WritePipeline("alpha", "resnet-18", 5);
  NinjaOk({});
  // The best is the same: nothing is built or timed again.
  EXPECT_EQ(Calls(), (Lines{"pick-best alpha.cpu", "report alpha.cpu", "tune a 1"}));
  ExpectNothingToDo();
}

TEST_F(Manifest, ADoubledBudgetMeasuresTheMissingTrialsAndAHalvedOneNone) {
  NinjaOk({"records-alpha-cpu"});
  Calls();
  WritePipeline("alpha", "resnet-18", 8);
  NinjaOk({"records-alpha-cpu"});
  EXPECT_EQ(Calls(), (Lines{"tune a 4", "tune b 4"}));
  WritePipeline("alpha", "resnet-18", 2);
  NinjaOk({"records-alpha-cpu"});
  // b is beta's again, whose budget of 4 is the larger one now.
  EXPECT_EQ(Calls(), (Lines{"tune a 0", "tune b 0"}));
}

// The finalists were timed again, and the same ones won: the report changes, and nothing else.
TEST_F(Manifest, NewFiguresOfTheSameChoiceBuildNothing) {
  NinjaOk({});
  Calls();
  const std::string choice = Read("work/best/alpha.cpu.choice.json");
  Write("bin/figures", "timed again\n");
  WritePipeline("alpha", "resnet-18", 5);
  NinjaOk({"tune-alpha-cpu"});
  EXPECT_NE(Read("work/best/alpha.cpu.confirmed.json").find("timed again"), std::string::npos);
  EXPECT_EQ(Read("work/best/alpha.cpu.choice.json"), choice);
  const Lines calls = Calls();
  for (const char* call : {"pick-best alpha.cpu", "confirm alpha.cpu", "report alpha.cpu"}) {
    EXPECT_EQ(std::count(calls.begin(), calls.end(), call), 1) << call;
  }
  for (const char* call : {"build alpha.cpu", "build alpha.cpu.untuned", "bench alpha.cpu"}) {
    EXPECT_EQ(std::count(calls.begin(), calls.end(), call), 0) << call;
  }
  EXPECT_NE(NinjaOk({"tune-alpha-cpu"}).find(kNothing), std::string::npos);
}

TEST_F(Manifest, ABetterRecordIsBuiltAndTimed) {
  NinjaOk({});
  Calls();
  Write("bin/speed", "5\n");
  WritePipeline("beta", "resnet-34", 5);
  NinjaOk({});
  EXPECT_EQ(Calls(), (Lines{"bench alpha.cpu", "bench beta.cpu", "build alpha.cpu", "build beta.cpu",
                            "confirm alpha.cpu", "confirm beta.cpu", "pick-best alpha.cpu", "pick-best beta.cpu",
                            "report alpha.cpu", "report beta.cpu", "tune b 1", "tune c 1"}));
}

TEST_F(Manifest, ATouchedToolRerunsNothing) {
  NinjaOk({});
  Calls();
  for (const char* tool : {"hone-extract", "hone-tune", "hone-pick-best", "hone-build", "hone-bench", "hone-report"}) {
    Touch(std::string("bin/") + tool);
  }
  NinjaOk({});
  EXPECT_EQ(Calls(), Lines());
  ExpectNothingToDo();
}

TEST_F(Manifest, ATouchedPipelineOrTargetRerunsNothing) {
  NinjaOk({});
  Calls();
  Write("pipelines/alpha.toml", "# A comment.\n" + Read("pipelines/alpha.toml"));
  Touch("pipelines/targets/cpu.toml");
  NinjaOk({});
  EXPECT_EQ(Calls(), Lines());
  ExpectNothingToDo();
}

TEST_F(Manifest, AChangedAbiRerunsTheEdgesOfItsTool) {
  NinjaOk({});
  Calls();
  Write("bin/hone-tune.abi", "version 2\n");
  Touch("bin/hone-tune");
  NinjaOk({});
  EXPECT_EQ(Calls(), (Lines{"tune a 0", "tune b 0", "tune c 0"}));
  Write("bin/hone-extract.abi", "version 2\n");
  Touch("bin/hone-extract");
  NinjaOk({});
  EXPECT_EQ(Calls(), (Lines{"extract alpha.cpu", "extract beta.cpu"}));
  ExpectNothingToDo();
}

// The manifest's own text hardly says what a target is: extract must run, and its tasks be known, before anything else.
TEST_F(Manifest, AChangedTargetIsExtractedAgainBeforeItIsTuned) {
  NinjaOk({});
  Calls();
  Write("bin/networks/resnet-18", "a2 b2\n");
  Write("pipelines/targets/cpu.toml", "kind = \"cpu\"\nthreads = 2\n");
  NinjaOk({"records-alpha-cpu"});
  EXPECT_EQ(Calls(), (Lines{"extract alpha.cpu", "extract beta.cpu", "tune a2 4", "tune b2 4"}));
}

TEST_F(Manifest, AnotherNetworkInAPipelineIsExtractedAndTunedInOneInvocation) {
  NinjaOk({"records-alpha-cpu"});
  Calls();
  Write("bin/networks/resnet-50", "a d\n");
  WritePipeline("alpha", "resnet-50", 4);
  NinjaOk({"records-alpha-cpu"});
  EXPECT_EQ(Calls(), (Lines{"extract alpha.cpu", "tune d 4"}));
}

TEST_F(Manifest, ANewPipelineIsNoticed) {
  NinjaOk({});
  Calls();
  Write("bin/networks/resnet-50", "a d\n");
  WritePipeline("aaa", "resnet-50", 4);  // sorts before the others: the owner of task a changes
  NinjaOk({"records-aaa-cpu"});
  const Lines calls = Calls();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "tune d 4"), 1);
  for (const std::string& call : calls) {
    EXPECT_TRUE(call == "tune d 4" || call == "tune a 0" || call == "extract aaa.cpu") << call;
  }
  NinjaOk({});
  Calls();
  ExpectNothingToDo();
}

TEST_F(Manifest, ARemovedPipelineIsNoticed) {
  NinjaOk({});
  Calls();
  ASSERT_TRUE(Remove(Path(project_ + "/pipelines/beta.toml")).ok());
  NinjaOk({});
  EXPECT_EQ(Calls(), Lines());
  EXPECT_EQ(Read("work/build.ninja").find("beta"), std::string::npos);
  EXPECT_TRUE(Exists(Path(project_ + "/work/records/cpu/c.db")));
}

TEST_F(Manifest, ADeletedStampIsMadeAgainWithoutMeasuring) {
  NinjaOk({});
  Calls();
  ASSERT_TRUE(Remove(Path(project_ + "/work/stamps/b.cpu.done")).ok());
  NinjaOk({});
  const Lines calls = Calls();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "tune b 0"), 1);
  for (const std::string& call : calls) EXPECT_NE(call.substr(0, 5), "build") << call;
  ExpectNothingToDo();
}

TEST_F(Manifest, CleanStampsStampsEverythingAgainWithoutMeasuring) {
  NinjaOk({});
  Calls();
  NinjaOk({"clean-stamps"});
  EXPECT_FALSE(Exists(Path(project_ + "/work/stamps/a.cpu.done")));
  NinjaOk({"records-alpha-cpu", "records-beta-cpu"});
  EXPECT_EQ(Calls(), (Lines{"tune a 0", "tune b 0", "tune c 0"}));
}

TEST_F(Manifest, ALostLogStampsEverythingAgainWithoutMeasuring) {
  NinjaOk({});
  Calls();
  ASSERT_TRUE(Remove(Path(project_ + "/work/.ninja_log")).ok());
  NinjaOk({});
  int tuned = 0;
  for (const std::string& call : Calls()) {
    if (call.substr(0, 5) != "tune ") continue;
    EXPECT_EQ(call.back(), '0') << call;
    ++tuned;
  }
  EXPECT_EQ(tuned, 3);
  ExpectNothingToDo();
}

TEST_F(Manifest, ADeletedTaskFileIsMadeAgain) {
  NinjaOk({});
  Calls();
  ASSERT_TRUE(Remove(Path(project_ + "/work/tasks/a.task.json")).ok());
  NinjaOk({});
  EXPECT_TRUE(Exists(Path(project_ + "/work/tasks/a.task.json")));
  for (const std::string& call : Calls()) EXPECT_TRUE(call == "extract alpha.cpu" || call == "tune a 0") << call;
  ExpectNothingToDo();
}

TEST_F(Manifest, AnotherLauncherIsUsedAndMakesNothingDirty) {
  Write("bin/launch",
        "#!/bin/sh\necho \"launched $1 $(basename \"$2\")\" >>\"$(dirname \"$0\")/calls\"\nshift\nexec \"$@\"\n");
  ASSERT_EQ(chmod(Path(project_ + "/bin/launch").c_str(), 0755), 0);
  const std::string launcher = Path(project_ + "/bin/launch") + " -X";
  EXPECT_TRUE(Ninja({"records-alpha-cpu"}, {{"HONE_LAUNCHER", launcher}}).status.ok());
  EXPECT_EQ(Calls(),
            (Lines{"extract alpha.cpu", "extract beta.cpu", "launched -X hone-extract", "launched -X hone-extract",
                   "launched -X hone-tune", "launched -X hone-tune", "tune a 4", "tune b 4"}));
  NinjaOk({"records-alpha-cpu"});
  EXPECT_EQ(Calls(), Lines());
}

TEST_F(Manifest, ATerminatedNinjaWaitsForTheToolAndLeavesItsRecords) {
  WritePipeline("alpha", "resnet-18", 200);
  NinjaOk({"best-beta-cpu"});  // has b in it, with 200 trials; leaves a to be tuned
  Calls();
  Write("bin/slow", "");
  SpawnOptions options;
  options.argv = {"ninja", "-C", "work", "records-alpha-cpu"};
  options.cwd = Path(project_);
  Result<Subprocess> ninja = Subprocess::Spawn(options);
  ASSERT_TRUE(ninja.ok()) << ninja.status().message();
  const std::string db = Path(project_ + "/work/records/cpu/a.db");
  const auto trials = [&] {
    const Result<std::string> text = ReadFile(db);
    return text.ok() ? std::count(text->begin(), text->end(), '\n') : 0;
  };
  for (int i = 0; i < 1000 && trials() < 3; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_GE(trials(), 3);
  kill(ninja->pid(), SIGTERM);
  const Result<ExitStatus> status = ninja->Wait(30);
  ASSERT_TRUE(status.ok()) << status.status().message();
  EXPECT_FALSE(status->ok());
  // With `exec` Ninja has waited: what the tool does last is done, and no trial is added behind its back.
  EXPECT_TRUE(Exists(db + ".end"));
  EXPECT_FALSE(Exists(Path(project_ + "/work/stamps/a.cpu.done")));
  const auto left = trials();
  EXPECT_LT(left, 200);
  EXPECT_EQ(Calls(), Lines());
  ASSERT_TRUE(Remove(Path(project_ + "/bin/slow")).ok());
  NinjaOk({"records-alpha-cpu"});
  EXPECT_EQ(Calls(), Lines{fmt::format("tune a {}", 200 - left)});
  EXPECT_EQ(trials(), 200);
}

// Ninja deletes the outputs of an interrupted edge that has a depfile: a lost manifest would need hone-plan by hand.
TEST_F(Manifest, AnInterruptedPlanLosesNoManifest) {
  NinjaOk({});
  Calls();
  ASSERT_TRUE(Remove(Path(project_ + "/bin/hone-plan")).ok());  // a link to the real one
  const std::string tail = fmt::format("exec '{}' \"$@\"\n", HONE_PLAN), script = project_ + "/bin/hone-plan";
  Write("bin/hone-plan", "#!/bin/sh\n: >planning\nsleep 20\n" + tail);
  ASSERT_EQ(chmod(Path(script).c_str(), 0755), 0);
  WritePipeline("alpha", "resnet-18", 6);
  for (const int signal : {SIGINT, SIGTERM}) {
    SpawnOptions options;
    options.argv = {"ninja", "-C", "work", "records-alpha-cpu"};
    options.cwd = Path(project_);
    Result<Subprocess> ninja = Subprocess::Spawn(options);
    ASSERT_TRUE(ninja.ok()) << ninja.status().message();
    const std::string planning = Path(project_ + "/work/planning");
    for (int i = 0; i < 1000 && !Exists(planning); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ninja->Kill(signal);
    EXPECT_FALSE(ninja->Wait(30)->ok());
    EXPECT_TRUE(Exists(Path(project_ + "/work/build.ninja")));
    ASSERT_TRUE(Remove(planning).ok());
  }
  Write("bin/hone-plan", "#!/bin/sh\n" + tail);
  NinjaOk({"records-alpha-cpu"});
  EXPECT_EQ(Calls(), (Lines{"tune a 2", "tune b 2"}));
}

TEST_F(Manifest, AFailedExtractSaysSoAndIsTriedAgain) {
  WritePipeline("beta", "vgg-16", 4);
  const CommandResult result = Ninja({"tune-alpha-cpu"});
  EXPECT_FALSE(result.status.ok());
  EXPECT_NE(result.out.find("hone-extract: no network vgg-16"), std::string::npos) << result.out;
  Write("bin/networks/vgg-16", "a\n");
  NinjaOk({"tune-beta-cpu"});
}

TEST_F(Manifest, ToolsOfNinjaWorkOnIt) {
  NinjaOk({"records-alpha-cpu"});
  EXPECT_NE(NinjaOk({"-t", "query", "stamps/a.cpu.done"}).find("abi/hone-tune.txt"), std::string::npos);
  EXPECT_NE(NinjaOk({"-t", "commands", "tune-alpha-cpu"}).find("exec $HONE_LAUNCHER"), std::string::npos);
  NinjaOk({"-t", "clean"});
  EXPECT_FALSE(Exists(Path(project_ + "/work/stamps/a.cpu.done")));
  EXPECT_TRUE(Exists(Path(project_ + "/work/records/cpu/a.db")));
  Calls();
  NinjaOk({"records-alpha-cpu"});
  EXPECT_EQ(Calls(), (Lines{"tune a 0", "tune b 0"}));
  const CommandResult misspelt = Ninja({"tune-alhpa-cpu"});
  EXPECT_FALSE(misspelt.status.ok());
  EXPECT_NE((misspelt.out + misspelt.err).find("did you mean 'tune-alpha-cpu'?"), std::string::npos);
}

class ManifestInOddFolder : public Manifest {
 protected:
  ManifestInOddFolder() { project_ = "my $project: 'one'"; }
};

TEST_F(ManifestInOddFolder, WorksAllTheSame) {
  NinjaOk({});
  EXPECT_FALSE(Calls().empty());
  ExpectNothingToDo();
}

}  // namespace
}  // namespace hone

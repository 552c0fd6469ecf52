// Features that only some pipelines use, under a real Ninja with the real hone-plan and hone-allocate and stand-ins for
// the other tools: a total of trials distributed in rounds, and donors.
#include "pipeline/settings.h"
#include "work_folder.h"

namespace hone {
namespace {

class Rounds : public WorkFolder {
 protected:
  void SetUp() override {
    WorkFolder::SetUp();
    Delete("pipelines/beta.toml");
    Write("bin/networks/resnet-18", "a b c\n");
    Write("bin/speed.b", "30\n");  // a and c take 10
  }

  void WriteAlpha(const std::string& tune, const std::string& more = "") {
    WritePipeline("alpha", "resnet-18", tune, more);
  }
};

// By hand, 40 trials in 4 rounds over three tasks that take 10, 30 and 10. Round 1: 10, equally: 4, 3, 3. Round 2: 10
// of the remaining 30, 1:3:1: 2, 6, 2; rounds 3 and 4 likewise. In total 10, 21, 9.
TEST_F(Rounds, SlowTasksGetMoreAndTheSumIsTheTotal) {
  WriteAlpha("trials_total = 40\nshare = \"time\"", "[measure]\nfinalists = 2\n");
  PlanOk();
  NinjaOk({"records-alpha-cpu"});
  EXPECT_EQ(Trials("a"), 10);
  EXPECT_EQ(Trials("b"), 21);
  EXPECT_EQ(Trials("c"), 9);
  Calls();
  ExpectNoWork({"records-alpha-cpu"});
  ExpectCalls({}, {"bench alpha.cpu", "build alpha.cpu", "build alpha.cpu.untuned", "confirm alpha.cpu",
                   "pick-best alpha.cpu or default", "report alpha.cpu"});
  ExpectNoWork();
  // Finalists are measured again only in the last round.
  for (int round = 1; round <= 4; ++round) {
    const auto settings =
        Must(pipeline::ReadTuneSettings(Path(fmt::format("work/settings/alpha.cpu.r{}/a.tune.json", round))));
    EXPECT_EQ(settings.finalists, round == 4 ? 2 : 0) << round;
  }
  // Lost files are made again, without measuring.
  NinjaOk({"clean-stamps"});
  NinjaOk({});
  Delete("work/.ninja_log");
  NinjaOk({});
  Delete("work/settings");
  PlanOk();
  NinjaOk({});
  EXPECT_EQ(Trials("a") + Trials("b") + Trials("c"), 40);
  Calls();
  ExpectNoWork();
  // A larger total measures only the difference.
  WriteAlpha("trials_total = 80\nshare = \"time\"");
  NinjaOk({});
  EXPECT_EQ(Trials("a") + Trials("b") + Trials("c"), 80);
  Calls();
  ExpectNoWork();
}

// By hand, 60 trials in 2 rounds: 10 each, then 30 as 1:3:1.
TEST_F(Rounds, TheirNumberIsAKey) {
  WriteAlpha("trials_total = 60\nrounds = 2\nshare = \"time\"");
  PlanOk();
  NinjaOk({});
  EXPECT_EQ(Trials("a"), 16);
  EXPECT_EQ(Trials("b"), 28);
  EXPECT_EQ(Trials("c"), 16);
  EXPECT_FALSE(Has("work/settings/alpha.cpu.r3"));
  // One round spends it equally; nothing that was measured is lost.
  WriteAlpha("trials_total = 60\nrounds = 1\nshare = \"time\"");
  NinjaOk({});
  EXPECT_EQ(Trials("a"), 20);
  EXPECT_EQ(Trials("b"), 28);
  EXPECT_EQ(Trials("c"), 20);
  Calls();
  ExpectNoWork();
}

// The stand-in's trials take a second each. 40 seconds as 40 trials above, but not in whole trials: 10 as 3.333 each
// in the first round.
TEST_F(Rounds, ATotalOfSecondsIsSharedAsOneOfTrials) {
  WriteAlpha("seconds_total = 40\nshare = \"time\"");
  PlanOk();
  NinjaOk({});
  const auto first = Must(pipeline::ReadTuneSettings(Path("work/settings/alpha.cpu.r1/a.tune.json")));
  EXPECT_EQ(first.trials, pipeline::kMostTrials);
  EXPECT_NEAR(first.seconds, 3.333, 0.001);
  EXPECT_EQ(first.seconds_total, 0);
  EXPECT_NEAR(static_cast<double>(Trials("a") + Trials("b") + Trials("c")), 40, 3);
  EXPECT_GT(Trials("b"), Trials("a") + Trials("c"));
  Calls();
  ExpectNoWork();
  NinjaOk({"clean-stamps"});
  NinjaOk({});
  EXPECT_NEAR(static_cast<double>(Trials("a") + Trials("b") + Trials("c")), 40, 3);
}

// By hand, 96 trials in 4 rounds: 8 each. b has no correct candidate, but is slow for its work, as the others: 8 more
// each. With 16 trials b ends, and the others get the remaining 48.
TEST_F(Rounds, ATaskWithoutACorrectCandidateEndsAndTheOthersGetItsBudget) {
  Write("bin/broken.b", "");
  WriteAlpha("trials_total = 96\nshare = \"time\"");
  PlanOk();
  NinjaOk({"best-alpha-cpu"});
  EXPECT_EQ(Trials("a"), 40);
  EXPECT_EQ(Trials("b"), 16);
  EXPECT_EQ(Trials("c"), 40);
  // Without a total, it is an error.
  WriteAlpha("trials = 96");
  ExpectFails(Ninja({"best-alpha-cpu"}), {"b: no trial was correct"});
}

// By hand, 80 trials in 2 rounds over a, b and c, of which beta has b and c: 14, 13, 13. Then 40 by time and by uses in
// both networks, 10 : 2 x 30 : 2 x 10.
TEST_F(Rounds, AnotherNetworkTakesFromTheTotal) {
  WriteAlpha("trials_total = 80\nrounds = 2\nshare = \"time\"");
  WritePipeline("beta", "resnet-34", "total_of = \"alpha\"");
  PlanOk();
  NinjaOk({"best-beta-cpu"});
  EXPECT_EQ(Trials("a"), 14) << "beta does not wait for its second round";
  NinjaOk({});
  EXPECT_EQ(Trials("a"), 18);
  EXPECT_EQ(Trials("b"), 40);
  EXPECT_EQ(Trials("c"), 22);
  Calls();
  ExpectNoWork();
  const auto settings = Must(pipeline::ReadTuneSettings(Path("work/settings/alpha.cpu.r2/c.tune.json")));
  EXPECT_EQ(settings.trials, 22);
  // More for both.
  WriteAlpha("trials_total = 90\nrounds = 2\nshare = \"time\"");
  NinjaOk({});
  EXPECT_EQ(Trials("a") + Trials("b") + Trials("c"), 90);
  // Without beta, b and c count once.
  Delete("pipelines/beta.toml");
  NinjaOk({});
  const auto alone = Must(pipeline::ReadTuneSettings(Path("work/settings/alpha.cpu.r2/b.tune.json")));
  EXPECT_EQ(alone.trials, 15 + 27);
}

// As above, but beta is fast enough after the first round: 40 as 10 : 30 : 10.
TEST_F(Rounds, ANetworkThatReachedItsTargetLeavesTheTotalToTheOthers) {
  WriteAlpha("trials_total = 80\nrounds = 2\nshare = \"time\"");
  WritePipeline("beta", "resnet-34", "total_of = \"alpha\"\ntarget_ms = 1e6");
  PlanOk();
  NinjaOk({});
  EXPECT_EQ(Trials("a"), 14 + 8);
  EXPECT_EQ(Trials("b"), 13 + 24);
  EXPECT_EQ(Trials("c"), 13 + 8);
}

TEST_F(Rounds, ATotalOfAnotherPipelineIsChecked) {
  WritePipeline("beta", "resnet-34", "total_of = \"alhpa\"");
  WriteAlpha("trials_total = 80");
  const std::string at = "pipelines/beta.toml:4: ";
  ExpectRefused(Plan(), 2,
                {at + "`total_of`: no pipeline `alhpa` has a total on the target `cpu`; did you mean `alpha`?"});
  WritePipeline("beta", "resnet-34", "total_of = \"alpha\"\nrounds = 2");
  ExpectRefused(Plan(), 2,
                {"pipelines/beta.toml:5: `rounds` stands in the pipeline that `total_of` names; remove it here"});
  WritePipeline("beta", "resnet-34", "total_of = \"alpha\"", "[numerics]\nwinograd = \"off\"\n");
  ExpectRefused(Plan(), 2, {at + "`total_of`: alpha has another [numerics] on `cpu`"});
  WritePipeline("beta", "resnet-34", "total_of = \"beta\"");
  ExpectRefused(Plan(), 2, {at + "`total_of`: no pipeline `beta` has a total"});
  WritePipeline("beta", "resnet-34", "total_of = \"alpha\"", "[tune.cpu]\ntuner = \"xgb\"\n");
  ExpectRefused(Plan(), 2, {"pipelines/beta.toml:6: `tuner` stands in the pipeline that `total_of` names"});
  WriteAlpha("trials_total = 2");
  WritePipeline("beta", "resnet-34", "total_of = \"alpha\"");
  PlanOk();  // the tasks are not known yet
  ExpectFails(Ninja({"tune-beta-cpu"}), {"pipelines/alpha.toml:4: `trials_total` is 2, fewer than the tasks (3)"});
}

TEST_F(Rounds, ANetworkWithATotalAndOneWithoutShareRecords) {
  WriteAlpha("trials_total = 40\nshare = \"time\"");
  WritePipeline("beta", "resnet-34", 30);  // b and c
  PlanOk();
  NinjaOk({});
  Calls();
  EXPECT_EQ(Trials("a"), 10);
  EXPECT_EQ(Trials("b"), 30);
  EXPECT_EQ(Trials("c"), 30);
  ExpectNoWork();
}

// The stand-in's workloads a(), b() and c() have different operators and so are not near each other; use two shapes of
// one.
TEST_F(Rounds, DonorsAreTunedFirstAndAreInputs) {
  WriteAlpha("trials = 4\ntransfer = true");
  Write("bin/networks/resnet-18", "a b\n");
  Write("bin/workloads/a", "dense(f32[1,8], f32[8,8])\n");
  Write("bin/workloads/b", "dense(f32[1,8], f32[16,8])\n");
  PlanOk();
  ExpectCalls({"records-alpha-cpu"}, {"extract alpha.cpu", "tune a 4", "tune b 4 from a.db"});
  // After a donor was tuned further, the tuner runs again but measures nothing more.
  WriteAlpha("trials = 6\ntransfer = true");
  ExpectCalls({"records-alpha-cpu"}, {"tune a 2", "tune b 2 from a.db"});
  WriteAlpha("trials = 6");
  ExpectCalls({"records-alpha-cpu"}, {"tune b 0"});
}

}  // namespace
}  // namespace hone

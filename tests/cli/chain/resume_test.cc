// What the chain does again, and what not: real tools under a real Ninja with invented times, so that trials can be
// counted and results compared exactly.
#include <fmt/format.h>
#include <signal.h>

#include <set>

#include "base/clock.h"
#include "base/text.h"
#include "chain_folder.h"

namespace hone {
namespace {

class ResumeChain : public ChainFolder {
 protected:
  void SetUp() override {
    ChainFolder::SetUp();
    InventTimes(kSeed);
    ASSERT_TRUE(Plan().status.ok());
  }

  // Expects that every task of the network has exactly that many trials, none twice.
  void ExpectTrials(const std::string& network, size_t count) {
    for (const auto& [task, trials] : AllTrials(network)) {
      EXPECT_EQ(trials.size(), count) << task;
      EXPECT_EQ(std::set<uint64_t>(trials.begin(), trials.end()).size(), trials.size()) << task;
    }
  }
  // Bytes of all records of a network.
  std::map<std::string, std::string> Records(const std::string& network) {
    std::map<std::string, std::string> bytes;
    for (const std::string& task : Tasks(network)) bytes[task] = Read("work/records/cpu/" + task + ".db");
    return bytes;
  }
};

TEST_F(ResumeChain, ADoubledBudgetMeasuresExactlyTheMissingTrialsAndAHalvedOneNone) {
  NinjaOk({"best-one-cpu"});
  ExpectTrials("one", 8);
  const auto before = AllTrials("one");
  WritePipeline("one", 16);
  NinjaOk({"best-one-cpu"});
  ExpectTrials("one", 16);
  for (auto [task, trials] : AllTrials("one")) {
    trials.resize(8);
    EXPECT_EQ(trials, before.at(task)) << task;
  }
  const auto records = Records("one");
  WritePipeline("one", 4);
  NinjaOk({"best-one-cpu"});
  EXPECT_EQ(Records("one"), records);
  ExpectNoWork("best-one-cpu");
}

TEST_F(ResumeChain, ABudgetThatFindsNothingBetterBuildsNothing) {
  NinjaOk({"build-one-cpu"});
  const std::string library = Read("work/out/one.cpu/libone.so");
  // What is to be built, alternatives and sharing included: those are compared by real runs, which may change their
  // mind.
  std::string choices = Read("work/best/one.cpu.choice.json");
  int same = 0;
  for (int trials = 9; trials < 30 && same < 2; ++trials) {
    WritePipeline("one", trials);
    const std::string out = NinjaOk({"build-one-cpu"});
    ExpectTrials("one", trials);
    const bool built = out.find("build one.cpu") != std::string::npos;
    const std::string now = Read("work/best/one.cpu.choice.json");
    EXPECT_EQ(built, now != choices) << trials << " trials:\n" << out;
    same += now == choices;
    choices = now;
    ExpectNoWork("build-one-cpu");
  }
  EXPECT_EQ(same, 2) << "the best of three tasks cannot change with nearly every trial";
}

TEST_F(ResumeChain, DeletedStampsAndLogsAreMadeAgainWithoutMeasuring) {
  NinjaOk({"build-one-cpu"});
  const auto records = Records("one");
  const std::string best = Read("work/best/one.cpu.json"), manifest = Read("work/out/one.cpu/manifest.json");
  const std::string task = Tasks("one")[1], stamp = Read("work/stamps/" + task + ".cpu.done");
  ASSERT_TRUE(Remove(Stamp(task)).ok());
  NinjaOk({"build-one-cpu"});
  EXPECT_EQ(Read("work/stamps/" + task + ".cpu.done"), stamp);
  ExpectNoWork("build-one-cpu");

  ASSERT_TRUE(Remove(Work(".ninja_log")).ok());
  NinjaOk({"build-one-cpu"});
  ExpectNoWork("build-one-cpu");

  NinjaOk({"clean-stamps"});
  ASSERT_FALSE(Exists(Stamp(task)));
  NinjaOk({"build-one-cpu"});
  ASSERT_TRUE(Exists(Stamp(task)));

  // By then all times are newer than their logs say, as after a checkout or a copy.
  for (const std::string& id : Tasks("one")) Touch("work/tasks/" + id + ".task.json");
  for (const char* name : {"one.tune.json", "one.extract.json"}) Touch(std::string("work/settings/") + name);
  NinjaOk({"build-one-cpu"});
  ExpectNoWork("build-one-cpu");

  EXPECT_EQ(Records("one"), records);
  EXPECT_EQ(Read("work/best/one.cpu.json"), best);
  EXPECT_EQ(Read("work/out/one.cpu/manifest.json"), manifest);
}

TEST_F(ResumeChain, ADeletedDatabaseIsNamedWithItsRepairAndTheRepairMeasuresItAlone) {
  NinjaOk({"best-one-cpu"});
  const auto trials = AllTrials("one");
  const auto records = Records("one");
  const std::string choices = ChoicesText(Best("one")), task = Tasks("one")[1];
  ASSERT_TRUE(Remove(Db(task)).ok());
  ExpectNoWork("best-one-cpu");  // nothing needs it yet
  ASSERT_TRUE(Remove(Work("best/one.cpu.json")).ok());
  const CommandResult failed = Ninja({"best-one-cpu"});
  EXPECT_FALSE(failed.status.ok());
  EXPECT_NE(failed.out.find(task + ".db: no records of task " + task), std::string::npos) << failed.out;
  EXPECT_NE(failed.out.find("`ninja clean-stamps`"), std::string::npos) << failed.out;
  EXPECT_FALSE(Exists(Work("best/one.cpu.json")));

  NinjaOk({"clean-stamps"});
  NinjaOk({"best-one-cpu"});
  EXPECT_EQ(AllTrials("one"), trials);
  EXPECT_EQ(ChoicesText(Best("one")), choices);
  for (const auto& [id, bytes] : Records("one")) {
    if (id == task) continue;
    EXPECT_EQ(bytes, records.at(id)) << id << " was measured again";
  }
}

TEST_F(ResumeChain, TouchedToolsRerunNothing) {
  NinjaOk({"build-one-cpu"});
  const auto records = Records("one");
  for (const char* tool :
       {"hone-plan", "hone-extract", "hone-tune", "hone-pick-best", "hone-build", "hone-bench", "hone-report"}) {
    Touch(std::string("bin/") + tool);
  }
  const std::string out = NinjaOk({"build-one-cpu"});
  for (const char* word : {"extract one", "tune tasks", "pick best", "build one"}) {
    EXPECT_EQ(out.find(word), std::string::npos) << out;
  }
  ExpectNoWork("build-one-cpu");
  EXPECT_EQ(Records("one"), records);
}

TEST_F(ResumeChain, ASignalToNinjaLosesNothingAndTheSameCommandGoesOn) {
  WritePipeline("one", 24);
  NinjaOk({"best-one-cpu"});
  const auto trials = AllTrials("one");
  const std::string choices = ChoicesText(Best("one")), slow = Tasks("one")[1];
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    SCOPED_TRACE(signal);
    for (const char* folder : {"records", "stamps", "best"}) ASSERT_TRUE(RemoveTree(Work(folder)).ok());
    InventTimes(kSeed, 0.02);
    Subprocess ninja = StartNinja({"best-one-cpu"});
    // In the middle of the second task: some is measured, some is not.
    while (ninja.Running() && !Exists(Work("records/cpu/" + slow + ".progress.json"))) RealClock()->SleepSeconds(0.002);
    ASSERT_TRUE(ninja.Running());
    kill(ninja.pid(), signal);
    const auto status = ninja.Wait(60);
    ASSERT_TRUE(status.ok()) << status.status().message();
    EXPECT_FALSE(status->ok());
    EXPECT_EQ(Processes(), std::vector<pid_t>()) << "Ninja did not wait for its tools";
    EXPECT_FALSE(Exists(Stamp(slow)));
    const std::vector<uint64_t> kept = Trials(slow);
    EXPECT_GT(kept.size(), 0u);
    EXPECT_LT(kept.size(), trials.at(slow).size());
    InventTimes(kSeed);
    NinjaOk({"best-one-cpu"});
    EXPECT_EQ(AllTrials("one"), trials);
    EXPECT_EQ(ChoicesText(Best("one")), choices);
    ExpectRecordsAreWhole();
    ExpectNoWork("best-one-cpu");
  }
}

TEST_F(ResumeChain, ATunerThatOutlivesItsNinjaKeepsTheNextOneOut) {
  InventTimes(kSeed, 0.05);
  WritePipeline("one", 24);
  Subprocess ninja = StartNinja({"records-one-cpu"});
  while (ninja.Running() && Processes("--fake-measure").empty()) RealClock()->SleepSeconds(0.002);
  std::vector<pid_t> tuners;
  // The tuner itself, past its script, when it has its lock.
  while (ninja.Running() && !(Exists(Work("records/cpu")) && !Processes("--fake-measure").empty() &&
                              Exists(Work("records/cpu/" + Tasks("one")[0] + ".progress.json")))) {
    RealClock()->SleepSeconds(0.002);
  }
  kill(ninja.pid(), SIGKILL);
  ASSERT_TRUE(ninja.Wait(60).ok());
  tuners = Processes("--fake-measure");
  ASSERT_EQ(tuners.size(), 1u);
  const CommandResult second = Ninja({"records-one-cpu"});
  EXPECT_FALSE(second.status.ok());
  EXPECT_NE(second.out.find(std::to_string(tuners[0])), std::string::npos) << second.out;
  EXPECT_TRUE(WaitForProcesses(60)) << "the orphan ends with its task";
  InventTimes(kSeed);
  NinjaOk({"records-one-cpu"});
  ExpectTrials("one", 24);
  ExpectRecordsAreWhole();
}

}  // namespace
}  // namespace hone

// A total of trials shared out over a network, donors, and a cap on numerics: real tools under a real Ninja, invented
// times.
#include <signal.h>

#include <numeric>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "chain_folder.h"
#include "pipeline/settings.h"

namespace hone {
namespace {

class RoundsChain : public ChainFolder {
 protected:
  void SetUp() override {
    ChainFolder::SetUp();
    ASSERT_TRUE(Remove(Path("pipelines/two.toml")).ok());
    InventTimes(kSeed);
  }

  void WriteOne(const std::string& tune, const std::string& more = "") {
    Write("pipelines/one.toml",
          "network = \"models/one.json\"\ntargets = [\"cpu\"]\n[tune]\ntuner = \"random\"\nalternatives = false\n" +
              tune + "\n[measure]\nfinalists = 2\n" + more);
  }

  size_t Sum(const std::string& network) const {
    size_t sum = 0;
    for (const auto& [task, trials] : AllTrials(network)) sum += trials.size();
    return sum;
  }
};

TEST_F(RoundsChain, ATotalIsSpentExactlyAndRerunsDoNothing) {
  WriteOne("trials_total = 60");
  ASSERT_TRUE(Plan().status.ok());
  NinjaOk({"records-one-cpu"});
  EXPECT_EQ(Sum("one"), 60u);
  ExpectNoWork("records-one-cpu");
  const auto trials = AllTrials("one");
  ASSERT_TRUE(RemoveTree(Work("stamps")).ok());
  ASSERT_TRUE(Remove(Work(".ninja_log")).ok());
  ASSERT_TRUE(RemoveTree(Work("settings/one.cpu.r2")).ok());
  NinjaOk({"records-one-cpu"});
  EXPECT_EQ(AllTrials("one"), trials);
  ExpectNoWork("records-one-cpu");
  // With the finalists measured again in the last round, and only there, what was decided stays.
  const auto last = pipeline::ReadTuneSettings(Work("settings/one.cpu.r4/" + Tasks("one")[0] + ".tune.json"));
  const auto first = pipeline::ReadTuneSettings(Work("settings/one.cpu.r1/" + Tasks("one")[0] + ".tune.json"));
  ASSERT_TRUE(last.ok() && first.ok());
  EXPECT_EQ(last->finalists, 2);
  EXPECT_EQ(first->finalists, 0);
  EXPECT_EQ(first->trials, 5) << "a quarter of 60 over three tasks";
}

TEST_F(RoundsChain, CutAtAnyMomentItEndsWithTheSameTrials) {
  WriteOne("trials_total = 60");
  ASSERT_TRUE(Plan().status.ok());
  NinjaOk({"records-one-cpu"});
  const auto whole = AllTrials("one");
  for (const char* folder : {"records", "stamps", "settings"}) ASSERT_TRUE(RemoveTree(Work(folder)).ok());
  ASSERT_TRUE(Remove(Work(".ninja_log")).ok());
  ASSERT_TRUE(Plan().status.ok());
  InventTimes(kSeed, 0.004);
  for (int i = 1; i <= 4; ++i) {
    Subprocess ninja = StartNinja({"records-one-cpu"});
    RealClock()->SleepSeconds(0.12 * i);
    kill(ninja.pid(), i % 2 == 0 ? SIGKILL : SIGTERM);
    ASSERT_TRUE(ninja.Wait(60).ok());
    ASSERT_TRUE(WaitForProcesses(60)) << "a tool outlives its Ninja, but not for long";
    // Ninja removes its own manifest if it is interrupted while that is made (doc/internals/manifest.md says what to do
    // then).
    if (!Exists(Work("build.ninja"))) {
      ASSERT_TRUE(Plan().status.ok());
    }
  }
  InventTimes(kSeed);
  NinjaOk({"records-one-cpu"});
  EXPECT_EQ(AllTrials("one"), whole);
  ExpectRecordsAreWhole();
}

TEST_F(RoundsChain, DonorsAreTunedFirst) {
  WriteOne("trials = 8\ntransfer = true");
  ASSERT_TRUE(Plan().status.ok());
  NinjaOk({"records-one-cpu"});
  int with = 0;
  for (const std::string& task : Tasks("one"))
    with += Read("work/stamps/" + task + ".cpu.done").find("donors") != std::string::npos;
  EXPECT_EQ(with, 1) << "there are two convolutions, one learns from the other; the dense layer has nobody";
  ExpectNoWork("records-one-cpu");
}

TEST_F(RoundsChain, AChangedCapMeasuresOnlyWhatIsMissingUnderIt) {
  WriteOne("trials = 150");
  ASSERT_TRUE(Plan().status.ok());
  NinjaOk({"best/one.cpu.json"});
  const auto before = AllTrials("one");
  WriteOne("trials = 150", "[numerics]\nwinograd = \"off\"\n");
  NinjaOk({"best/one.cpu.json"});
  const auto capped = AllTrials("one");
  size_t more = 0;
  for (const auto& [task, trials] : capped) {
    if (StartsWith(task, "dense")) {
      EXPECT_EQ(trials, before.at(task));
    }
    more += trials.size() - before.at(task).size();
  }
  EXPECT_GT(more, 0u);
  const pipeline::BestFile best = Best("one");
  for (const pipeline::BestEntry& entry : best.tasks) {
    ASSERT_TRUE(entry.config.has_value());
    EXPECT_EQ(entry.config->template_name.find("winograd"), std::string::npos) << entry.id;
  }
  ExpectNoWork("best/one.cpu.json");
  WriteOne("trials = 150");
  NinjaOk({"best/one.cpu.json"});
  EXPECT_EQ(AllTrials("one"), capped) << "going back measures nothing";
}

}  // namespace
}  // namespace hone

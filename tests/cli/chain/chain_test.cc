// The whole chain as a user runs it, with the real tools under a real Ninja: from nothing to a report, and after kills
// and lost files. tests/cli/manifest tests what runs again with stand-ins, tests/cli/incremental with simulated times.
#include <signal.h>

#include "base/clock.h"
#include "base/json.h"
#include "chain_folder.h"

namespace hone {
namespace {

class Chain : public ChainFolder {
 protected:
  std::map<std::string, std::string> Records(const std::string& network) const {
    std::map<std::string, std::string> bytes;
    for (const std::string& task : Tasks(network)) bytes[task] = Read("work/records/cpu/" + task + ".db");
    return bytes;
  }
};

// With the real compiler and clock, on networks that take some microseconds.
TEST_F(Chain, OneCommandFromNothingToAReportAndASecondNetworkMeasuresOnlyWhatIsNew) {
  for (const char* name : {"one", "two"}) WritePipeline(name, 4);
  EXPECT_EQ(ExpectOk(Plan()).err, "");
  NinjaOk({"tune-one-cpu"});
  ExpectVerified("one.cpu");
  EXPECT_EQ(ReadJson("work/bench/one.cpu.json")["libraries"].size(), 2u) << "tuned and untuned";
  for (const char* name : {"index.html", "report.md", "report.json", "junit.xml"}) {
    EXPECT_TRUE(Has(std::string("work/report/one.cpu/") + name)) << name;
  }
  EXPECT_TRUE(Has("work/out/one.cpu/libone.so"));
  const std::vector<std::string> one = Tasks("one");
  ASSERT_EQ(one.size(), 3u);
  for (const std::string& task : one) EXPECT_EQ(Trials(task).size(), 4u) << task;
  ExpectRecordsAreWhole();
  ExpectNoWork("tune-one-cpu");
  // The benchmark of unchanged libraries stays, so its report does.
  Touch("work/out/one.cpu/libone.so");
  const std::string again = NinjaOk({"tune-one-cpu"});
  ExpectHas(again, {"bench one.cpu"});
  ExpectHasNot(again, {"report one.cpu"});
  ExpectNoWork("tune-one-cpu");

  const auto records = Records("one");
  NinjaOk({"tune-two-cpu"});
  const std::vector<std::string> two = Tasks("two");
  ASSERT_EQ(two.size(), 3u);
  EXPECT_EQ(two[0], one[0]);
  EXPECT_EQ(two[1], one[1]);
  ASSERT_NE(two[2], one[2]);
  EXPECT_EQ(Trials(two[2]).size(), 4u);
  EXPECT_EQ(Records("one"), records);
  EXPECT_TRUE(Has("work/report/two.cpu/index.html"));
  ExpectNoWork("tune-all");
}

TEST_F(Chain, ADeletedDatabaseIsNamedWithItsRepairAndTheRepairMeasuresItAlone) {
  InventTimes(kSeed);
  ExpectOk(Plan());
  NinjaOk({"best-one-cpu"});
  const auto trials = AllTrials("one");
  auto records = Records("one");
  const std::string choices = ChoicesText(Best("one.cpu")), task = Tasks("one")[1];
  Delete("work/records/cpu/" + task + ".db");
  ExpectNoWork("best-one-cpu");  // nothing needs it yet
  Delete("work/best/one.cpu.json");
  ExpectFails(Ninja({"best-one-cpu"}), {task + ".db: no records of task " + task, "`ninja clean-stamps`"});
  EXPECT_FALSE(Has("work/best/one.cpu.json"));

  NinjaOk({"clean-stamps"});
  NinjaOk({"best-one-cpu"});
  EXPECT_EQ(AllTrials("one"), trials);
  EXPECT_EQ(ChoicesText(Best("one.cpu")), choices);
  auto now = Records("one");
  records.erase(task), now.erase(task);
  EXPECT_EQ(now, records) << "others were measured again";
}

// What Ninja started ends with it, whichever tool it is, and leaves nothing behind.
TEST_F(Chain, AToolEndsWhenItsNinjaIsKilled) {
  InventTimes(kSeed, 0.05);
  WritePipeline("one", 24);
  ExpectOk(Plan());
  NinjaOk({"build.ninja"});
  const std::string progress = "work/records/cpu/" + Tasks("one")[0] + ".progress.json";
  Subprocess ninja = StartNinja({"records-one-cpu"});
  while (ninja.Running() && !Has(progress)) RealClock()->SleepSeconds(0.002);
  kill(ninja.pid(), SIGKILL);
  ASSERT_TRUE(ninja.Wait(60).ok());
  InventTimes(kSeed);
  NinjaOk({"records-one-cpu"});  // at once: the tuner that ends keeps it waiting for a moment at most
  EXPECT_TRUE(WaitForProcesses(60));
  for (const auto& [id, trials] : AllTrials("one")) {
    EXPECT_EQ(std::set<uint64_t>(trials.begin(), trials.end()).size(), 24u) << id;
  }
  ExpectRecordsAreWhole();
  for (const std::string& name : Must(ListDir(Work("records/cpu")))) EXPECT_FALSE(EndsWith(name, ".lock")) << name;
}

// A total distributed in rounds: its stamps and settings are written and read between kills.
TEST_F(Chain, ATotalThatIsCutAtAnyMomentEndsWithTheSameTrials) {
  Write("pipelines/one.toml",
        "network = \"models/one.json\"\ntargets = [\"cpu\"]\n[tune]\ntuner = \"random\"\nalternatives = false\n"
        "trials_total = 60\n");
  InventTimes(kSeed);
  ExpectOk(Plan());
  NinjaOk({"records-one-cpu"});
  ExpectNoWork("records-one-cpu");
  const auto whole = AllTrials("one");
  size_t sum = 0;
  for (const auto& [task, trials] : whole) sum += trials.size();
  EXPECT_EQ(sum, 60u);
  for (const char* name : {"records", "stamps", "settings", ".ninja_log"}) Delete(std::string("work/") + name);
  ExpectOk(Plan());
  InventTimes(kSeed, 0.004);
  int cut = 0;
  for (int i = 1; i <= 4; ++i) {
    Subprocess ninja = StartNinja({"records-one-cpu"});
    RealClock()->SleepSeconds(0.12 * i);
    kill(ninja.pid(), i % 2 == 0 ? SIGKILL : SIGTERM);
    cut += !Must(ninja.Wait(60)).ok();
    ASSERT_TRUE(WaitForProcesses(60)) << "a tool outlives its Ninja, but not for long";
    EXPECT_TRUE(Has("work/build.ninja"));
  }
  EXPECT_GT(cut, 0);
  InventTimes(kSeed);
  NinjaOk({"records-one-cpu"});
  EXPECT_EQ(AllTrials("one"), whole);
  ExpectRecordsAreWhole();
}

}  // namespace
}  // namespace hone

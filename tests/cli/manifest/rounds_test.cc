// What only some pipelines ask for, under a real Ninja with the real hone-plan and hone-allocate and stand-ins for the
// other tools: a total of trials shared out in rounds, donors, a cap on numerics, inputs of a model.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "work_folder.h"

namespace hone {
namespace {

using Lines = std::vector<std::string>;

class Rounds : public WorkFolderTest {
 protected:
  void SetUp() override {
    WorkFolderTest::SetUp();
    ASSERT_TRUE(Remove(Path(project_ + "/pipelines/beta.toml")).ok());
    Write("bin/networks/resnet-18", "a b c\n");
    Write("bin/speed.b", "30\n");  // a and c take 10
  }

  void WriteAlpha(const std::string& tune, const std::string& more = "") {
    Write("pipelines/alpha.toml",
          fmt::format("network = \"resnet-18\"\ntargets = [\"cpu\"]\n[tune]\n{}\n{}", tune, more));
  }

  void PlanOk() {
    const CommandResult plan = RunPlan();
    ASSERT_TRUE(plan.status.ok()) << plan.err;
  }

  int64_t Trials(const std::string& task) const {
    const std::string text = Read("work/records/cpu/" + task + ".db");
    return std::count(text.begin(), text.end(), '\n');
  }

  // Trials measured by the calls since the last time this was asked, a task each.
  std::map<std::string, int64_t> Measured() {
    std::map<std::string, int64_t> sum;
    for (const std::string& call : Calls()) {
      const Lines words = SplitWords(call);
      if (words[0] == "tune" && words[2] != "0") sum[words[1]] += *ParseInt(words[2]);
    }
    return sum;
  }
};

// By hand, 40 trials in 4 rounds over three tasks that take 10, 30 and 10. Round 1: 10, equally: 4, 3, 3. Round 2: 10
// of the 30 that are left, 1:3:1: 2, 6, 2; rounds 3 and 4 likewise. In all 10, 21, 9.
TEST_F(Rounds, SlowTasksGetMoreAndTheSumIsTheTotal) {
  WriteAlpha("trials_total = 40");
  PlanOk();
  NinjaOk({"records-alpha-cpu"});
  EXPECT_EQ(Trials("a"), 10);
  EXPECT_EQ(Trials("b"), 21);
  EXPECT_EQ(Trials("c"), 9);
  Calls();
  EXPECT_NE(NinjaOk({"records-alpha-cpu"}).find("ninja: no work to do.\n"), std::string::npos);
  NinjaOk({});
  EXPECT_EQ(Calls(), (Lines{"bench alpha.cpu", "build alpha.cpu", "build alpha.cpu.untuned", "confirm alpha.cpu",
                            "pick-best alpha.cpu", "report alpha.cpu"}));
  EXPECT_NE(NinjaOk({}).find("ninja: no work to do.\n"), std::string::npos);
}

TEST_F(Rounds, LostStampsAndLogsAreMadeAgainWithoutMeasuring) {
  WriteAlpha("trials_total = 40");
  PlanOk();
  NinjaOk({});
  Calls();
  NinjaOk({"clean-stamps"});
  NinjaOk({});
  EXPECT_TRUE(Measured().empty());
  ASSERT_TRUE(Remove(Path(project_ + "/work/.ninja_log")).ok());
  NinjaOk({});
  EXPECT_TRUE(Measured().empty());
  ASSERT_TRUE(RemoveTree(Path(project_ + "/work/settings")).ok());
  PlanOk();
  NinjaOk({});
  EXPECT_TRUE(Measured().empty());
  EXPECT_NE(NinjaOk({}).find("ninja: no work to do.\n"), std::string::npos);
}

TEST_F(Rounds, ALargerTotalMeasuresTheDifference) {
  WriteAlpha("trials_total = 40");
  PlanOk();
  NinjaOk({});
  Calls();
  WriteAlpha("trials_total = 80");
  NinjaOk({});
  EXPECT_EQ(Trials("a") + Trials("b") + Trials("c"), 80);
  int64_t sum = 0;
  for (const auto& [task, trials] : Measured()) sum += trials;
  EXPECT_EQ(sum, 40);
  NinjaOk({});
  EXPECT_TRUE(Measured().empty());
}

TEST_F(Rounds, ANetworkWithATotalAndOneWithoutShareRecords) {
  WriteAlpha("trials_total = 40");
  WritePipeline("beta", "resnet-34", 30);  // b and c
  PlanOk();
  NinjaOk({});
  EXPECT_EQ(Trials("a"), 10);
  EXPECT_EQ(Trials("b"), 30);
  EXPECT_EQ(Trials("c"), 30);
  EXPECT_NE(NinjaOk({}).find("ninja: no work to do.\n"), std::string::npos);
}

// The stand-in's workloads are a(), b() and c(): the same operator each, of which only itself is near; so two shapes of
// one.
TEST_F(Rounds, DonorsAreTunedFirstAndAreInputs) {
  WriteAlpha("trials = 4\ntransfer = true");
  Write("bin/networks/resnet-18", "a b\n");
  Write("bin/workloads/a", "dense(f32[1,8], f32[8,8])\n");
  Write("bin/workloads/b", "dense(f32[1,8], f32[16,8])\n");
  PlanOk();
  NinjaOk({"records-alpha-cpu"});
  EXPECT_EQ(Calls(), (Lines{"extract alpha.cpu", "tune a 4", "tune b 4 from a.db"}));
  // A donor that was tuned further is looked at again; nothing more is measured for it.
  WriteAlpha("trials = 6\ntransfer = true");
  NinjaOk({"records-alpha-cpu"});
  EXPECT_EQ(Calls(), (Lines{"tune a 2", "tune b 2 from a.db"}));
  WriteAlpha("trials = 6");
  NinjaOk({"records-alpha-cpu"});
  EXPECT_EQ(Calls(), Lines{"tune b 0"});
}

TEST_F(Rounds, AChangedCapRerunsTuningPickingAndBuildingAndNothingElse) {
  WritePipeline("beta", "resnet-34", 5);  // the larger budget: b and c are tuned with its settings
  WriteAlpha("trials = 4");
  PlanOk();
  NinjaOk({});
  Calls();
  WriteAlpha("trials = 4", "[numerics]\nwinograd = 2\n");
  NinjaOk({});
  // The stand-ins find the same best and build the same library: it is not timed again.
  EXPECT_EQ(Calls(), (Lines{"build alpha.cpu up to 2", "pick-best alpha.cpu up to 2", "report alpha.cpu", "tune a 0",
                            "tune b 0", "tune c 0"}));
  EXPECT_NE(NinjaOk({}).find("ninja: no work to do.\n"), std::string::npos);
  WriteAlpha("trials = 4");
  NinjaOk({});
  const Lines back = Calls();
  EXPECT_NE(std::find(back.begin(), back.end(), "pick-best alpha.cpu"), back.end());
  EXPECT_NE(std::find(back.begin(), back.end(), "build alpha.cpu"), back.end());
  for (const std::string& call : back) {
    EXPECT_EQ(call.find("extract"), std::string::npos) << call;
    EXPECT_EQ(call.find("beta"), std::string::npos) << call;
    EXPECT_EQ(call.find("bench"), std::string::npos) << call;
    if (call.substr(0, 5) == "tune ") {
      EXPECT_EQ(call.back(), '0') << call;
    }
  }
}

TEST_F(Rounds, AChangedLimitOnMemoryPicksAgainAndTunesNothing) {
  WriteAlpha("trials = 4");
  PlanOk();
  NinjaOk({});
  Calls();
  for (const char* table : {"memory", "memory.cpu"}) {
    for (const char* times : {"1.25", "2"}) {
      WriteAlpha("trials = 4", fmt::format("[{}]\nparameters = {}\n", table, times));
      NinjaOk({});
      // The stand-in finds the same best, at which everything behind it stops.
      const Lines calls = Calls();
      const std::string pick = fmt::format("pick-best alpha.cpu within {}", times);
      EXPECT_EQ(calls, Lines{pick}) << table;
    }
  }
  WriteAlpha("trials = 4");
  NinjaOk({});
  EXPECT_EQ(Calls(), Lines{"pick-best alpha.cpu"});
}

TEST_F(Rounds, InputsOfAModelReachExtractAndAChangeExtractsAgain) {
  const auto write = [this](int extent) {
    Write("pipelines/alpha.toml",
          fmt::format("network = \"m.onnx\"\ntargets = [\"cpu\"]\n[input]\n\"x y\" = [1, {}]\n", extent));
  };
  Write("pipelines/m.onnx", "a model\n");
  Write("bin/networks/model", "a\n");
  write(8);
  PlanOk();
  // The stand-in knows no model by its path; what it was called with is what matters.
  Ninja({"records-alpha-cpu"});
  EXPECT_NE(Read("work/build.ninja").find("--input 'x y=1,8'"), std::string::npos);
  const std::string before = Read("work/settings/alpha.extract.json");
  write(9);
  PlanOk();
  EXPECT_NE(Read("work/settings/alpha.extract.json"), before);
}

}  // namespace
}  // namespace hone

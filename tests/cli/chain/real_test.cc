// The whole chain as a user runs it: real compiler, real clock, real Ninja, on networks of some microseconds.
#include "base/json.h"
#include "chain_folder.h"

namespace hone {
namespace {

class RealChain : public ChainFolder {
 protected:
  void SetUp() override {
    ChainFolder::SetUp();
    WritePipeline("one", 4);
    WritePipeline("two", 4);
    const CommandResult plan = Plan();
    ASSERT_TRUE(plan.status.ok()) << plan.err;
    ASSERT_EQ(plan.err, "");
  }
};

TEST_F(RealChain, OneCommandFromNothingToAReportAndASecondNetworkMeasuresOnlyWhatIsNew) {
  NinjaOk({"tune-one-cpu"});
  auto bench = ReadJsonFile(Work("bench/one.cpu.json"));
  ASSERT_TRUE(bench.ok()) << bench.status().message();
  EXPECT_TRUE((*bench)["verification"]["ok"].get<bool>()) << bench->dump(1);
  EXPECT_EQ((*bench)["libraries"].size(), 2u) << "tuned and untuned";
  for (const char* name : {"index.html", "report.md", "report.json", "junit.xml"}) {
    EXPECT_TRUE(Exists(Work(std::string("report/one.cpu/") + name))) << name;
  }
  EXPECT_TRUE(Exists(Work("out/one.cpu/libone.so")));
  const std::vector<std::string> one = Tasks("one");
  ASSERT_EQ(one.size(), 3u);
  for (const std::string& task : one) EXPECT_EQ(Trials(task).size(), 4u) << task;
  ExpectRecordsAreWhole();
  ExpectNoWork("tune-one-cpu");

  std::map<std::string, std::string> records;
  for (const std::string& task : one) records[task] = Read("work/records/cpu/" + task + ".db");
  NinjaOk({"tune-two-cpu"});
  const std::vector<std::string> two = Tasks("two");
  ASSERT_EQ(two.size(), 3u);
  EXPECT_EQ(two[0], one[0]);
  EXPECT_EQ(two[1], one[1]);
  ASSERT_NE(two[2], one[2]);
  EXPECT_EQ(Trials(two[2]).size(), 4u);
  for (const auto& [task, bytes] : records) EXPECT_EQ(Read("work/records/cpu/" + task + ".db"), bytes) << task;
  EXPECT_TRUE(Exists(Work("report/two.cpu/index.html")));
  ExpectNoWork("tune-all");
}

}  // namespace
}  // namespace hone

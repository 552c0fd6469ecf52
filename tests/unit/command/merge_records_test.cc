// hone-records merge with threads: several tasks at a time, each under the lock of its output.
#include <fmt/format.h>

#include "base/interrupt.h"
#include "base/lock.h"
#include "command/records/records.h"
#include "unit/record/sample.h"

namespace hone::command {
namespace {

using record::Store;

class MergeRecords : public ::testing::Test {
 protected:
  MergeRecords() { options_.out = Path("all"); }

  std::string Path(const std::string& name) const { return dir_.Join(name); }
  // A file with `trials` trials of a machine.
  void Record(const std::string& task, const std::string& machine, int64_t trials) {
    ASSERT_TRUE(MakeDirs(Path(machine)).ok());
    const std::string path = Path(machine + "/" + task + ".db");
    auto store = Must(Store::OpenForWriting(path, {task, "w of " + task, "cpu", {}}));
    std::vector<Outcome> outcomes;
    for (int64_t i = 0; i < trials; ++i) {
      outcomes.push_back(record::Good(i, {1e-3, 2e-3}));
      outcomes.back().artifact_digest = fmt::format("a{}", i);
    }
    ASSERT_TRUE(store->Append(*store->BeginSession(record::SampleSession(machine)), outcomes).ok());
    options_.files.push_back(path);
  }
  size_t Merged(const std::string& task) const {
    return Must(Store::OpenForReading(Path("all/" + task + ".db")))->Trials()->size();
  }

  TempDir dir_ = *TempDir::Create();
  RecordsOptions options_;
};

TEST_F(MergeRecords, EveryTaskIsMergedOnce) {
  for (int task = 0; task < 12; ++task) {
    for (const char* machine : {"one", "two", "three"}) Record(fmt::format("t{}", task), machine, task + 1);
  }
  for (const char* round : {"first", "again"}) {
    EXPECT_EQ(MergeRecordFiles(options_), 0) << round;
    for (int task = 0; task < 12; ++task) {
      EXPECT_EQ(Merged(fmt::format("t{}", task)), static_cast<size_t>(3 * (task + 1))) << round;
    }
    const auto names = Must(ListDir(Path("all")));
    for (const std::string& name : names) {
      EXPECT_THAT(name, Not(HasSubstr(".lock")));
      EXPECT_THAT(name, Not(HasSubstr("merging")));
    }
  }
}

TEST_F(MergeRecords, OneThatSomebodyHoldsIsNamedAndTheOthersAreMerged) {
  for (const char* task : {"t1", "t2", "t3"}) Record(task, "one", 2);
  ASSERT_TRUE(MakeDirs(Path("all")).ok());
  auto held = Must(FileLock::Acquire(Path("all/t2.db.lock")));
  EXPECT_EQ(MergeRecordFiles(options_), 1);
  EXPECT_EQ(Merged("t1"), 2u);
  EXPECT_EQ(Merged("t3"), 2u);
  EXPECT_FALSE(Exists(Path("all/t2.db")));
  held.Release();
  EXPECT_EQ(MergeRecordFiles(options_), 0);
  EXPECT_EQ(Merged("t2"), 2u);
}

TEST_F(MergeRecords, AnInterruptLeavesWhatIsMergedWhole) {
  for (const char* task : {"t1", "t2", "t3"}) Record(task, "one", 2);
  RequestInterrupt();
  const int code = MergeRecordFiles(options_);
  ClearInterruptForTest();
  EXPECT_EQ(code, 75);
  EXPECT_EQ(MergeRecordFiles(options_), 0);
  EXPECT_EQ(Merged("t3"), 2u);
}

}  // namespace
}  // namespace hone::command

// A disk that is full, played by a limit on the size of files: the tool says so in a line, and goes on once there is
// room.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/text.h"
#include "rounds.h"

namespace hone {
namespace {

class FullDisk : public FaultFolder {
 protected:
  // From now on no file of hone-tune grows beyond so many blocks of 512 bytes: what is written then fails.
  void LimitFiles(int blocks) {
    std::string script = Read("bin/hone-tune");
    script = ReplaceAll(script, "#!/bin/sh\n", fmt::format("#!/bin/sh\ntrap '' XFSZ\nulimit -f {}\n", blocks));
    Write("bin/hone-tune", script);
    ASSERT_EQ(chmod(Path("bin/hone-tune").c_str(), 0755), 0);
  }
  int64_t size_ = 0;  // of the smallest database
};

TEST_F(FullDisk, IsSaidAndLosesNoCommittedTrial) {
  constexpr uint64_t kSeed = 11;
  InventTimes(kSeed);
  WritePipeline("one", 40);
  ASSERT_TRUE(Plan().status.ok());
  NinjaOk({kGoal});
  size_ = *FileSize(Db(Tasks("one")[0]));
  for (const std::string& task : Tasks("one")) size_ = std::min(size_, *FileSize(Db(task)));
  Undisturbed(true);
  // Room for nothing at all; for the tables and some trials; for all trials of the first task but the last few.
  for (const double share : {0.01, 0.6, 0.9}) {
    SCOPED_TRACE(share);
    InventTimes(kSeed);
    LimitFiles(std::max(1, static_cast<int>(share * static_cast<double>(size_) / 512)));
    const CommandResult full = Ninja({kGoal});
    EXPECT_FALSE(full.status.ok());
    EXPECT_NE(full.out.find("hone-tune: error: "), std::string::npos) << full.out;
    EXPECT_EQ(full.out.find("Aborted"), std::string::npos) << full.out;
    for (const std::string& task : Tasks("one")) EXPECT_FALSE(Exists(Stamp(task))) << task;
    ExpectNothingLost();
    InventTimes(kSeed);
    ExpectTheSameInTheEnd();
    RemoveResults();
  }
}

}  // namespace
}  // namespace hone

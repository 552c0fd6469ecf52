#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/lock.h"
#include "in_child.h"

namespace hone {
namespace {

class MachineLockTest : public testing::Test {
 protected:
  MachineLock Open() { return Must(MachineLock::Open(path_)); }
  TempDir dir_ = Must(TempDir::Create("hone-machine-test"));
  std::string path_ = dir_.Join("cpu.lock");
};

TEST_F(MachineLockTest, SharedExcludesExclusiveOnly) {
  MachineLock a = Open(), b = Open(), c = Open();
  ASSERT_TRUE(a.LockShared(0).ok());
  ASSERT_TRUE(b.LockShared(0).ok());
  EXPECT_EQ(c.LockExclusive(0).kind(), StatusKind::kTimeout);
  a.Unlock();
  EXPECT_EQ(c.LockExclusive(0).kind(), StatusKind::kTimeout);
  b.Unlock();
  ASSERT_TRUE(c.LockExclusive(0).ok());
  EXPECT_EQ(a.LockShared(0).kind(), StatusKind::kTimeout);
  EXPECT_EQ(a.LockExclusive(0).kind(), StatusKind::kTimeout);
  c.Unlock();
  EXPECT_TRUE(a.LockExclusive(0).ok());
  EXPECT_TRUE(a.LockShared(0).ok());  // replaces what it held
  EXPECT_TRUE(b.LockShared(0).ok());
}

TEST_F(MachineLockTest, SaysWhoHoldsIt) {
  MachineLock mine = Open();
  ASSERT_TRUE(Exists("/proc/locks"));
  EXPECT_EQ(mine.Holders(), "");
  ASSERT_TRUE(mine.LockExclusive(0).ok());
  const std::string holders = Open().Holders();
  mine.Unlock();
  EXPECT_EQ(Open().Holders(), "");
  if (holders.empty()) GTEST_SKIP() << "this file system gives its files other numbers in /proc/locks";
  EXPECT_THAT(holders, StartsWith("process " + std::to_string(::getpid()) + " ("));
}

TEST_F(MachineLockTest, IsReleasedWhenItsOwnerDies) {
  EXPECT_EQ(InChild([&] {
              Result<MachineLock> lock = MachineLock::Open(path_);
              return lock.ok() && lock->LockExclusive(0).ok() ? 0 : 1;
            }),
            0);
  EXPECT_TRUE(Open().LockExclusive(0).ok());
}

TEST_F(MachineLockTest, WaitsForItsTurn) {
  MachineLock holder = Open(), waiter = Open();
  ASSERT_TRUE(holder.LockExclusive(0).ok());
  std::atomic<bool> released{false};
  std::thread thread([&] {
    EXPECT_TRUE(waiter.LockShared().ok());
    EXPECT_TRUE(released);
  });
  ::usleep(20000);
  released = true;
  holder.Unlock();
  thread.join();
}

// Two shared users that always overlap do not keep a waiting exclusive user out.
TEST_F(MachineLockTest, ExclusiveIsNotStarved) {
  std::atomic<bool> stop{false};
  std::atomic<int> rounds{0};
  std::vector<std::thread> users;
  for (int i = 0; i < 2; ++i) {
    users.emplace_back([&, i] {
      MachineLock mine = Open();
      MachineLock other = Open();
      if (i == 1) ::usleep(500);
      while (!stop) {
        ASSERT_TRUE(mine.LockShared(60).ok());
        ::usleep(1000);
        ++rounds;
      }
    });
  }
  while (rounds < 4) ::usleep(100);
  MachineLock exclusive = Open();
  EXPECT_TRUE(exclusive.LockExclusive(60).ok());
  int during = rounds;
  ::usleep(5000);
  EXPECT_LE(rounds - during, 2);  // a finished round may still be counted, but no new one starts
  exclusive.Unlock();
  stop = true;
  for (std::thread& user : users) user.join();
}

TEST_F(MachineLockTest, FilesAreForEveryUserWhateverTheUmask) {
  mode_t old = ::umask(077);
  MachineLock lock = Open();
  ::umask(old);
  for (const std::string& path : {path_, path_ + ".gate"}) {
    struct stat info;
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0444u) << path;
  }
}

TEST_F(MachineLockTest, ALinkInItsPlaceIsRefused) {
  ASSERT_TRUE(WriteFileAtomic(dir_.Join("victim"), "precious").ok());
  ASSERT_EQ(::symlink("victim", path_.c_str()), 0);
  EXPECT_EQ(MachineLock::Open(path_).status().kind(), StatusKind::kIo);
  EXPECT_EQ(*ReadFile(dir_.Join("victim")), "precious");
}

TEST_F(MachineLockTest, FilesThatACleanerRemovedStillExclude) {
  MachineLock old = Open();
  ASSERT_TRUE(Remove(path_).ok());
  ASSERT_TRUE(Remove(path_ + ".gate").ok());
  MachineLock fresh = Open();
  ASSERT_TRUE(fresh.LockExclusive(0).ok());
  EXPECT_EQ(old.LockExclusive(0).kind(), StatusKind::kTimeout);
  fresh.Unlock();
  EXPECT_TRUE(old.LockExclusive(0).ok());
}

TEST_F(MachineLockTest, WaitingEndsWithAnInterrupt) {
  MachineLock holder = Open(), waiter = Open();
  ASSERT_TRUE(holder.LockExclusive(0).ok());
  RequestInterrupt();
  EXPECT_EQ(waiter.LockShared().kind(), StatusKind::kInterrupted);
  ClearInterruptForTest();
}

TEST(MachineLock, DefaultPathIsTheSameForAllAndNamesTheDevice) {
  EXPECT_EQ(BaseName(MachineLock::DefaultPath("cuda0")), "hone-cuda0.lock");
  EXPECT_TRUE(IsDirectory(DirName(MachineLock::DefaultPath("cpu"))));
}

}  // namespace
}  // namespace hone

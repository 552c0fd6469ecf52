#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
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
  // Whether /proc/locks has the number of a file that the test itself locks. Some file systems give their files other
  // numbers there.
  bool HasNumbers() const {
    const int fd = ::open(dir_.Join("own").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct stat info = {};
    EXPECT_TRUE(fd >= 0 && ::flock(fd, LOCK_EX) == 0 && ::fstat(fd, &info) == 0);
    const std::string locks = *ReadFile("/proc/locks");
    ::close(fd);
    return locks.find(":" + std::to_string(info.st_ino) + " ") != std::string::npos;
  }
  static constexpr const char* kNoNumbers = "this file system gives its files other numbers in /proc/locks";
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
  if (!HasNumbers()) GTEST_SKIP() << kNoNumbers;
  const std::string holders = Open().Holders();
  mine.Unlock();
  EXPECT_EQ(Open().Holders(), "");
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

TEST_F(MachineLockTest, APipeInItsPlaceIsRefusedAtOnce) {
  for (const std::string& path : {path_, path_ + ".gate"}) {
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_THAT(MachineLock::Open(path_).status().message(), HasSubstr("it is a pipe"));
    ASSERT_TRUE(Remove(path).ok());
  }
}

// A process that only opened and locked both files, with this name.
class Stranger {
 public:
  Stranger(const std::string& path, const char* name, int operation = LOCK_EX) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::prctl(PR_SET_NAME, name);
      for (const std::string& file : {path, path + ".gate"}) {
        if (::flock(::open(file.c_str(), O_RDONLY), file == path ? operation : LOCK_EX) != 0) ::_exit(1);
      }
      (void)!::write(ready[1], "r", 1);
      while (true) ::pause();
    }
    char byte;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~Stranger() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  void Stop() {
    ::kill(pid_, SIGSTOP);
    ::waitpid(pid_, nullptr, WUNTRACED);
  }
  std::string Text() const { return "process " + std::to_string(pid_); }

 private:
  pid_t pid_;
};

class IdleHolders : public MachineLockTest {
 protected:
  void SetUp() override {
    if (!HasNumbers()) GTEST_SKIP() << kNoNumbers;
  }
};

TEST_F(IdleHolders, WhoDoesNotTuneIsPassedOver) {
  MachineLock mine = Open();
  const Stranger stranger(path_, "sleep");
  testing::internal::CaptureStderr();
  EXPECT_TRUE(mine.LockExclusive(60).ok());
  mine.Unlock();
  EXPECT_TRUE(mine.LockShared(0).ok()) << "it is known by now";
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, HasSubstr(path_ + ": held by " + stranger.Text() + " (sleep, user "));
  const size_t at = log.find("no process is tuning");
  ASSERT_NE(at, std::string::npos) << log;
  EXPECT_EQ(log.rfind("no process is tuning"), at) << "once";
}

TEST_F(IdleHolders, ProgramsOfHoneStillExcludeEachOther) {
  MachineLock mine = Open(), other = Open();
  int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(InChild([&] { return ::flock(fd, LOCK_SH); }), 0);  // who took it has ended, but it is still held
  ASSERT_TRUE(mine.LockExclusive(60).ok());
  EXPECT_EQ(other.LockExclusive(3).kind(), StatusKind::kTimeout) << "the gate is held";
  mine.Unlock();
  EXPECT_TRUE(other.LockExclusive(60).ok());
  ::close(fd);
}

TEST_F(IdleHolders, ASuspendedTunerIsPassedOverAndOneThatRunsIsNot) {
  MachineLock mine = Open();
  Stranger tuner(path_, "hone-tune");
  testing::internal::CaptureStderr();
  EXPECT_EQ(mine.LockExclusive(6).kind(), StatusKind::kTimeout);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("waiting for this machine: " + path_ + " is held by " + tuner.Text() + " (hone-tune, user "));
  tuner.Stop();
  EXPECT_TRUE(mine.LockExclusive(60).ok());
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

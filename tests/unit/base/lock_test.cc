#include "base/lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/channel.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "in_child.h"

namespace hone {
namespace {

using Strings = std::vector<std::string>;

class LockTest : public testing::Test {
 protected:
  // A child takes the lock and exits without running destructors; its exit status has not been collected yet.
  pid_t LeaveLockOfZombie() {
    const pid_t pid = ::fork();
    if (pid == 0) {
      Result<FileLock> lock = FileLock::Acquire(path_);
      ::_exit(lock.ok() ? 0 : 1);
    }
    siginfo_t ended;
    EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT), 0);
    return pid;
  }

  // Leaves a killed process's lock.
  pid_t LeaveLockOfDeadProcess() {
    const pid_t pid = LeaveLockOfZombie();
    int raw = -1;
    ::waitpid(pid, &raw, 0);
    EXPECT_EQ(raw, 0);
    EXPECT_TRUE(Exists(path_));
    return pid;
  }

  void Rewrite(const std::string& from, const std::string& to) {
    std::string text = *ReadFile(path_);
    ASSERT_THAT(text, HasSubstr(from));
    ASSERT_TRUE(WriteFileAtomic(path_, ReplaceAll(text, from, to)).ok());
  }

  void SetAge(double seconds) {
    timespec times[2];
    ::clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= static_cast<time_t>(seconds);
    times[1] = times[0];
    ASSERT_EQ(::utimensat(AT_FDCWD, path_.c_str(), times, 0), 0);
  }

  // The lock cannot be had while its holder beats.
  void ExpectRefusedWhile(const std::function<void(int)>& beat, double stale_seconds) {
    std::atomic<bool> done{false};
    std::thread heart([&] {
      for (int i = 1; !done; ++i) {
        beat(i);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
    });
    EXPECT_EQ(FileLock::Acquire(path_, stale_seconds, 5).status().kind(), StatusKind::kLocked);
    done = true;
    heart.join();
  }

  TempDir dir_ = Must(TempDir::Create("hone-lock-test"));
  std::string path_ = dir_.Join("job.lock");
};

TEST_F(LockTest, OneOwnerAndNothingLeftAfterwards) {
  {
    FileLock lock = Must(FileLock::Acquire(path_));
    EXPECT_EQ(*ListDir(dir_.path()), Strings{"job.lock"});
    Result<FileLock> second = FileLock::Acquire(path_);
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.status().kind(), StatusKind::kLocked);
    EXPECT_THAT(second.status().message(),
                HasSubstr("process " + std::to_string(::getpid()) + " on host " + Hostname()));
    EXPECT_TRUE(lock.Touch().ok());
    FileLock moved = std::move(lock);
    EXPECT_TRUE(Exists(path_));
  }
  EXPECT_EQ(*ListDir(dir_.path()), Strings{});
  EXPECT_TRUE(FileLock::Acquire(path_).ok());
}

TEST_F(LockTest, AnotherProcessIsRefused) {
  const FileLock lock = Must(FileLock::Acquire(path_));
  EXPECT_EQ(InChild([&] { return FileLock::Acquire(path_).status().kind() == StatusKind::kLocked ? 0 : 1; }), 0);
}

TEST_F(LockTest, TheLockOfADeadProcessIsTakenOverAtOnce) {
  LeaveLockOfDeadProcess();
  const FileLock lock = Must(FileLock::Acquire(path_, 1e9));
  EXPECT_NE(ReadFile(path_)->find("pid " + std::to_string(::getpid()) + "\n"), std::string::npos);
}

TEST_F(LockTest, AZombieHoldsNothing) {
  const pid_t zombie = LeaveLockOfZombie();
  EXPECT_TRUE(FileLock::Acquire(path_, 1e9).ok());
  EXPECT_EQ(::waitpid(zombie, nullptr, 0), zombie);
}

TEST_F(LockTest, AReusedPidIsAnotherProcess) {
  pid_t dead = LeaveLockOfDeadProcess();
  Rewrite("pid " + std::to_string(dead), "pid " + std::to_string(::getpid()));  // alive, but started at another time
  Rewrite("start ", "start 1");
  EXPECT_TRUE(FileLock::Acquire(path_, 1e9).ok());
}

TEST_F(LockTest, WhatIsNoFileInItsPlaceIsRefusedAtOnceAndStays) {
  const std::pair<const char*, std::function<int()>> places[] = {
      {"it is a pipe", [&] { return ::mkfifo(path_.c_str(), 0600); }},
      {"it is a socket", [&] { return ::mknod(path_.c_str(), S_IFSOCK | 0600, 0); }},
      {"it is a folder", [&] { return ::mkdir(path_.c_str(), 0700); }},
      {"is a symbolic link", [&] { return ::symlink("/dev/zero", path_.c_str()); }},
      {"is a symbolic link", [&] { return ::symlink("nowhere", path_.c_str()); }}};
  for (const auto& [what, make] : places) {
    ASSERT_EQ(make(), 0) << what;
    const Status status = FileLock::AcquireWithin(path_, -1).status();
    EXPECT_EQ(status.kind(), StatusKind::kIo);
    EXPECT_THAT(status.message(), HasSubstr(what));
    EXPECT_EQ(*ListDir(dir_.path()), Strings{"job.lock"});
    ASSERT_TRUE(RemoveTree(path_).ok());
  }
}

// Whoever may read a lock file can flock it.
TEST_F(LockTest, AFlockOfAStrangerIsNoReasonToWaitForEver) {
  LeaveLockOfDeadProcess();
  const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);
  const Status status = FileLock::AcquireWithin(path_, 0).status();
  EXPECT_EQ(status.kind(), StatusKind::kLocked);
  EXPECT_THAT(status.message(), HasSubstr("flock"));
  ::close(fd);
  EXPECT_TRUE(FileLock::Acquire(path_).ok());
}

TEST_F(LockTest, WaitsForTheHolderAndEndsWithAnInterrupt) {
  std::optional<FileLock> lock = Must(FileLock::Acquire(path_));
  EXPECT_EQ(FileLock::AcquireWithin(path_, 0).status().kind(), StatusKind::kLocked);
  int said[2];
  ASSERT_EQ(::pipe(said), 0);
  const int stderr_before = ::dup(STDERR_FILENO);
  ::dup2(said[1], STDERR_FILENO);
  ::close(said[1]);
  std::string text;
  std::thread releasing([&] {  // once the other says that it waits
    char bytes[4096];
    while (text.find('\n') == std::string::npos && WaitReadable({said[0]}, 60) == 0) {
      text.append(bytes, static_cast<size_t>(std::max<ssize_t>(0, ::read(said[0], bytes, sizeof bytes))));
    }
    lock.reset();
  });
  EXPECT_TRUE(FileLock::AcquireWithin(path_, -1).ok());
  releasing.join();
  ::dup2(stderr_before, STDERR_FILENO);
  ::close(stderr_before);
  ::close(said[0]);
  EXPECT_THAT(text, HasSubstr("waiting: " + path_ + ": held by process " + std::to_string(::getpid()) + " on host "));
  lock.emplace(Must(FileLock::Acquire(path_)));
  RequestInterrupt();
  EXPECT_EQ(FileLock::AcquireWithin(path_, -1).status().kind(), StatusKind::kInterrupted);
  ClearInterruptForTest();
}

constexpr double kWatch = 0.2;  // seconds in which a live holder would show itself

TEST_F(LockTest, ALockFromBeforeTheLastBootIsStale) {
  ASSERT_NE(BootId(), "");
  LeaveLockOfDeadProcess();
  Rewrite("boot ", "boot other-");
  Rewrite("pid ", "pid 1\nignored ");  // pid 1 is always alive
  EXPECT_TRUE(FileLock::Holder(path_)->has_value());
  EXPECT_FALSE((*FileLock::Holder(path_))->gone) << "it may be another host of this name";
  SetAge(50);
  EXPECT_TRUE(FileLock::Acquire(path_, 1e9, 40).ok());
}

TEST_F(LockTest, AnotherHostOfTheSameNameIsNotTakenForARebootOfThisOne) {
  ASSERT_NE(BootId(), "");
  LeaveLockOfDeadProcess();
  Rewrite("boot ", "boot other-");
  // Its heartbeat comes while we watch.
  ExpectRefusedWhile([&](int) { ::utimensat(AT_FDCWD, path_.c_str(), nullptr, 0); }, 1e9);
  EXPECT_TRUE(FileLock::Acquire(path_, 1e9, kWatch).ok()) << "it has fallen silent";
}

TEST_F(LockTest, AnotherHostIsJudgedByItsHeartbeat) {
  LeaveLockOfDeadProcess();
  Rewrite("host ", "host far-");
  SetAge(50);
  Result<FileLock> early = FileLock::Acquire(path_, 100, kWatch);
  ASSERT_EQ(early.status().kind(), StatusKind::kLocked);
  EXPECT_THAT(early.status().message(),
              HasSubstr(", on host far-" + Hostname() + ", and its process is not visible here"));
  const LockHolder holder = **FileLock::Holder(path_, 100);
  EXPECT_EQ(holder.host, "far-" + Hostname());
  EXPECT_NEAR(holder.heartbeat_age, 50, 20);
  EXPECT_FALSE(holder.gone);
  SetAge(150);
  EXPECT_TRUE((*FileLock::Holder(path_, 100))->gone);
  EXPECT_TRUE(FileLock::Acquire(path_, 100, kWatch).ok());
}

TEST_F(LockTest, WhatASilentHolderElsewhereMeansIsSaid) {
  const auto message = [&] {
    const Result<FileLock> lock = FileLock::Acquire(path_, 1000, 40);
    return lock.ok() ? "taken" : lock.status().message();
  };
  const auto says = [&](const std::string& part) { return message().find(part) != std::string::npos; };
  LeaveLockOfDeadProcess();
  Rewrite("host ", "host far-");
  SetAge(30);
  EXPECT_TRUE(says(", last heartbeat 3")) << "less than two beats: " << message();
  SetAge(900);
  EXPECT_TRUE(says(": silent for 9")) << message();
  EXPECT_TRUE(says(", on host far-" + Hostname())) << message();
  EXPECT_TRUE(says("if it is gone, run this again in ")) << message();
  SetAge(-900);
  EXPECT_TRUE(says("last heartbeat 0 s ago")) << "its clock is ahead: " << message();
  ASSERT_TRUE(WriteFileAtomic(path_, "").ok());
  SetAge(900);
  EXPECT_TRUE(says("held by an unnamed process: silent for 9")) << message();
}

TEST_F(LockTest, AnotherHostWhoseClockIsWrongIsNotRobbed) {
  // Seen from here, its heartbeat is an hour old or an hour ahead, but it continues.
  for (const double age : {3600.0, -3600.0}) {
    LeaveLockOfDeadProcess();
    Rewrite("host ", "host far-");
    SetAge(age);
    ExpectRefusedWhile([&](int beat) { SetAge(age - beat); }, 100);
    EXPECT_TRUE(FileLock::Acquire(path_, 100, kWatch).ok()) << age;  // and releases it
  }
}

TEST_F(LockTest, WhoCannotBeSeenIsJudgedByItsHeartbeat) {
  for (const char* who : {"another container", "an empty file"}) {
    LeaveLockOfDeadProcess();
    if (who == std::string("an empty file")) {
      ASSERT_TRUE(WriteFileAtomic(path_, "").ok());
    } else {
      Rewrite("pidns ", "pidns other-");
    }
    EXPECT_EQ(FileLock::Acquire(path_, 100, kWatch).status().kind(), StatusKind::kLocked) << who;
    SetAge(150);
    EXPECT_TRUE(FileLock::Acquire(path_, 100, kWatch).ok()) << who;
  }
}

TEST_F(LockTest, TheHolderIsKnownAndADeadOneIsGone) {
  EXPECT_FALSE(FileLock::Holder(path_)->has_value());
  {
    Result<FileLock> lock = FileLock::Acquire(path_);
    const LockHolder holder = **FileLock::Holder(path_);
    EXPECT_EQ(holder.pid, ::getpid());
    EXPECT_EQ(holder.host, Hostname());
    EXPECT_FALSE(holder.gone);
  }
  LeaveLockOfDeadProcess();
  EXPECT_TRUE((*FileLock::Holder(path_))->gone);
}

TEST_F(LockTest, AnOwnerThatLostItsLockIsToldAndRemovesNothing) {
  FileLock lost = Must(FileLock::Acquire(path_));
  ASSERT_TRUE(Remove(path_).ok());
  FileLock taker = Must(FileLock::Acquire(path_));
  EXPECT_EQ(lost.Touch().kind(), StatusKind::kLocked);
  lost.Release();
  EXPECT_TRUE(Exists(path_));
  EXPECT_TRUE(taker.Touch().ok());
}

TEST_F(LockTest, FoldersThatCannotHoldALock) {
  EXPECT_EQ(FileLock::Acquire(dir_.Join("none/job.lock")).status().kind(), StatusKind::kNotFound);
}

// Many processes find the same stale lock at the same moment: exactly one may get it.
TEST_F(LockTest, OneTakesOverAStaleLock) {
  for (int round = 0; round < 20; ++round) {
    LeaveLockOfDeadProcess();
    std::atomic<int> owners{0};
    std::atomic<bool> go{false};
    std::vector<std::thread> threads;
    std::vector<std::optional<Result<FileLock>>> locks(4);
    for (size_t i = 0; i < locks.size(); ++i) {
      threads.emplace_back([&, i] {
        while (!go) std::this_thread::yield();
        locks[i].emplace(FileLock::Acquire(path_));
        if (locks[i]->ok()) ++owners;
      });
    }
    go = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(owners, 1) << "round " << round;
    locks.clear();
    EXPECT_EQ(*ListDir(dir_.path()), Strings{});
  }
}

}  // namespace
}  // namespace hone

#include "base/heartbeat.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/file.h"
#include "common/expect.h"

namespace hone {
namespace {

double ModifiedAt(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0);
  return static_cast<double>(info.st_mtim.tv_sec);
}

// Ages the heartbeat.
void Silence(const std::string& path) {
  const timespec old[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), old, 0), 0);
}

TEST(HeartbeatTest, TouchesTheLockWhileTheOwnerIsBusyAndNoticesItsLoss) {
  const TempDir dir = *TempDir::Create();
  auto lock = Must(FileLock::Acquire(dir.Join("t.lock")));
  Silence(lock.path());
  Heartbeat heartbeat(&lock, 0.002);
  for (int i = 0; i < 5000 && ModifiedAt(lock.path()) == 1000; ++i) RealClock()->SleepSeconds(0.002);
  EXPECT_NE(ModifiedAt(lock.path()), 1000);
  EXPECT_TRUE(heartbeat.Check().ok());
  EXPECT_FALSE(heartbeat.lost());
  ASSERT_TRUE(WriteFileAtomic(lock.path(), "host another\n").ok());  // like a process that takes it over: a new file
  EXPECT_EQ(heartbeat.Check().kind(), StatusKind::kLocked);
  EXPECT_TRUE(heartbeat.lost());
}

// The other host knows nothing about this process except its heartbeat.
TEST(HeartbeatTest, AnotherHostDoesNotTakeTheLockOfWhoeverIsBusyAndAlive) {
  const TempDir dir = *TempDir::Create();
  const std::string path = dir.Join("t.lock");
  auto lock = Must(FileLock::Acquire(path));
  const int fd = ::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);  // the same file: a new one would be a loss
  const std::string far = "host far-" + Hostname() + "\npid 7\n";
  ASSERT_EQ(::write(fd, far.data(), far.size()), static_cast<ssize_t>(far.size()));
  ::close(fd);
  {
    Heartbeat heartbeat(&lock, 0.05);
    Silence(path);
    EXPECT_EQ(FileLock::Acquire(path, 100, 30).status().kind(), StatusKind::kLocked);
    EXPECT_TRUE(heartbeat.Check().ok());
  }
  Silence(path);
  EXPECT_TRUE(FileLock::Acquire(path, 100, 0.2).ok()) << "nobody beats any more";
  EXPECT_EQ(lock.Touch().kind(), StatusKind::kLocked);
}

TEST(HeartbeatTest, ItsEndDoesNotWaitForTheNextBeat) {
  const TempDir dir = *TempDir::Create();
  auto lock = Must(FileLock::Acquire(dir.Join("t.lock")));
  { Heartbeat heartbeat(&lock, 1e6); }
  EXPECT_TRUE(lock.Touch().ok());
}

}  // namespace
}  // namespace hone

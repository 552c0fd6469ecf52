// Implements MachineLock of base/lock.h.
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/lock.h"
#include "base/lock_owner.h"
#include "base/os_error.h"
#include "base/text.h"

namespace hone {

// Read-only is enough for flock, and, unlike O_CREAT, allowed for other users' files in a sticky folder.
static Result<int> OpenShared(const std::string& path) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT) {
      fd = ::open(path.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0444);
      if (fd < 0 && errno == EEXIST) continue;
      if (fd >= 0) (void)!::fchmod(fd, 0444);  // regardless of the umask
    }
    if (fd >= 0) return fd;
    return ErrnoStatus(errno, path + ": cannot open the machine's lock");
  }
  return Status::Io(path + ": cannot open the machine's lock");
}

static Status FlockUntil(int fd, int operation, const Deadline& deadline, const std::string& path) {
  double pause = 0.0002;
  while (::flock(fd, operation | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return ErrnoStatus(errno, path + ": cannot lock");
    if (Interrupted()) return Status::Interrupted(path + ": interrupted while waiting for the machine");
    if (deadline.Passed()) return Status::Timeout(path + ": the machine is in use by another process of Hone");
    RealClock()->SleepSeconds(std::min(pause, deadline.SecondsLeft()));
    pause = std::min(pause * 1.5, 0.005);
  }
  return Status();
}

std::string MachineLock::DefaultPath(const std::string& device) {
  struct stat info;
  // Decide by a fact that all users see alike: whether everybody may write to the folder.
  bool usable = ::stat("/run/lock", &info) == 0 && S_ISDIR(info.st_mode) && (info.st_mode & S_IWOTH) != 0;
  return JoinPath(usable ? "/run/lock" : "/tmp", "hone-" + device + ".lock");
}

Result<MachineLock> MachineLock::Open(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(int fd, OpenShared(path));
  Result<int> gate = OpenShared(path + ".gate");
  if (!gate.ok()) {
    ::close(fd);
    return gate.status();
  }
  return MachineLock(path, fd, *gate);
}

MachineLock::MachineLock(MachineLock&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)), gate_fd_(std::exchange(other.gate_fd_, -1)) {}

MachineLock& MachineLock::operator=(MachineLock&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(gate_fd_, other.gate_fd_);
  return *this;
}

MachineLock::~MachineLock() {
  Unlock();
  if (fd_ >= 0) ::close(fd_);
  if (gate_fd_ >= 0) ::close(gate_fd_);
}

Status MachineLock::Lock(int operation, double timeout_seconds) {
  Unlock();
  Deadline deadline(timeout_seconds);
  for (;;) {
    // Processes pass the gate one at a time. One that wants exclusive use waits inside it, so no new shared user
    // passes.
    HONE_RETURN_IF_ERROR(FlockUntil(gate_fd_, LOCK_EX, deadline, path_));
    Status status = FlockUntil(fd_, operation, deadline, path_);
    ::flock(gate_fd_, LOCK_UN);
    if (!status.ok() || StillNames(path_, fd_)) return status;
    // A cleaner removed the files in the meantime: our lock would exclude nobody.
    HONE_ASSIGN_OR_RETURN(MachineLock fresh, Open(path_));
    *this = std::move(fresh);
  }
}

Status MachineLock::LockShared(double timeout_seconds) { return Lock(LOCK_SH, timeout_seconds); }

Status MachineLock::LockExclusive(double timeout_seconds) { return Lock(LOCK_EX, timeout_seconds); }

void MachineLock::Unlock() {
  if (fd_ >= 0) ::flock(fd_, LOCK_UN);
}

// /proc/locks has a line for each lock: "1: FLOCK  ADVISORY  WRITE 1234 fe:01:5678 0 EOF", with "->" after the number
// for waiting processes. Device numbers are hexadecimal, inodes decimal.
std::string MachineLock::Holders() const {
  struct stat info;
  Result<std::string> locks = ReadFile("/proc/locks");
  if (fd_ < 0 || ::fstat(fd_, &info) != 0 || !locks.ok()) return "";
  std::vector<std::string> holders;
  for (const std::string& line : Split(*locks, '\n')) {
    const std::vector<std::string> words = SplitWords(line);
    if (words.size() < 6 || words[1] != "FLOCK") continue;
    const std::vector<std::string> file = Split(words[5], ':');
    if (file.size() != 3 || file[2] != std::to_string(info.st_ino) ||
        std::strtoul(file[0].c_str(), nullptr, 16) != major(info.st_dev) ||
        std::strtoul(file[1].c_str(), nullptr, 16) != minor(info.st_dev)) {
      continue;
    }
    Result<std::string> name = ReadFile("/proc/" + words[4] + "/comm");
    holders.push_back("process " + words[4] + (name.ok() ? " (" + Printable(Trim(*name)) + ")" : ""));
  }
  std::sort(holders.begin(), holders.end());
  holders.erase(std::unique(holders.begin(), holders.end()), holders.end());
  if (holders.size() > 3) holders.resize(3), holders.push_back("others");
  return Join(holders, ", ");
}

}  // namespace hone

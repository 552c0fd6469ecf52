#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/deadline.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/os_error.h"
#include "base/text.h"

namespace hone {
namespace {

// Who holds a lock, one "name value" line each. Lines a reader does not know are skipped.
struct Owner {
  std::string host;
  std::string boot;
  std::string pid_namespace;  // pids of another container cannot be asked about
  int64_t pid = 0;
  std::string start;  // of the process, in clock ticks since boot: tells it from a later process with the same pid
  std::string since;
};

// Field 22 of /proc/PID/stat; empty if there is no such process. Fields are counted behind the name's ')'.
std::string ProcessStart(int64_t pid) {
  Result<std::string> stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  if (!stat.ok()) return "";
  size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos) return "";
  std::vector<std::string> fields = SplitWords(std::string_view(*stat).substr(name_end + 1));
  return fields.size() > 19 ? fields[19] : "";
}

std::string PidNamespace() {
  char target[128];
  ssize_t n = ::readlink("/proc/self/ns/pid", target, sizeof target);
  return n > 0 ? std::string(target, static_cast<size_t>(n)) : "";
}

Owner ThisProcess() {
  Owner owner;
  owner.host = Hostname();
  owner.boot = BootId();
  owner.pid_namespace = PidNamespace();
  owner.pid = ::getpid();
  owner.start = ProcessStart(owner.pid);
  owner.since = FormatIso8601(RealClock()->WallSeconds());
  return owner;
}

std::string ToText(const Owner& o) {
  return "host " + o.host + "\nboot " + o.boot + "\npidns " + o.pid_namespace + "\npid " + std::to_string(o.pid) +
         "\nstart " + o.start + "\nsince " + o.since + "\n";
}

Owner FromText(std::string_view text) {
  Owner owner;
  for (const std::string& line : Split(text, '\n')) {
    size_t space = line.find(' ');
    if (space == std::string::npos) continue;
    std::string name = line.substr(0, space);
    std::string value = line.substr(space + 1);
    if (name == "host") owner.host = value;
    if (name == "boot") owner.boot = value;
    if (name == "pidns") owner.pid_namespace = value;
    if (name == "start") owner.start = value;
    if (name == "since") owner.since = value;
    if (name == "pid") {
      Result<int64_t> pid = ParseInt(value);
      owner.pid = pid.ok() ? *pid : 0;
    }
  }
  return owner;
}

bool SameFile(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

double ModifiedAt(const struct stat& s) {
  return static_cast<double>(s.st_mtim.tv_sec) + 1e-9 * static_cast<double>(s.st_mtim.tv_nsec);
}

enum class Life { kAlive, kDead, kUnknown };

Life LifeOf(const Owner& owner, const Owner& me) {
  if (owner.host != me.host || owner.pid <= 0) return Life::kUnknown;
  if (owner.boot != me.boot) return Life::kDead;
  if (owner.pid_namespace != me.pid_namespace) return Life::kUnknown;
  if (::kill(static_cast<pid_t>(owner.pid), 0) != 0 && errno == ESRCH) return Life::kDead;
  std::string start = ProcessStart(owner.pid);
  if (start.empty() || owner.start.empty()) return Life::kAlive;
  return start == owner.start ? Life::kAlive : Life::kDead;
}

Status HeldBy(const std::string& path, const Owner& owner, double heartbeat_age) {
  std::string who = owner.pid > 0
                        ? "process " + std::to_string(owner.pid) + " on host " + owner.host + " since " + owner.since
                        : "a process that did not leave its name";
  return Status::Locked(path + ": held by " + who + ", last heartbeat " + FormatSeconds(std::max(0.0, heartbeat_age)) +
                        " ago; wait for it or stop it");
}

// A file with `text` under a name of its own beside `path`, open; its mtime is the file system's present time.
Result<int> WriteClaim(const std::string& temp, std::string_view text) {
  int fd = ::open(temp.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (fd < 0) return ErrnoStatus(errno, temp + ": cannot create a lock file");
  if (::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    int error = errno;
    ::close(fd);
    ::unlink(temp.c_str());
    return ErrnoStatus(error, temp + ": cannot write a lock file");
  }
  return fd;
}

// Removes the lock file at `path` if it is stale. Ok: it is gone, try again. kLocked: somebody holds it.
Status RemoveIfStale(const std::string& path, const Owner& me, double now, double stale_seconds) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return errno == ENOENT ? Status() : ErrnoStatus(errno, path + ": cannot read the lock file");
  // Two who find the same stale file: the flock on it lets one remove it, and the other then sees that the name stands
  // for another file (or none). Whoever holds a live lock never comes here.
  Status status;
  ::flock(fd, LOCK_EX);
  struct stat held, named;
  bool current = ::fstat(fd, &held) == 0 && ::stat(path.c_str(), &named) == 0 && SameFile(held, named);
  if (current) {
    Result<std::string> text = ReadFile(path);
    Owner owner = FromText(text.ok() ? *text : "");
    double age = now - ModifiedAt(held);
    Life life = LifeOf(owner, me);
    bool stale = life == Life::kDead || (life == Life::kUnknown && age > stale_seconds);
    if (!stale) {
      status = HeldBy(path, owner, age);
    } else if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
      status = ErrnoStatus(errno, path + ": cannot remove the stale lock file");
    }
  }
  ::close(fd);
  return status;
}

}  // namespace

Result<FileLock> FileLock::Acquire(const std::string& path, double stale_seconds) {
  static std::atomic<uint64_t> counter{0};
  Owner me = ThisProcess();
  std::string temp = path + "." + me.host + "." + std::to_string(me.pid) + "." + std::to_string(counter++) + ".claim";
  HONE_ASSIGN_OR_RETURN(int fd, WriteClaim(temp, ToText(me)));
  struct stat mine;
  ::fstat(fd, &mine);
  Status status;
  for (int attempt = 0; attempt < 100; ++attempt) {
    // link() makes the complete file appear at once, and fails if the name exists, also on NFS.
    if (::link(temp.c_str(), path.c_str()) == 0) {
      ::unlink(temp.c_str());
      return FileLock(path, fd);
    }
    status = errno == EEXIST ? RemoveIfStale(path, me, ModifiedAt(mine), stale_seconds)
                             : ErrnoStatus(errno, path + ": cannot create the lock file");
    if (!status.ok()) break;
  }
  if (status.ok()) status = Status::Locked(path + ": others take this lock again and again; try later");
  ::close(fd);
  ::unlink(temp.c_str());
  return status;
}

FileLock::FileLock(FileLock&& other) noexcept : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  return *this;
}

FileLock::~FileLock() { Release(); }

bool FileLock::StillOurs() const {
  struct stat held, named;
  return fd_ >= 0 && ::fstat(fd_, &held) == 0 && ::stat(path_.c_str(), &named) == 0 && SameFile(held, named);
}

Status FileLock::Touch() {
  if (!StillOurs()) return Status::Locked(path_ + ": this lock was taken over or removed; stopping");
  if (::futimens(fd_, nullptr) != 0) return ErrnoStatus(errno, path_ + ": cannot refresh the lock");
  return Status();
}

void FileLock::Release() {
  if (StillOurs()) ::unlink(path_.c_str());
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

// ---- MachineLock

namespace {

// Read-only is enough for flock, and, unlike O_CREAT, allowed for other users' files in a sticky folder.
Result<int> OpenShared(const std::string& path) {
  for (int attempt = 0; attempt < 10; ++attempt) {
    int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT) {
      fd = ::open(path.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0444);
      if (fd < 0 && errno == EEXIST) continue;
      if (fd >= 0) (void)!::fchmod(fd, 0444);  // whatever the umask
    }
    if (fd >= 0) return fd;
    return ErrnoStatus(errno, path + ": cannot open the machine's lock");
  }
  return Status::Io(path + ": cannot open the machine's lock");
}

bool PathStillNames(int fd, const std::string& path) {
  struct stat held, named;
  return ::fstat(fd, &held) == 0 && ::stat(path.c_str(), &named) == 0 && SameFile(held, named);
}

Status FlockUntil(int fd, int operation, const Deadline& deadline, const std::string& path) {
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

}  // namespace

std::string MachineLock::DefaultPath(const std::string& device) {
  struct stat info;
  // Decided by what all users see alike: a folder that everybody may write to.
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
    // Everyone passes the gate alone; who waits for exclusive use waits inside it, and so lets no new shared user by.
    HONE_RETURN_IF_ERROR(FlockUntil(gate_fd_, LOCK_EX, deadline, path_));
    Status status = FlockUntil(fd_, operation, deadline, path_);
    ::flock(gate_fd_, LOCK_UN);
    if (!status.ok() || PathStillNames(fd_, path_)) return status;
    // A cleaner removed the files meanwhile: what we hold excludes nobody who comes now.
    HONE_ASSIGN_OR_RETURN(MachineLock fresh, Open(path_));
    *this = std::move(fresh);
  }
}

Status MachineLock::LockShared(double timeout_seconds) { return Lock(LOCK_SH, timeout_seconds); }

Status MachineLock::LockExclusive(double timeout_seconds) { return Lock(LOCK_EX, timeout_seconds); }

void MachineLock::Unlock() {
  if (fd_ >= 0) ::flock(fd_, LOCK_UN);
}

}  // namespace hone

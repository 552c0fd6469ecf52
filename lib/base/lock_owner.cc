#include "base/lock_owner.h"

#include <errno.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/os_error.h"
#include "base/text.h"

namespace hone {
namespace {

struct ProcessStat {
  std::string start;   // empty if there is no such process
  bool ended = false;  // but its exit status was not collected yet, as in a container whose process 1 is not an init
};

// Fields 3, 20 and 22 of /proc/PID/stat, counted from the ')' after the name. A process whose first thread has ended is
// still alive while another thread is in the kernel.
ProcessStat StatOf(int64_t pid) {
  Result<std::string> stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  if (!stat.ok()) return {};
  size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos) return {};
  std::vector<std::string> fields = SplitWords(std::string_view(*stat).substr(name_end + 1));
  if (fields.size() <= 19) return {};
  const Result<int64_t> threads = ParseInt(fields[17]);
  return {fields[19], (fields[0] == "Z" || fields[0] == "X") && threads.ok() && *threads <= 1};
}

std::string PidNamespace() {
  char target[128];
  ssize_t n = ::readlink("/proc/self/ns/pid", target, sizeof target);
  return n > 0 ? std::string(target, static_cast<size_t>(n)) : "";
}

}  // namespace

LockOwner ThisProcess() {
  LockOwner owner{.host = Hostname(), .boot = BootId(), .pid_namespace = PidNamespace(), .pid = ::getpid()};
  owner.start = StatOf(owner.pid).start;
  owner.since = FormatIso8601(RealClock()->WallSeconds());
  return owner;
}

std::string LockText(const LockOwner& o) {
  return "host " + o.host + "\nboot " + o.boot + "\npidns " + o.pid_namespace + "\npid " + std::to_string(o.pid) +
         "\nstart " + o.start + "\nsince " + o.since + "\n";
}

LockOwner ParseLockText(std::string_view text) {
  LockOwner owner;
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

Life LifeOf(const LockOwner& owner, const LockOwner& me) {
  if (owner.host != me.host || owner.pid <= 0) return Life::kUnknown;
  if (owner.boot != me.boot) return Life::kRebooted;
  if (owner.pid_namespace != me.pid_namespace) return Life::kUnknown;
  if (::kill(static_cast<pid_t>(owner.pid), 0) != 0 && errno == ESRCH) return Life::kDead;
  const ProcessStat stat = StatOf(owner.pid);
  if (stat.ended) return Life::kDead;
  if (stat.start.empty() || owner.start.empty()) return Life::kAlive;
  return stat.start == owner.start ? Life::kAlive : Life::kDead;
}

bool StillNames(const std::string& path, const Fd& fd) {
  struct stat held, named;
  return fd.open() && ::fstat(fd.get(), &held) == 0 && ::stat(path.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

Result<bool> Flock(const std::string& path, const Fd& fd, int operation, const Deadline& deadline,
                   const std::function<bool()>& give_up) {
  double pause = 0.0002;
  while (::flock(fd.get(), operation | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return ErrnoStatus(errno, path + ": cannot lock");
    if (Interrupted()) return Status::Interrupted(path + ": interrupted while waiting for this lock");
    if (give_up()) return false;
    if (deadline.Passed()) return Status::Timeout(path + ": locked by another process");
    RealClock()->SleepSeconds(std::min(pause, deadline.SecondsLeft()));
    pause = std::min(pause * 1.5, 0.005);
  }
  return true;
}

}  // namespace hone

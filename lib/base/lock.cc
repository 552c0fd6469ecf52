#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/lock_owner.h"
#include "base/log.h"
#include "base/os_error.h"
#include "base/text.h"

namespace hone {
namespace {

// `at` is " on host name", or empty if the message already says so.
std::string Who(const LockOwner& owner, const std::string& at, const char* nameless) {
  if (owner.pid <= 0) return nameless;
  return "process " + std::to_string(owner.pid) + at + " since " + owner.since;
}

Status HeldBy(const std::string& path, const LockOwner& owner, double heartbeat_age) {
  const std::string who = Who(owner, " on host " + owner.host, "an unnamed process");
  return Status::Locked(path + ": held by " + who + ", last heartbeat " + FormatSeconds(std::max(0.0, heartbeat_age)) +
                        " ago; wait for it or stop it");
}

std::string WholeSeconds(double seconds) { return std::to_string(std::lround(std::ceil(seconds))) + " s"; }

// As above, for a holder that may be dead: its process cannot be seen from here, and its heartbeat does not come.
Status HeldInSilence(const std::string& path, const LockOwner& owner, double silent, double stale_seconds) {
  const std::string who = Who(owner, "", "an unnamed process");
  const std::string where = owner.host.empty() ? "" : ", on host " + owner.host;
  return Status::Locked(
      path + ": held by " + who + ": silent for " + WholeSeconds(silent) + where +
      ", and its process is not visible here; wait for it, stop it there, or, if it is gone, run this again in " +
      WholeSeconds(stale_seconds - silent) + " to take the lock over");
}

constexpr double kJudgeSeconds = 5;  // to judge a lock file; watching its heartbeat takes longer

// Creates a file with `text` as `temp`, a unique name beside `path`, and returns it open. Its mtime is the file
// system's current time.
Result<Fd> WriteClaim(const std::string& path, const std::string& temp, std::string_view text) {
  HONE_ASSIGN_OR_RETURN(Fd fd, CreateFresh(temp, 0644, path + ": cannot create the lock file"));
  // Synced, as a lock without a text that outlives a power cut would name no owner who can be seen to be gone.
  if (WriteAll(fd, text) && ::fsync(fd.get()) == 0) return fd;
  const Status failed = ErrnoStatus(errno, path + ": cannot write the lock file");
  ::unlink(temp.c_str());
  return failed;
}

// Whether a heartbeat arrives within `seconds`. The clocks of hosts and file systems differ and jump, but a live
// process touches its file.
bool IsTouched(const std::string& path, const struct stat& as_seen, double seconds) {
  if (seconds > 1) {
    LogInfo(path + ": its holder has been silent for long; waiting for up to " + FormatSeconds(seconds) +
            " to see whether it is there");
  }
  const Deadline deadline(seconds);
  while (true) {
    struct stat now;
    // The name is gone or stands for another file: the other process has moved on.
    if (::stat(path.c_str(), &now) != 0 || now.st_ino != as_seen.st_ino ||
        ModifiedSeconds(now) != ModifiedSeconds(as_seen)) {
      return true;
    }
    if (deadline.Passed() || Interrupted()) return false;
    RealClock()->SleepSeconds(std::min(0.1, deadline.SecondsLeft()));
  }
}

bool IsStale(Life life, const std::string& path, const struct stat& held, double now, double stale_seconds,
             double watch_seconds) {
  // A heartbeat in the future dates from before the clock was set back.
  const double age = std::abs(now - ModifiedSeconds(held));
  switch (life) {
    case Life::kAlive:
      return false;
    case Life::kDead:
      return true;
    case Life::kRebooted:
      return age > watch_seconds || (!IsTouched(path, held, watch_seconds) && !Interrupted());
    case Life::kUnknown:
      return age > stale_seconds && !IsTouched(path, held, watch_seconds) && !Interrupted();
  }
  return false;
}

// Removes the lock file at `path` if it is stale. Returns ok if it is gone (try again), kLocked if somebody holds it.
Status RemoveIfStale(const std::string& path, const LockOwner& me, double now, double stale_seconds,
                     double watch_seconds) {
  const Result<Fd> fd = OpenFile(path, O_RDONLY | O_NOFOLLOW);
  if (!fd.ok()) return fd.status().kind() == StatusKind::kNotFound ? Status() : fd.status();
  // Two processes may find the same stale file. Its flock lets one of them remove it; the other then sees that the name
  // is gone or stands for another file. The holder of a live lock never comes here. Every user who may read the file
  // can lock it for ever, so do not wait for long. A file system may have no such locks.
  const Status judging = Flock(path, *fd, LOCK_EX, Deadline(kJudgeSeconds), [] { return false; }).status();
  if (judging.kind() == StatusKind::kInterrupted) return judging;
  if (judging.kind() == StatusKind::kTimeout) {
    return Status::Locked(
        "{0}: another process checks whether its holder is alive, or a program keeps this file locked (flock): see "
        "`lsof {0}`",
        path);
  }
  struct stat held;
  if (!StillNames(path, *fd) || ::fstat(fd->get(), &held) != 0) return Status();
  const LockOwner owner = ParseLockText(ReadFrom(*fd, 0));
  const Life life = LifeOf(owner, me);
  const double age = now - ModifiedSeconds(held);
  if (!IsStale(life, path, held, now, stale_seconds, watch_seconds)) {
    const bool silent = life == Life::kUnknown && age > watch_seconds && age <= stale_seconds;
    return silent ? HeldInSilence(path, owner, age, stale_seconds) : HeldBy(path, owner, age);
  }
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return Status();
  return ErrnoStatus(errno, path + ": cannot remove the stale lock file");
}

}  // namespace

Result<FileLock> FileLock::Acquire(const std::string& path, double stale_seconds, double watch_seconds) {
  static std::atomic<uint64_t> counter{0};
  LockOwner me = ThisProcess();
  std::string temp = path + "." + me.host + "." + std::to_string(me.pid) + "." + std::to_string(counter++) + ".claim";
  HONE_ASSIGN_OR_RETURN(Fd fd, WriteClaim(path, temp, LockText(me)));
  struct stat mine;
  ::fstat(fd.get(), &mine);
  Status status;
  for (int attempt = 0; attempt < 100; ++attempt) {
    // link() makes the complete file appear at once, and fails if the name exists, also on NFS.
    if (::link(temp.c_str(), path.c_str()) == 0) {
      ::unlink(temp.c_str());
      return FileLock(path, std::move(fd));
    }
    status = errno == EEXIST ? RemoveIfStale(path, me, ModifiedSeconds(mine), stale_seconds, watch_seconds)
                             : ErrnoStatus(errno, path + ": cannot create the lock file");
    if (!status.ok()) break;
  }
  if (status.ok()) status = Status::Locked(path + ": others take this lock again and again; try later");
  ::unlink(temp.c_str());
  return status;
}

Result<FileLock> FileLock::AcquireWithin(const std::string& path, double seconds) {
  constexpr double kMoment = 1;
  const Deadline deadline(seconds);
  const double begin = RealClock()->NowSeconds();
  bool said = false;
  for (double pause = 0.02;; pause = std::min(1.5 * pause, 1.0)) {  // each try writes to the disk
    Result<FileLock> lock = Acquire(path);
    if (lock.ok() || lock.status().kind() != StatusKind::kLocked || deadline.Passed()) return lock;
    if (Interrupted()) return Status::Interrupted(path + ": interrupted while waiting for this lock");
    if (!said && RealClock()->NowSeconds() - begin > kMoment) {
      LogInfo("waiting" + (seconds < 0 ? "" : " for up to " + FormatSeconds(seconds)) + ": " + lock.status().message());
      said = true;
    }
    RealClock()->SleepSeconds(std::min(pause, deadline.SecondsLeft()));
  }
}

Result<std::optional<LockHolder>> FileLock::Holder(const std::string& path, double stale_seconds) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return std::optional<LockHolder>();
    return ErrnoStatus(errno, path + ": cannot read the lock file");
  }
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const LockOwner owner = ParseLockText(text);
  const Life life = LifeOf(owner, ThisProcess());
  LockHolder holder{owner.host, owner.pid, owner.since, RealClock()->WallSeconds() - ModifiedSeconds(info), false};
  const bool silent = std::abs(holder.heartbeat_age) > stale_seconds;
  holder.gone = life == Life::kDead || (life != Life::kAlive && silent);
  return std::optional<LockHolder>(std::move(holder));
}

bool FileLock::StillOurs() const { return StillNames(path_, fd_); }

Status FileLock::Touch() {
  if (!StillOurs()) return Status::Locked(path_ + ": this lock was taken over or removed; stopping");
  if (::futimens(fd_.get(), nullptr) != 0) return ErrnoStatus(errno, path_ + ": cannot refresh the lock");
  return Status();
}

void FileLock::Release() {
  if (StillOurs()) ::unlink(path_.c_str());
  fd_ = Fd();
}

}  // namespace hone

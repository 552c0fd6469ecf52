// Locks between processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "base/status.h"

namespace hone {

// Who holds a job's lock, as its file says.
struct LockHolder {
  std::string host;  // empty if unknown
  int64_t pid = 0;
  std::string since;         // ISO 8601
  double heartbeat_age = 0;  // seconds, by this host's clock
  bool gone = false;         // as far as this host can tell, the holder is gone and the lock can be taken
};

// One job, one owner, also across the hosts of a shared file system. The lock file names its holder (host, boot id,
// pid, start of the process, since when), and its mtime is the holder's heartbeat.
//
// A lock is stale, and is taken over,
//   at once, if its process on this host is gone (the pid does not exist or belongs to a newer process);
//   after two missed heartbeats, if it is from another boot of this host, as two hosts may have the same name;
//   if nothing can be known of its process (another host or container): once its heartbeat is older than
//     `stale_seconds` by the file system's own clock and no new one arrives while we wait. Clocks may jump, so
//     comparing them alone never takes a lock away.
// A process that is suspended for longer loses the lock, and finds that out before it writes again.
class FileLock {
 public:
  // Returns kLocked if another process holds it, naming that holder's host and pid; if nothing is known about the
  // holder except that two heartbeats are missing, the message also says what to do. Returns kIo if the file cannot be
  // created. May wait for `watch_seconds`, two heartbeats, to see whether a silent holder is alive.
  // Rejects with kIo what is not a regular file.
  static Result<FileLock> Acquire(const std::string& path, double stale_seconds = 120, double watch_seconds = 40);

  // Tries again for `seconds` (negative: without a limit) while another process holds it, and logs who that is. The
  // last try may watch a holder that was silent for long, as Acquire does: nobody could take over its lock otherwise.
  // Returns kInterrupted once Interrupted().
  static Result<FileLock> AcquireWithin(const std::string& path, double seconds);

  // The holder, or nothing if the lock is free. Only reads; works on any host.
  static Result<std::optional<LockHolder>> Holder(const std::string& path, double stale_seconds = 120);

  FileLock(FileLock&&) noexcept = default;
  ~FileLock() { Release(); }

  // The heartbeat: call it at least every stale_seconds / 3. Returns kLocked if another process has taken the lock, for
  // example because this process was suspended for long: stop writing at once.
  Status Touch();

  // Removes the file if it is still ours.
  void Release();

  const std::string& path() const { return path_; }

 private:
  FileLock(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}
  bool StillOurs() const;
  std::string path_;
  Fd fd_;  // our lock file, kept open: its inode identifies our claim
};

// Locks a device of this machine against all users and programs of Hone: shared while compiling, exclusive while
// timing. Uses flock, so the kernel releases it whenever its owner ends. A stream of shared users does not starve those
// that wait for exclusive use. Logs the holders after four seconds of waiting, and then once a minute.
//
// All users can read the files, so all can lock them. If each holder has ended, is suspended or has a name that no
// program of Hone has, we pass over the lock after a second, with a warning. Programs of Hone then exclude each other
// by the gate, unless such a process holds the gate as well.
class MachineLock {
 public:
  // The lock file of device "cpu", "GPU-<uuid>", ..., in /run/lock, or in /tmp if that folder does not exist.
  static std::string DefaultPath(const std::string& device);

  // Opens the lock files `path` and `path`.gate, creating them for all users if needed, and takes no lock yet. Rejects
  // symbolic links, and what is not a regular file. Others that wait know a program of Hone by its name, so this puts
  // "hone-" before the name of this process, unless it begins so.
  static Result<MachineLock> Open(const std::string& path);

  MachineLock(MachineLock&&) noexcept = default;
  MachineLock& operator=(MachineLock&&) noexcept = default;
  ~MachineLock() { Unlock(); }

  // Returns kTimeout if the lock is not free in time (negative: no limit) and kInterrupted once Interrupted(). Replaces
  // the previous lock.
  Status LockShared(double timeout_seconds = -1);
  Status LockExclusive(double timeout_seconds = -1);
  void Unlock();

  // The processes that hold it or wait for it, for people: "process 1234 (hone-tune, user bob)"; empty if unknown.
  std::string Holders() const;

 private:
  MachineLock(std::string path, Fd fd, Fd gate) : path_(std::move(path)), fd_(std::move(fd)), gate_(std::move(gate)) {}
  Status Lock(int operation, double timeout_seconds);
  bool PassesOver(const Fd& fd);
  std::string path_;
  Fd fd_, gate_;
  std::string passed_over_;    // the holders of the last warning
  double waiting_since_ = -1;  // by the clock, over calls that timed out; negative: not waiting
  double next_look_ = 0, next_log_ = 0;
};

}  // namespace hone

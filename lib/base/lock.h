// Locks between processes.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "base/status.h"

namespace hone {

// One job, one owner, also across the hosts of a shared file system: a lock file that says who holds it (host, boot id,
// pid, the process's start, since when) and whose mtime is its heartbeat.
//
// A lock is stale, and taken over, if its process on this host is gone (another boot, no such pid, or a pid that was
// given to a newer process), or, where that cannot be known (another host, another container), if its heartbeat is
// older than `stale_seconds` by the file system's own clock.
class FileLock {
 public:
  // kLocked, with a message that names the holder's host and pid, if somebody else holds it; kIo if it cannot be
  // created.
  static Result<FileLock> Acquire(const std::string& path, double stale_seconds = 120);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  ~FileLock();  // Release()

  // The heartbeat: call it at least every stale_seconds / 3. kLocked if the lock was lost to somebody else meanwhile
  // (this process was suspended for long, say): stop writing at once.
  Status Touch();

  // Removes the file if it is still ours.
  void Release();

  const std::string& path() const { return path_; }

 private:
  FileLock(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  bool StillOurs() const;
  std::string path_;
  int fd_ = -1;  // our lock file, kept open: its inode is our claim
};

// Who may use a device of this machine, for all users and all programs of Hone: shared while compiling, exclusive while
// timing. Held by flock, so that the kernel releases it whenever its owner ends. Those who wait for exclusive use are
// not starved by a stream of shared users.
class MachineLock {
 public:
  // The lock of device "cpu", "cuda0", ...: a file in /run/lock, or in /tmp where there is none.
  static std::string DefaultPath(const std::string& device);

  // Opens, or creates for everyone, the lock's files `path` and `path`.gate; takes nothing yet. Refuses a symbolic
  // link.
  static Result<MachineLock> Open(const std::string& path);

  MachineLock(MachineLock&& other) noexcept;
  MachineLock& operator=(MachineLock&& other) noexcept;
  ~MachineLock();  // Unlock()

  // kTimeout if it is not ours in time (negative: no limit); kInterrupted once Interrupted(). Replaces what was held.
  Status LockShared(double timeout_seconds = -1);
  Status LockExclusive(double timeout_seconds = -1);
  void Unlock();

 private:
  MachineLock(std::string path, int fd, int gate_fd) : path_(std::move(path)), fd_(fd), gate_fd_(gate_fd) {}
  Status Lock(int operation, double timeout_seconds);
  std::string path_;
  int fd_ = -1;
  int gate_fd_ = -1;
};

}  // namespace hone

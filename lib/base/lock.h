// Locks between processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/status.h"

namespace hone {

// Who holds a job's lock, as its file says.
struct LockHolder {
  std::string host;  // empty: it does not say
  int64_t pid = 0;
  std::string since;         // ISO 8601
  double heartbeat_age = 0;  // seconds, by this host's clock
  bool gone = false;         // as far as this host can tell: the lock is there for the taking
};

// One job, one owner, also across the hosts of a shared file system: a lock file that says who holds it (host, boot id,
// pid, the process's start, since when) and whose mtime is its heartbeat.
//
// A lock is stale, and taken over,
//   if its process on this host is gone (no such pid, or one of a newer process): at once
//   if it is of another boot of this host: once two heartbeats are missing, as two hosts may have the same name
//   where nothing can be known of its process (another host, another container): if its heartbeat is older than
//     `stale_seconds` by the file system's own clock, and none comes while we wait for one. Clocks may jump: nothing is
//     taken from anybody by comparing them alone.
// A process that is suspended for longer loses the lock, and learns that before it writes again.
class FileLock {
 public:
  // kLocked, with a message that names the holder's host and pid, if somebody else holds it, and says what can be done
  // where nothing can be known of it but a silence of two heartbeats; kIo if it cannot be created. May wait for
  // `watch_seconds`, two heartbeats, to see whether the holder is alive.
  static Result<FileLock> Acquire(const std::string& path, double stale_seconds = 120, double watch_seconds = 40);

  // The holder; nothing if the lock is free. Only reads, on any host.
  static Result<std::optional<LockHolder>> Holder(const std::string& path, double stale_seconds = 120);

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

// The use of a device of this machine, by all users and all programs of Hone: shared while compiling, exclusive while
// timing. Held by flock, so that the kernel releases it whenever its owner ends. A stream of shared users does not
// starve those that wait for exclusive use.
class MachineLock {
 public:
  // The lock of device "cpu", "GPU-<uuid>", ...: a file in /run/lock, or in /tmp where there is none.
  static std::string DefaultPath(const std::string& device);

  // Opens, or creates for everyone, the lock's files `path` and `path`.gate; takes nothing yet. Refuses a symbolic
  // link.
  static Result<MachineLock> Open(const std::string& path);

  MachineLock(MachineLock&& other) noexcept;
  MachineLock& operator=(MachineLock&& other) noexcept;
  ~MachineLock();  // Unlock()

  // kTimeout if it is not ours in time (negative: no limit); kInterrupted once Interrupted(). Replaces the previous
  // lock.
  Status LockShared(double timeout_seconds = -1);
  Status LockExclusive(double timeout_seconds = -1);
  void Unlock();

  // Who holds or waits for it now, for people: "process 1234 (hone-tune)"; empty if that cannot be told.
  std::string Holders() const;

 private:
  MachineLock(std::string path, int fd, int gate_fd) : path_(std::move(path)), fd_(fd), gate_fd_(gate_fd) {}
  Status Lock(int operation, double timeout_seconds);
  std::string path_;
  int fd_ = -1;
  int gate_fd_ = -1;
};

}  // namespace hone

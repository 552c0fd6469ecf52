// Shared parts of the lock files of base/lock.h. A job's lock file says who holds it, and this code decides whether
// that process can still exist.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"

namespace hone {

// Written as one "name value" line each. Readers skip lines that they do not know.
struct LockOwner {
  std::string host;
  std::string boot;
  std::string pid_namespace;  // a pid of another container cannot be checked
  int64_t pid = 0;
  std::string start;  // the process's start, in clock ticks since boot: distinguishes a reused pid
  std::string since;
};

LockOwner ThisProcess();
std::string LockText(const LockOwner& owner);
LockOwner ParseLockText(std::string_view text);

enum class Life {
  kAlive,
  kDead,      // does not exist on this host, has ended, or its pid was reused
  kRebooted,  // from another boot of a host with this name: gone, unless two hosts share the name
  kUnknown,   // on another host or in another container
};

Life LifeOf(const LockOwner& owner, const LockOwner& me);

// Whether `path` still names the file that is open as `fd`.
bool StillNames(const std::string& path, const Fd& fd);

// Waits for flock(2) of the file `path`, open as `fd`. Returns false once `give_up` says so while others hold it;
// kTimeout at the deadline; kInterrupted once Interrupted(); kIo where the file system has no such locks.
Result<bool> Flock(const std::string& path, const Fd& fd, int operation, const Deadline& deadline,
                   const std::function<bool()>& give_up);

}  // namespace hone

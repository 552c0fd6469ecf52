// The parts that the lock files of base/lock.h share. A job's file says: who holds it, and whether that process can
// still be there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hone {

// One "name value" line each. Lines a reader does not know are skipped.
struct LockOwner {
  std::string host;
  std::string boot;
  std::string pid_namespace;  // pids of another container cannot be asked about
  int64_t pid = 0;
  std::string start;  // of the process, in clock ticks since boot: tells it from a later process with the same pid
  std::string since;
};

LockOwner ThisProcess();
std::string LockText(const LockOwner& owner);
LockOwner ParseLockText(std::string_view text);

enum class Life {
  kAlive,
  kDead,      // no such process on this host, or it has ended, or its pid was given to another one
  kRebooted,  // a process of this host's name from another boot: gone, unless there are two hosts of that name
  kUnknown,   // of another host or container
};

Life LifeOf(const LockOwner& owner, const LockOwner& me);

// `path` stands for the file that is open as `fd`, and not for another one by now.
bool StillNames(const std::string& path, int fd);

}  // namespace hone

// Whether this kernel has the layers that tests need. Asks the kernel directly: a fault in Hone's code must not skip a
// test.
#pragma once

#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "common/expect.h"

namespace hone {

inline bool HasSeccomp() { return Must(ReadFile("/proc/self/status")).find("\nSeccomp:") != std::string::npos; }
// 0 without Landlock. The 1 asks for the version alone.
inline int KernelLandlock() {
  return std::max(0, static_cast<int>(::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1)));
}
inline bool HasLandlock() { return KernelLandlock() > 0; }
inline bool HasNamespaces() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC) != 0);
  int status = -1;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

// Whether it counts how long threads wait for a processor (base/load_meter.h).
inline bool HasSchedstat() { return Exists("/proc/self/task/" + std::to_string(::getpid()) + "/schedstat"); }

// Reasons of skipped tests.
inline constexpr const char* kNoSeccomp = "this kernel has no seccomp filters: /proc/self/status has no `Seccomp`";
inline constexpr const char* kNoLandlock = "this kernel has no Landlock";
inline constexpr const char* kNoSchedstat = "this kernel has no /proc/self/task/*/schedstat";
inline constexpr const char* kNoNamespaces = "this kernel gives this user no namespaces";

}  // namespace hone

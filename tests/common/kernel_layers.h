// The layers of a sandbox that this kernel has, asked without Hone's sandbox, so that a test is not skipped because
// that does not work.
#pragma once

#include <linux/landlock.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "common/expect.h"

namespace hone {

inline bool HasSeccomp() { return Must(ReadFile("/proc/self/status")).find("\nSeccomp:") != std::string::npos; }
inline int LandlockOfKernel() {
  return static_cast<int>(::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION));
}
inline bool HasLandlock() { return LandlockOfKernel() > 0; }
inline bool HasNamespaces() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC) != 0);
  int status = -1;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

// Reasons of skipped tests.
inline constexpr const char* kNoSeccomp = "this kernel has no seccomp filters: /proc/self/status has no `Seccomp`";
inline constexpr const char* kNoLandlock = "this kernel has no Landlock";
inline constexpr const char* kNoNamespaces = "this kernel gives this user no namespaces";

}  // namespace hone

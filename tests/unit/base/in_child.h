// Work of a process of its own, for tests of what processes share.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include "common/expect.h"

namespace hone {

// How a child process ended, as waitpid says it: `work` gives its exit code.
inline int InChild(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

inline bool ExitedWith(int status, int code) { return WIFEXITED(status) && WEXITSTATUS(status) == code; }

}  // namespace hone

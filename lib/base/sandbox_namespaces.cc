// With a device, the calling process itself enters the namespaces, without a PID namespace: CUDA's driver names its
// threads through /proc/self/task/TID, and fails if /proc has them under other numbers.
//
// Otherwise a process becomes part of a new PID namespace only by being forked into it, and its first process, which is
// its init, ignores the signals that it raises itself, such as that of abort(). So there are three:
//
//   outer    the process that the parent knows. Waits, and ends as the candidate's process ends
//   init     the first process of the namespace. Starts the next one and passes its end on through a pipe. When it
//            ends, the kernel kills everything in the namespace
//   inner    the one that goes on, and runs candidates
//
// The kernel kills init when outer ends, so nothing survives a SIGKILL of outer.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/sandbox_layers.h"

namespace hone::sandbox {
namespace {

int WaitFor(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// The handlers and signal mask are those of the inner process: restore the default before raising.
[[noreturn]] void EndAs(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    signal(number, SIG_DFL);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, number);
    sigprocmask(SIG_UNBLOCK, &only, nullptr);
    kill(getpid(), number);
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

[[noreturn]] void RunOuter(pid_t init, int from_init) {
  int status = 0;
  ssize_t got;
  do got = read(from_init, &status, sizeof status);
  while (got < 0 && errno == EINTR);
  const int of_init = WaitFor(init);
  EndAs(got == sizeof status ? status : of_init);
}

// Returns in the inner process.
void RunInit(int to_outer) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  pollfd outer = {to_outer, 0, 0};
  if (poll(&outer, 1, 0) == 1) _exit(1);  // outer ended before the prctl: nobody reads the pipe
  const pid_t inner = fork();
  if (inner == 0) {
    close(to_outer);
    return;
  }
  const int status = inner < 0 ? EX_TEMPFAIL << 8 : WaitFor(inner);
  (void)!write(to_outer, &status, sizeof status);
  _exit(0);
}

}  // namespace

bool EnterNamespaces(bool device) {
  // No user of the new namespace is mapped to one outside: files still belong to the user who started us, but no right
  // of root is left. CUDA's multi-process service shares memory by IPC.
  constexpr int kAlways = CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWUTS;
  if (device) return unshare(kAlways) == 0;
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return false;
  if (unshare(kAlways | CLONE_NEWPID | CLONE_NEWIPC) != 0) {
    for (const int end : pipe_ends) close(end);
    return false;
  }
  const pid_t init = fork();
  if (init < 0) _exit(EX_TEMPFAIL);  // no way back: this process can start no thread any more
  if (init == 0) {
    close(pipe_ends[0]);
    RunInit(pipe_ends[1]);
    return true;
  }
  close(pipe_ends[1]);
  RunOuter(init, pipe_ends[0]);
}

}  // namespace hone::sandbox

#include "base/interrupt.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"

namespace hone {
namespace {

std::atomic<int> first_signal{0};
std::atomic<int> event_fd{-1};
static_assert(std::atomic<int>::is_always_lock_free);  // hence usable in a signal handler

void OnSignal(int signal) {
  int saved = errno;
  int none = 0;
  first_signal.compare_exchange_strong(none, signal);
  uint64_t one = 1;
  int fd = event_fd.load();
  if (fd >= 0) (void)!::write(fd, &one, sizeof one);
  errno = saved;
}

// Whether nobody reads what this process writes. Ninja reads output and errors by one pipe.
bool NobodyListens() {
  pollfd outputs[] = {{STDOUT_FILENO, 0, 0}, {STDERR_FILENO, 0, 0}};
  (void)::poll(outputs, 2, 0);
  return (outputs[0].revents & POLLERR) != 0 && (outputs[1].revents & POLLERR) != 0;
}

}  // namespace

void BeginTool() {
  ::signal(SIGXFSZ, SIG_IGN);
  const pid_t parent = ::getppid();
  const Result<std::string> name = ReadFile("/proc/" + std::to_string(parent) + "/comm");
  const bool by_ninja = name.ok() && StartsWith(*name, "ninja");
  if (by_ninja) ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  // Ninja may have ended before the call, or even before this process could see who its parent is.
  if (by_ninja ? ::getppid() != parent : NobodyListens()) ::raise(SIGTERM);
}

int ExitCodeOf(const Status& status) {
  if (status.ok()) return kDone;
  LogError(status.message());
  if (status.kind() == StatusKind::kInterrupted) return kInterrupted;
  const bool misused = status.kind() == StatusKind::kInvalid || status.kind() == StatusKind::kUnsupported;
  return misused ? kMisused : kFailed;
}

int ExitCodeOf(const Result<int>& code) { return code.ok() ? *code : ExitCodeOf(code.status()); }

void InstallInterruptHandlers() {
  if (event_fd.load() < 0) event_fd.store(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = 0;  // no SA_RESTART: blocking calls return EINTR, and their loops then check the flag
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGXCPU}) {
    // nohup ignores SIGHUP on purpose: keep that.
    struct sigaction old = {};
    if (signal == SIGHUP && ::sigaction(signal, nullptr, &old) == 0 && old.sa_handler == SIG_IGN) continue;
    ::sigaction(signal, &action, nullptr);
  }
  ::signal(SIGPIPE, SIG_IGN);
}

bool Interrupted() { return first_signal.load(std::memory_order_relaxed) != 0; }

int InterruptSignal() { return first_signal.load(); }

int InterruptFd() { return event_fd.load(); }

void RequestInterrupt() { OnSignal(SIGUSR1); }

void ClearInterruptForTest() {
  first_signal.store(0);
  uint64_t count;
  int fd = event_fd.load();
  if (fd >= 0) (void)!::read(fd, &count, sizeof count);
}

}  // namespace hone

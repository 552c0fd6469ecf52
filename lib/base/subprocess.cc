#include "base/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/os_error.h"
#include "base/text.h"

extern char** environ;

namespace hone {
namespace {

constexpr int kFirstFreeFd = 64;  // descriptors for the child are moved above this before they are put in place

std::string FindInPath(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* path = ::getenv("PATH");
  for (const std::string& folder : Split(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin", ':')) {
    std::string candidate = JoinPath(folder.empty() ? "." : folder, program);
    if (::access(candidate.c_str(), X_OK) == 0 && !IsDirectory(candidate)) return candidate;
  }
  return "";
}

std::vector<std::string> MergedEnvironment(const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view text = *entry;
    std::string_view name = text.substr(0, text.find('='));
    bool replaced = std::any_of(added.begin(), added.end(), [&](const auto& a) { return a.first == name; });
    if (!replaced) merged.emplace_back(text);
  }
  for (const auto& [name, value] : added) merged.push_back(name + "=" + value);
  return merged;
}

std::vector<char*> Pointers(std::vector<std::string>* texts) {
  std::vector<char*> pointers;
  for (std::string& text : *texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Everything that the child needs, prepared before the fork: between fork and exec it must not allocate, since another
// thread may have held malloc's lock at the moment of the fork.
struct ChildPlan {
  const char* program;
  char* const* argv;
  char* const* envp;
  const char* cwd;                       // null: unchanged
  std::vector<std::pair<int, int>> fds;  // {our fd, the child's fd}
  std::vector<int> moved;                // one entry for each fd
  const SpawnOptions* options;
  pid_t parent;
  int error_fd;
};

void SetLimit(int resource, std::optional<uint64_t> value) {
  if (!value) return;
  struct rlimit limit = {*value, *value};
  ::setrlimit(resource, &limit);
}

// Async-signal-safe calls only. Writes the errno of a failed call to error_fd.
[[noreturn]] void RunChild(ChildPlan* plan) {
  const SpawnOptions& options = *plan->options;
  auto fail = [&] {
    int error = errno;
    (void)!::write(plan->error_fd, &error, sizeof error);
    ::_exit(127);
  };
  // Our handlers must never run in the child: they would write to the parent's event descriptor.
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  if (options.own_session) ::setsid();
  if (options.die_with_parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != plan->parent) ::_exit(127);  // the parent died before the prctl
  }
  SetLimit(RLIMIT_AS, options.max_memory_bytes);
  SetLimit(RLIMIT_CPU, options.max_cpu_seconds);
  if (!options.core_dumps) SetLimit(RLIMIT_CORE, 0);
  if (plan->cwd != nullptr && ::chdir(plan->cwd) != 0) fail();
  for (size_t i = 0; i < plan->fds.size(); ++i) {
    plan->moved[i] = ::fcntl(plan->fds[i].first, F_DUPFD_CLOEXEC, kFirstFreeFd);
    if (plan->moved[i] < 0) fail();
  }
  // Descriptors that other code opened without O_CLOEXEC must not leak into a long-lived worker.
  ::syscall(SYS_close_range, 3u, ~0u, 4u /* CLOSE_RANGE_CLOEXEC */);
  for (size_t i = 0; i < plan->fds.size(); ++i) {
    if (::dup2(plan->moved[i], plan->fds[i].second) < 0) fail();
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(plan->program, plan->argv, plan->envp);
  fail();
  ::_exit(127);
}

ExitStatus FromWait(int raw) {
  return WIFSIGNALED(raw) ? ExitStatus{.signal = WTERMSIG(raw)} : ExitStatus{.code = WEXITSTATUS(raw)};
}

}  // namespace

std::string ExitStatus::ToString() const {
  if (signal == 0) return "exited " + std::to_string(code);
  const char* name = ::sigabbrev_np(signal);
  return "killed by " + (name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal));
}

Result<Subprocess> Subprocess::Spawn(const SpawnOptions& options) {
  if (options.argv.empty()) return Status::Invalid("cannot run a program without a name");
  std::string program = FindInPath(options.argv[0]);
  if (program.empty()) return Status::NotFound(options.argv[0] + ": no such program in PATH");

  std::vector<std::string> args = options.argv;
  std::vector<std::string> env = MergedEnvironment(options.env);
  std::vector<char*> argv = Pointers(&args);
  std::vector<char*> envp = Pointers(&env);
  ChildPlan plan{program.c_str(), argv.data(), envp.data(), options.cwd.empty() ? nullptr : options.cwd.c_str(), {}, {},
                 &options,        ::getpid(),  -1};
  if (options.stdin_fd >= 0) plan.fds.emplace_back(options.stdin_fd, 0);
  if (options.stdout_fd >= 0) plan.fds.emplace_back(options.stdout_fd, 1);
  if (options.stderr_fd >= 0) plan.fds.emplace_back(options.stderr_fd, 2);
  for (const auto& [ours, theirs] : options.extra_fds) {
    if (theirs < 3 || theirs >= kFirstFreeFd) return Status::Invalid("a child's extra descriptor must be 3 to 63");
    plan.fds.emplace_back(ours, theirs);
  }
  plan.moved.resize(plan.fds.size());

  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus(errno, program + ": cannot start");
  const Fd errors(ends[0]);
  // dup2 in the child must not hit the pipe's write end.
  Fd error_fd(::fcntl(ends[1], F_DUPFD_CLOEXEC, kFirstFreeFd));
  ::close(ends[1]);
  plan.error_fd = error_fd.get();

  sigset_t all, old;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &old);
  pid_t pid = error_fd.open() ? ::fork() : -1;
  int fork_error = errno;
  if (pid == 0) RunChild(&plan);
  ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
  error_fd = Fd();
  if (pid < 0) return ErrnoStatus(fork_error, program + ": cannot start");

  int child_error = 0;
  ssize_t n;
  do {
    n = ::read(errors.get(), &child_error, sizeof child_error);
  } while (n < 0 && errno == EINTR);
  if (n == static_cast<ssize_t>(sizeof child_error)) {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return ErrnoStatus(child_error, program + ": cannot start");
  }

  Subprocess child;
  child.pid_ = pid;
  child.own_session_ = options.own_session;
  child.ends_group_ = options.ends_group;
  child.pidfd_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  return child;
}

Status ReplaceProcess(const std::vector<std::string>& argv, const std::string& cwd) {
  if (argv.empty()) return Status::Invalid("cannot run a program without a name");
  if (!cwd.empty() && ::chdir(cwd.c_str()) != 0) return ErrnoStatus(errno, cwd);
  const std::string program = FindInPath(argv[0]);
  if (program.empty()) return Status::NotFound(argv[0] + ": no such program in PATH");
  std::vector<std::string> args = argv;
  ::execve(program.c_str(), Pointers(&args).data(), environ);
  return ErrnoStatus(errno, program + ": cannot start");
}

Subprocess::Subprocess(Subprocess&& other) noexcept { *this = std::move(other); }

Subprocess& Subprocess::operator=(Subprocess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(pidfd_, other.pidfd_);
  std::swap(own_session_, other.own_session_);
  std::swap(ends_group_, other.ends_group_);
  std::swap(status_, other.status_);
  return *this;
}

Subprocess::~Subprocess() { KillAndWait(); }

Result<ExitStatus> Subprocess::Wait(double timeout_seconds) {
  if (pid_ < 0) return Status::Invalid("there is no child to wait for");
  Deadline deadline(timeout_seconds);
  double pause = 0.0005;
  while (!status_) {
    // Until it is reaped, its pid is the group's and nobody else's.
    siginfo_t ended = {};
    if (ends_group_ && ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        ended.si_pid == pid_) {
      ::kill(-pid_, SIGKILL);
    }
    int raw = 0;
    pid_t got = ::waitpid(pid_, &raw, WNOHANG);
    if (got == pid_) {
      status_ = FromWait(raw);
      break;
    }
    if (got < 0 && errno != EINTR) return ErrnoStatus(errno, "cannot wait for process " + std::to_string(pid_));
    if (deadline.Passed()) return Status::Timeout("process " + std::to_string(pid_) + " is still running");
    if (pidfd_.open()) {
      pollfd entry = {pidfd_.get(), POLLIN, 0};
      (void)::poll(&entry, 1, deadline.PollMillis());
    } else {
      RealClock()->SleepSeconds(std::min(pause, deadline.SecondsLeft()));
      pause = std::min(pause * 2, 0.02);
    }
  }
  return *status_;
}

bool Subprocess::Running() { return pid_ >= 0 && !status_ && !Wait(0).ok(); }

void Subprocess::Kill(int signal) {
  if (!Running()) return;
  // Spawn returned after the exec, so the group exists unless the child moved itself elsewhere.
  if (!own_session_ || ::kill(-pid_, signal) != 0) ::kill(pid_, signal);
}

bool Subprocess::KillAndWait(double seconds) {
  if (!Running()) return true;
  Kill(SIGKILL);
  if (Wait(seconds).status().kind() != StatusKind::kTimeout) return true;
  LogWarning("process {} did not end within {} of SIGKILL and is left behind; a driver may hang", pid_,
             FormatSeconds(seconds));
  pid_ = -1;
  return false;
}

Result<CommandResult> RunCommand(const std::vector<std::string>& argv, const CommandOptions& options) {
  // Unlike pipes they need no draining, so they cannot deadlock, and a grandchild that keeps one open blocks nobody.
  const Fd in = MemoryFile(), out = MemoryFile(), err = MemoryFile();
  const bool made = in.open() && out.open() && err.open();
  if (!made || !WriteAll(in, options.input) || ::lseek(in.get(), 0, SEEK_SET) != 0) {
    return ErrnoStatus(errno, "cannot make a file in memory");
  }
  SpawnOptions spawn{.argv = argv,
                     .env = options.env,
                     .cwd = options.cwd,
                     .stdin_fd = in.get(),
                     .stdout_fd = out.get(),
                     .stderr_fd = err.get()};
  HONE_ASSIGN_OR_RETURN(Subprocess child, Subprocess::Spawn(spawn));
  Result<ExitStatus> status = child.Wait(options.timeout_seconds);
  if (!status.ok()) {
    child.KillAndWait();
    return Status(status.status().kind(), argv[0] + ": did not end within " + FormatSeconds(options.timeout_seconds) +
                                              "; its stderr ended with: " + std::string(Trim(ReadFrom(err, 0))));
  }
  return CommandResult{*status, ReadFrom(out, 0), ReadFrom(err, 0)};
}

}  // namespace hone

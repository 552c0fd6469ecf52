#include "failing_call.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "base/clock.h"
#include "base/file.h"
#include "base/os_error.h"
#include "base/seccomp.h"
#include "base/text.h"

namespace hone {

std::string PathOf(pid_t pid, int fd) {
  char path[4096];
  const ssize_t size = readlink(fmt::format("/proc/{}/fd/{}", pid, fd).c_str(), path, sizeof path);
  return size > 0 ? std::string(path, static_cast<size_t>(size)) : "";
}

std::string BytesIn(pid_t pid, uint64_t address, size_t size) {
  std::string bytes(size, 0);
  const iovec here{bytes.data(), size}, there{reinterpret_cast<void*>(address), size};  // NOLINT
  const ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
  bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return bytes;
}

std::string TextIn(pid_t pid, uint64_t address) {
  constexpr uint64_t kPage = 4096;
  std::string text;
  while (text.find('\0') == std::string::npos && text.size() < kPage) {  // a page at a time: the next may not be there
    const uint64_t at = address + text.size();
    const std::string more = BytesIn(pid, at, kPage - at % kPage);
    if (more.empty()) break;
    text += more;
  }
  return text.substr(0, text.find('\0'));
}

static std::string CommOf(pid_t pid) {
  const auto text = ReadFile(fmt::format("/proc/{}/comm", pid));
  return text.ok() ? std::string(Trim(*text)) : "?";
}

std::string DescribeCall(const SeenCall& call) {
  const pid_t pid = call.pid;
  std::string path;
  const bool at = call.number == SYS_openat || call.number == SYS_unlinkat || call.number == SYS_mkdirat ||
                  call.number == SYS_renameat;
  if (at || call.number == SYS_open || call.number == SYS_rename || call.number == SYS_link ||
      call.number == SYS_unlink || call.number == SYS_mkdir) {
    path = TextIn(pid, call.args[at ? 1 : 0]);
  } else if (call.number == SYS_write || call.number == SYS_pwrite64 || call.number == SYS_fsync ||
             call.number == SYS_fdatasync || call.number == SYS_ftruncate) {
    path = PathOf(pid, static_cast<int>(call.args[0]));
  } else if (const int fd = static_cast<int>(call.args[4]); call.number == SYS_mmap && fd >= 0) {
    path = PathOf(pid, fd);
  }
  return fmt::format("{}({}) in {}", CallName(call.number), path, CommOf(pid));
}

namespace {

struct KindRow {
  const char* name;
  int error;
  std::vector<int> calls;
};

// In the order of CallKind. clone is a thread or a process, by its flags. clone3 has them in memory: it is said to be
// missing, and libc then uses clone.
const KindRow kRows[kCallKinds] = {
    {"mmap", ENOMEM, {SYS_mmap, SYS_mremap}},
    {"write",
     ENOSPC,
     {SYS_write, SYS_pwrite64, SYS_writev, SYS_pwritev, SYS_pwritev2, SYS_sendfile, SYS_copy_file_range}},
    {"fsync", EIO, {SYS_fsync, SYS_fdatasync, SYS_msync, SYS_sync_file_range}},
    {"rename", EIO, {SYS_rename, SYS_renameat, SYS_renameat2}},
    {"fork", EAGAIN, {SYS_fork, SYS_vfork, SYS_clone}},
    {"thread", EAGAIN, {SYS_clone}},
    {"ftruncate", EIO, {SYS_ftruncate, SYS_truncate, SYS_fallocate}},
    {"open", EMFILE, {SYS_open, SYS_openat, SYS_openat2, SYS_creat, SYS_memfd_create}},
    {"pipe", EMFILE, {SYS_pipe, SYS_pipe2, SYS_socketpair}},
    {"link", EIO, {SYS_link, SYS_linkat, SYS_unlink, SYS_unlinkat, SYS_mkdir, SYS_mkdirat, SYS_rmdir}},
};

sock_filter Load(size_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)); }
sock_filter Return(uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }
sock_filter UnlessEqual(uint32_t value, uint8_t skip) { return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip); }

// Notifies of these calls; allows all others.
std::vector<sock_filter> Filter(const std::vector<int>& calls) {
  std::vector<sock_filter> code = {Load(offsetof(seccomp_data, arch)), UnlessEqual(AUDIT_ARCH_X86_64, 0)};
  code[1].jt = 1;
  code.push_back(Return(SECCOMP_RET_ALLOW));  // another architecture's numbers
  code.push_back(Load(offsetof(seccomp_data, nr)));
  const auto answer = [&](int call, uint32_t action) {
    code.push_back(UnlessEqual(static_cast<uint32_t>(call), 1));
    code.push_back(Return(action));
  };
  answer(SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
  for (const int call : calls) answer(call, SECCOMP_RET_USER_NOTIF);
  code.push_back(Return(SECCOMP_RET_ALLOW));
  return code;
}

int Enter(const std::vector<sock_filter>& code) {
  const sock_fprog program{static_cast<unsigned short>(code.size()), const_cast<sock_filter*>(code.data())};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return static_cast<int>(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                  SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program));
}

// What the child and its watcher tell each other, in memory that they share.
struct Meeting {
  std::atomic<int> listener{-2};  // the child's descriptor; -1: it failed
  std::atomic<int> error{0};      // with this errno
  std::atomic<bool> taken{false};
};

[[noreturn]] void Become(const WatchOptions& options, const std::vector<sock_filter>& code, int out, Meeting* meeting) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // else it waits for ever for a test that was killed
  setsid();
  if (!options.cwd.empty() && chdir(options.cwd.c_str()) != 0) {
    meeting->error = errno;
    meeting->listener = -1;
    _exit(126);
  }
  const int null_fd = open("/dev/null", O_RDONLY);
  dup2(null_fd, 0);
  dup2(out, 1);
  dup2(out, 2);
  for (const auto& [name, value] : options.env) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& word : options.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  if (!code.empty()) {
    const int listener = Enter(code);
    meeting->error = errno;
    meeting->listener = listener;
    while (!meeting->taken) sched_yield();
  }
  execvp(argv[0], argv.data());
  _exit(127);
}

// The file whose code is at an address.
std::string FileAt(pid_t pid, uint64_t address) {
  const auto maps = ReadFile(fmt::format("/proc/{}/maps", pid));
  if (!maps.ok()) return "";
  for (const std::string& line : Split(*maps, '\n')) {
    uint64_t begin = 0, end = 0;
    const bool is_range = std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) == 2;
    if (is_range && begin <= address && address < end) return line;
  }
  return "";
}

class Watcher {
 public:
  Watcher(const WatchOptions& options, FailingCall failing) : options_(options), failing_(failing) {}

  Result<WatchedRun> Run() {
    const int out = static_cast<int>(syscall(SYS_memfd_create, "out", MFD_CLOEXEC));
    void* shared = mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto* meeting = new (shared) Meeting;
    const std::vector<sock_filter> code = Filter(Calls());
    const pid_t child = fork();
    if (child == 0) Become(options_, code, out, meeting);
    if (child < 0) return ErrnoStatus(errno, "fork");
    const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
    while (meeting->listener == -2) sched_yield();
    const bool entered = meeting->listener >= 0;
    if (entered) listener_ = static_cast<int>(syscall(SYS_pidfd_getfd, pidfd, meeting->listener.load(), 0));
    const int error = entered ? errno : meeting->error.load();
    meeting->taken = true;
    if (listener_ < 0) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
      const bool refused = error == EINVAL || error == ENOSYS || error == EPERM || error == EBUSY;
      return refused ? Status::Unsupported("the kernel gives no notifications of system calls: " + ErrnoText(error))
                     : ErrnoStatus(error, "cannot watch the system calls of " + options_.argv[0]);
    }
    Serve(child);
    close(listener_);
    close(pidfd);
    munmap(shared, sizeof(Meeting));
    run_.out.resize(static_cast<size_t>(lseek(out, 0, SEEK_END)));
    (void)!pread(out, run_.out.data(), run_.out.size(), 0);
    close(out);
    return std::move(run_);
  }

 private:
  std::vector<int> Calls() const {
    std::vector<int> calls;
    for (int kind = 0; kind < kCallKinds; ++kind) {
      if (failing_.n > 0 && !options_.see && kind != static_cast<int>(failing_.kind)) continue;
      for (const int call : kRows[kind].calls) {
        if (std::find(calls.begin(), calls.end(), call) == calls.end()) calls.push_back(call);
      }
    }
    return calls;
  }

  // Answers until no process with the filter is left.
  void Serve(pid_t child) {
    const double end = RealClock()->NowSeconds() + options_.limit_seconds;
    bool reaped = false;
    while (true) {
      pollfd ready{listener_, POLLIN, 0};
      poll(&ready, 1, 50);
      if (ready.revents & POLLIN) {
        Answer();
      } else if (ready.revents & POLLHUP) {
        break;
      } else if (RealClock()->NowSeconds() > end && !run_.hung) {
        run_.hung = true;
        KillAll(child);
      }
      // Zombies keep the filter.
      int status;
      if (!reaped && !(ready.revents & POLLIN) && waitpid(child, &status, WNOHANG) == child) {
        reaped = true;
        Take(status);
      }
    }
    int status;
    if (!reaped && waitpid(child, &status, 0) == child) Take(status);
  }

  void Take(int status) {
    if (WIFSIGNALED(status)) {
      run_.status.signal = WTERMSIG(status);
    } else {
      run_.status.code = WEXITSTATUS(status);
    }
  }

  // Its processes may have left its group: those that wait for an answer are known by their calls.
  void KillAll(pid_t child) {
    for (const pid_t pid : seen_) kill(pid, SIGKILL);
    kill(-child, SIGKILL);
  }

  void Answer() {
    seccomp_notif asked{};
    if (ioctl(listener_, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) return;  // it was killed meanwhile
    seccomp_notif_resp answer{.id = asked.id, .val = 0, .error = 0, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    const auto pid = static_cast<pid_t>(asked.pid);
    if (seen_.empty() || seen_.back() != pid) seen_.push_back(pid);
    for (int kind = 0; kind < kCallKinds; ++kind) {
      if (!IsKind(static_cast<CallKind>(kind), asked.data)) continue;
      const int n = ++run_.counts[static_cast<size_t>(kind)];
      if (options_.describe) run_.calls[static_cast<size_t>(kind)].push_back(DescribeCall(CallOf(asked)));
      if (n == failing_.n && kind == static_cast<int>(failing_.kind)) {
        answer.error = -kRows[kind].error;
        answer.flags = 0;
        run_.failed = DescribeCall(CallOf(asked));
        run_.by_loader = FileAt(pid, asked.data.instruction_pointer).find("/ld-linux") != std::string::npos;
      }
    }
    if (options_.see) options_.see(CallOf(asked));
    ioctl(listener_, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }

  static SeenCall CallOf(const seccomp_notif& asked) {
    SeenCall call{static_cast<pid_t>(asked.pid), asked.data.nr, {}};
    std::copy(std::begin(asked.data.args), std::end(asked.data.args), call.args.begin());
    return call;
  }

  static bool IsKind(CallKind kind, const seccomp_data& data) {
    const std::vector<int>& calls = kRows[static_cast<int>(kind)].calls;
    if (std::find(calls.begin(), calls.end(), data.nr) == calls.end()) return false;
    if (data.nr != SYS_clone) return true;
    return ((data.args[0] & CLONE_THREAD) != 0) == (kind == CallKind::kThread);
  }

  const WatchOptions& options_;
  const FailingCall failing_;
  int listener_ = -1;
  std::vector<pid_t> seen_;
  WatchedRun run_;
};

}  // namespace

const char* CallKindName(CallKind kind) { return kRows[static_cast<int>(kind)].name; }
int CallError(CallKind kind) { return kRows[static_cast<int>(kind)].error; }

std::string WhyNoWatching() {
  const WatchOptions options{.argv = {"true"}};
  const auto run = Watcher(options, {}).Run();
  return run.status().kind() == StatusKind::kUnsupported ? run.status().message() : "";
}

Result<WatchedRun> RunWatched(const WatchOptions& options, FailingCall failing) {
  return Watcher(options, failing).Run();
}

}  // namespace hone

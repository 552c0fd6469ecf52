#include "base/sandbox.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <vector>

#include "base/file.h"
#include "base/os_error.h"
#include "base/text.h"

namespace hone {
namespace {

constexpr uint64_t kMostFileBytes = uint64_t{1} << 20;

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t kArchitecture = 0;
#endif

// A rule set that allows nothing: everything it handles is forbidden below every path.
bool ForbidWriting() {
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return false;
  landlock_ruleset_attr attributes = {};
  attributes.handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                 LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                 LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                 LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                 LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
  // Versions 2 and 3 brought renaming across folders and truncate(2); older headers do not name the latter.
  if (version >= 2) attributes.handled_access_fs |= uint64_t{1} << 13;
  if (version >= 3) attributes.handled_access_fs |= uint64_t{1} << 14;
  const long rules = syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
  if (rules < 0) return false;
  const bool done = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
  close(static_cast<int>(rules));
  return done;
}

class Filter {
 public:
  Filter() {
    // Numbers mean something else on another architecture (32-bit calls of a 64-bit machine): those get nothing.
    Load(offsetof(seccomp_data, arch));
    Add(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0);
    Return(SECCOMP_RET_ERRNO | EPERM);
    Load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
    Add(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);  // the x32 numbers
    Return(SECCOMP_RET_ERRNO | EPERM);
#endif
  }

  void Forbid(long call, int error) {
    Add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 1);
    Return(SECCOMP_RET_ERRNO | static_cast<uint32_t>(error));
  }

  // Only to ourselves; abort() and the like are such.
  void ForbidUnlessFirstArgument(long call, uint32_t value) {
    Add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 4);
    Load(offsetof(seccomp_data, args[0]));
    Add(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
    Return(SECCOMP_RET_ERRNO | EPERM);
    Load(offsetof(seccomp_data, nr));
  }

  void ForbidUnlessThread(long call) {
    Add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 4);
    Load(offsetof(seccomp_data, args[0]));
    Add(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0);
    Return(SECCOMP_RET_ERRNO | EPERM);
    Load(offsetof(seccomp_data, nr));
  }

  bool Install() {
    Return(SECCOMP_RET_ALLOW);
    sock_fprog program = {static_cast<unsigned short>(code_.size()), code_.data()};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  }

 private:
  void Add(uint16_t code, uint32_t k, uint8_t if_true, uint8_t if_false) {
    code_.push_back({code, if_true, if_false, k});
  }
  void Load(size_t offset) { Add(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset), 0, 0); }
  void Return(uint32_t action) { Add(BPF_RET | BPF_K, action, 0, 0); }

  std::vector<sock_filter> code_;
};

bool ForbidNetwork() {
  Filter filter;
  for (const long call : {SYS_socket, SYS_socketpair}) filter.Forbid(call, EACCES);
  return filter.Install();
}

bool ForbidProcesses() {
  Filter filter;
#ifdef SYS_fork
  for (const long call : {SYS_fork, SYS_vfork}) filter.Forbid(call, EPERM);
#endif
  for (const long call :
       {SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_writev, SYS_pidfd_send_signal, SYS_tkill}) {
    filter.Forbid(call, EPERM);
  }
  // Its flags stand in memory, where a filter does not reach; libc then takes clone.
  filter.Forbid(SYS_clone3, ENOSYS);
  filter.ForbidUnlessThread(SYS_clone);
  const uint32_t self = static_cast<uint32_t>(getpid());
  for (const long call : {SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo}) {
    filter.ForbidUnlessFirstArgument(call, self);
  }
  return filter.Install();
}

// Lowers, never raises.
bool Limit(__rlimit_resource resource, uint64_t value) {
  rlimit limit = {};
  if (getrlimit(resource, &limit) != 0) return false;
  if (limit.rlim_max <= value && limit.rlim_cur <= value) return true;
  limit.rlim_max = std::min<rlim_t>(limit.rlim_max, value);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, limit.rlim_max);
  return setrlimit(resource, &limit) == 0;
}

// True if `attempt` is refused in a child that has entered the sandbox.
Result<bool> Refused(const std::function<bool()>& attempt) {
  const pid_t child = fork();
  if (child < 0) return ErrnoStatus(errno, "fork");
  if (child == 0) {
    EnterSandbox({});
    _exit(attempt() ? 1 : 0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return ErrnoStatus(errno, "waitpid");
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::string Sandbox::Text() const {
  std::vector<std::string> parts;
  if (files) parts.push_back("files");
  if (network) parts.push_back("network");
  if (processes) parts.push_back("processes");
  if (limits) parts.push_back("limits");
  return parts.empty() ? "none" : Join(parts, ", ");
}

Sandbox EnterSandbox(const SandboxOptions& options) {
  Sandbox sandbox;
  sandbox.limits =
      Limit(RLIMIT_CORE, 0) && Limit(RLIMIT_FSIZE, kMostFileBytes) && Limit(RLIMIT_NOFILE, options.max_open_files);
  if (options.max_memory_bytes > 0) sandbox.limits = Limit(RLIMIT_AS, options.max_memory_bytes) && sandbox.limits;
  // Without it only root may give up more than this; with it a program that is started gains nothing.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return sandbox;
  if (options.files) sandbox.files = ForbidWriting();
  if (kArchitecture == 0) return sandbox;
  if (options.network) sandbox.network = ForbidNetwork();
  if (options.processes) sandbox.processes = ForbidProcesses();
  return sandbox;
}

Result<Sandbox> TrySandbox() {
  Sandbox sandbox;
  HONE_ASSIGN_OR_RETURN(const TempDir dir, TempDir::Create("hone-doctor"));
  const std::string path = dir.Join("probe");
  HONE_RETURN_IF_ERROR(WriteFileAtomic(path, ""));
  auto files = Refused([&] { return open(path.c_str(), O_WRONLY | O_CLOEXEC) >= 0; });
  auto network = Refused([] { return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0; });
  auto processes = Refused([] {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    return child > 0 || kill(getppid(), 0) == 0;
  });
  for (auto* result : {&files, &network, &processes}) HONE_RETURN_IF_ERROR(result->status());
  sandbox.files = *files;
  sandbox.network = *network;
  sandbox.processes = *processes;
  auto limits = Refused([] {
    rlimit limit = {};
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur > kMostFileBytes;
  });
  HONE_RETURN_IF_ERROR(limits.status());
  sandbox.limits = *limits;
  return sandbox;
}

}  // namespace hone

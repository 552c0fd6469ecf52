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
#include <sys/stat.h>
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

constexpr uint32_t kOpenToWrite = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t kArchitecture = 0;
#endif

int LandlockVersion() {
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version < 1 ? 0 : static_cast<int>(version);
}

// Installs a rule set that forbids everything it handles below every path. Returns the version in force, or 0.
int ForbidWriting() {
  const int version = LandlockVersion();
  if (version == 0) return 0;
  landlock_ruleset_attr attributes = {};
  attributes.handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                 LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                 LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                 LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                 LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;
  // Version 2 added renaming across folders, version 3 truncate(2); older headers do not name the latter.
  if (version >= 2) attributes.handled_access_fs |= uint64_t{1} << 13;
  if (version >= 3) attributes.handled_access_fs |= uint64_t{1} << 14;
  const long rules = syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
  if (rules < 0) return 0;
  const bool done = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
  close(static_cast<int>(rules));
  return done ? version : 0;
}

// System calls that older headers do not name; from 424 on, numbers are the same on every architecture.
enum YoungCall : long {
  kPidfdSendSignal = 424,
  kIoUringSetup = 425,
  kOpenTree = 428,
  kMoveMount = 429,
  kFsopen = 430,
  kFspick = 433,
  kOpenat2 = 437,
  kPidfdGetfd = 438,
  kMountSetattr = 442,
  kFchmodat2 = 452,
  kSetxattrat = 463,
  kRemovexattrat = 466,
  kOpenTreeAttr = 467,
  kFileSetattr = 469,
  kFirstUnknown = 470,  // the first number after those of Linux 6.18
};

class Filter {
 public:
  Filter() {
    // Numbers have other meanings on another architecture (32-bit calls on a 64-bit machine): forbid all of those.
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

  void ForbidFrom(long call, int error) {
    Add(BPF_JMP | BPF_JGE | BPF_K, static_cast<uint32_t>(call), 0, 1);
    Return(SECCOMP_RET_ERRNO | static_cast<uint32_t>(error));
  }

  // Allows the call if the lower half of the argument is one of `values`.
  void AllowOnly(long call, int argument, const std::vector<uint32_t>& values, int error) {
    const uint8_t checks = static_cast<uint8_t>(values.size());
    Add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, checks + 3);
    LoadArgument(argument);
    for (uint8_t i = 0; i < checks; ++i) Add(BPF_JMP | BPF_JEQ | BPF_K, values[i], checks - i, 0);
    Return(SECCOMP_RET_ERRNO | static_cast<uint32_t>(error));
    Load(offsetof(seccomp_data, nr));
  }

  // Allows the call if the argument has all, any, or no bits of this mask.
  void AllowIfAny(long call, int argument, uint32_t bits, int error) { OnBits(call, argument, bits, 1, 0, error); }
  void AllowIfNone(long call, int argument, uint32_t bits, int error) { OnBits(call, argument, bits, 0, 1, error); }

  bool Install() {
    Return(SECCOMP_RET_ALLOW);
    sock_fprog program = {static_cast<unsigned short>(code_.size()), code_.data()};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  }

 private:
  void Add(uint16_t code, uint32_t k, uint8_t if_true, uint8_t if_false) {
    code_.push_back({code, if_true, if_false, k});
  }
  void OnBits(long call, int argument, uint32_t bits, uint8_t if_any, uint8_t if_none, int error) {
    Add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(call), 0, 4);
    LoadArgument(argument);
    Add(BPF_JMP | BPF_JSET | BPF_K, bits, if_any, if_none);
    Return(SECCOMP_RET_ERRNO | static_cast<uint32_t>(error));
    Load(offsetof(seccomp_data, nr));
  }
  void LoadArgument(int index) { Load(offsetof(seccomp_data, args) + sizeof(uint64_t) * static_cast<size_t>(index)); }
  void Load(size_t offset) { Add(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset), 0, 0); }
  void Return(uint32_t action) { Add(BPF_RET | BPF_K, action, 0, 0); }

  std::vector<sock_filter> code_;
};

// A filter does not see the operations that io_uring performs for a process.
bool ForbidFileCalls() {
  Filter filter;
#ifdef SYS_open
  filter.AllowIfNone(SYS_open, 1, kOpenToWrite, EACCES);
  for (const long call : {SYS_creat, SYS_rename, SYS_link, SYS_symlink, SYS_unlink, SYS_rmdir, SYS_mkdir, SYS_mknod,
                          SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat}) {
    filter.Forbid(call, EACCES);
  }
#endif
#ifdef SYS_renameat
  filter.Forbid(SYS_renameat, EACCES);
#endif
  filter.AllowIfNone(SYS_openat, 2, kOpenToWrite, EACCES);
  for (const long call :
       {SYS_truncate, SYS_renameat2, SYS_linkat,     SYS_symlinkat,   SYS_unlinkat,          SYS_mkdirat,
        SYS_mknodat,  SYS_fchmod,    SYS_fchmodat,   SYS_fchown,      SYS_fchownat,          SYS_utimensat,
        SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr,  SYS_removexattr, SYS_lremovexattr,      SYS_fremovexattr,
        SYS_mount,    SYS_umount2,   SYS_pivot_root, SYS_chroot,      SYS_unshare,           SYS_setns,
        SYS_swapon,   SYS_swapoff,   SYS_acct,       SYS_quotactl,    SYS_open_by_handle_at, SYS_mq_open,
        SYS_mq_unlink}) {
    filter.Forbid(call, EACCES);
  }
  // Fail like a kernel without these calls: callers have a fallback. The flags of openat2 are in memory, out of a
  // filter's sight.
  for (const long call : {kIoUringSetup, kOpenTree, kMoveMount, kFsopen, kFspick, kOpenat2, kMountSetattr, kFchmodat2,
                          kSetxattrat, kRemovexattrat, kOpenTreeAttr, kFileSetattr}) {
    filter.Forbid(call, ENOSYS);
  }
  filter.ForbidFrom(kFirstUnknown, ENOSYS);
  return filter.Install();
}

bool ForbidSockets(bool local_ones_too) {
  Filter filter;
  if (local_ones_too) {
    for (const long call : {SYS_socket, SYS_socketpair}) filter.Forbid(call, EACCES);
  } else {
    filter.AllowOnly(SYS_socket, 0, {AF_UNIX, AF_NETLINK}, EACCES);
  }
  filter.Forbid(kIoUringSetup, ENOSYS);
  return filter.Install();
}

bool ForbidProcesses() {
  Filter filter;
#ifdef SYS_fork
  for (const long call : {SYS_fork, SYS_vfork}) filter.Forbid(call, EPERM);
#endif
  for (const long call : {long{SYS_execve}, long{SYS_execveat}, long{SYS_ptrace}, long{SYS_process_vm_readv},
                          long{SYS_process_vm_writev}, long{SYS_tkill}, long{kPidfdSendSignal}, long{kPidfdGetfd}}) {
    filter.Forbid(call, EPERM);
  }
  // The flags of clone3 are in memory, out of a filter's sight; libc falls back to clone.
  filter.Forbid(SYS_clone3, ENOSYS);
  filter.AllowIfAny(SYS_clone, 0, CLONE_THREAD, EPERM);
  // Allow signals to ourselves only: abort() and others need them.
  const uint32_t self = static_cast<uint32_t>(getpid());
  for (const long call : {SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo}) {
    filter.AllowOnly(call, 0, {self}, EPERM);
  }
  return filter.Install();
}

// Only lowers the limit.
bool Limit(__rlimit_resource resource, uint64_t value) {
  rlimit limit = {};
  if (getrlimit(resource, &limit) != 0) return false;
  if (limit.rlim_max <= value && limit.rlim_cur <= value) return true;
  limit.rlim_max = std::min<rlim_t>(limit.rlim_max, value);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, limit.rlim_max);
  return setrlimit(resource, &limit) == 0;
}

// True if `attempt` fails in a child that has entered the sandbox.
Result<bool> Refused(const SandboxOptions& options, const std::function<bool()>& attempt) {
  const pid_t child = fork();
  if (child < 0) return ErrnoStatus(errno, "fork");
  if (child == 0) {
    EnterSandbox(options);
    _exit(attempt() ? 1 : 0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return ErrnoStatus(errno, "waitpid");
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// Tries the ways to change the file `path`; true if one works.
bool Writes(const std::string& path) {
  const std::string other = path + "-other";
  return open(path.c_str(), O_WRONLY | O_CLOEXEC) >= 0 || open(other.c_str(), O_CREAT | O_CLOEXEC, 0600) >= 0 ||
         rename(path.c_str(), other.c_str()) == 0 || mkdir(other.c_str(), 0700) == 0 || unlink(path.c_str()) == 0;
}

bool Connects() {
  return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0 || socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0;
}

}  // namespace

SandboxOptions DeviceSandbox() {
  SandboxOptions options;
  options.files = options.processes = false;
  options.sockets = Sockets::kLocal;
  options.max_file_bytes = 0;
  options.max_open_files = 4096;
  return options;
}

std::string Sandbox::Text() const {
  std::vector<std::string> by, parts;
  if (file_calls) by.push_back("seccomp");
  if (landlock > 0) by.push_back("Landlock " + std::to_string(landlock));
  if (!by.empty()) parts.push_back((files() ? "files (" : "files but for truncating (") + Join(by, ", ") + ")");
  if (network) parts.push_back("network");
  if (processes) parts.push_back("processes");
  if (limits) parts.push_back("limits");
  return parts.empty() ? "nothing" : Join(parts, ", ");
}

Sandbox EnterSandbox(const SandboxOptions& options) {
  Sandbox sandbox;
  sandbox.limits = Limit(RLIMIT_CORE, 0) && Limit(RLIMIT_NOFILE, options.max_open_files);
  if (options.max_file_bytes > 0) sandbox.limits = Limit(RLIMIT_FSIZE, options.max_file_bytes) && sandbox.limits;
  if (options.max_memory_bytes > 0) sandbox.limits = Limit(RLIMIT_AS, options.max_memory_bytes) && sandbox.limits;
  // Without it, only root may install filters; with it, a program that is started cannot gain rights.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return sandbox;
  if (options.files && options.landlock) sandbox.landlock = ForbidWriting();
  if (kArchitecture == 0 || !options.seccomp) return sandbox;
  if (options.files) sandbox.file_calls = ForbidFileCalls();
  if (options.sockets != Sockets::kAll) sandbox.network = ForbidSockets(options.sockets == Sockets::kNone);
  if (options.processes) sandbox.processes = ForbidProcesses();
  return sandbox;
}

void ForbidNewTasks() { Limit(RLIMIT_NPROC, 0); }

Result<Sandbox> TrySandbox(const SandboxOptions& options) {
  Sandbox sandbox;
  HONE_ASSIGN_OR_RETURN(const TempDir dir, TempDir::Create("hone-doctor"));
  const std::string path = dir.Join("probe");
  HONE_RETURN_IF_ERROR(WriteFileAtomic(path, ""));
  SandboxOptions calls = options, rules = options;
  calls.landlock = rules.seccomp = false;
  HONE_ASSIGN_OR_RETURN(sandbox.file_calls,
                        Refused(calls, [&] { return Writes(path) || truncate(path.c_str(), 0) == 0; }));
  HONE_ASSIGN_OR_RETURN(const bool ruled, Refused(rules, [&] { return Writes(path); }));
  if (ruled) sandbox.landlock = LandlockVersion();
  HONE_ASSIGN_OR_RETURN(sandbox.network, Refused(options, Connects));
  HONE_ASSIGN_OR_RETURN(sandbox.processes, Refused(options, [] {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    return child > 0 || kill(getppid(), 0) == 0;
  }));
  HONE_ASSIGN_OR_RETURN(sandbox.limits, Refused(options, [&] {
    const auto beyond = [](__rlimit_resource resource, uint64_t value) {
      rlimit limit = {};
      return getrlimit(resource, &limit) != 0 || limit.rlim_max > value;
    };
    return beyond(RLIMIT_CORE, 0) || beyond(RLIMIT_NOFILE, options.max_open_files) ||
           (options.max_file_bytes > 0 && beyond(RLIMIT_FSIZE, options.max_file_bytes));
  }));
  return sandbox;
}

}  // namespace hone

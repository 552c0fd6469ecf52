// Tries the layers of base/sandbox.h: for each, a child enters the sandbox and does what the layer forbids.
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "base/file.h"
#include "base/os_error.h"
#include "base/sandbox.h"
#include "base/sandbox_layers.h"
#include "base/seccomp.h"

namespace hone {
namespace {

// Returns whether `attempt` fails, or ends its process by SIGSYS, in a child.
Result<bool> Refused(const std::function<bool()>& attempt) {
  const pid_t child = fork();
  if (child < 0) return ErrnoStatus(errno, "fork");
  if (child == 0) _exit(attempt() ? 1 : 0);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return ErrnoStatus(errno, "waitpid");
  }
  return WIFSIGNALED(status) ? WTERMSIG(status) == SIGSYS : WEXITSTATUS(status) == 0;
}

// The same in a child that has entered all layers except the last one.
Result<bool> RefusedInside(const SandboxOptions& options, const std::function<bool()>& attempt) {
  return Refused([&] {
    EnterSandbox(options);
    return attempt();
  });
}

bool ExceedsLimits(const SandboxOptions& options) {
  const auto beyond = [](__rlimit_resource resource, uint64_t value) {
    rlimit limit = {};
    return value > 0 && (getrlimit(resource, &limit) != 0 || limit.rlim_max > value);
  };
  rlimit core = {};
  return getrlimit(RLIMIT_CORE, &core) != 0 || core.rlim_max > 0 || beyond(RLIMIT_NOFILE, options.max_open_files) ||
         beyond(RLIMIT_FSIZE, options.max_file_bytes) || beyond(RLIMIT_AS, options.max_memory_bytes);
}

bool SeesEnvironment() {
  const auto text = ReadFile("/proc/self/environ");
  return getenv("PATH") != nullptr || !text.ok() || text->find_first_not_of('\0') != std::string::npos;
}

// The inode of a namespace of this process, which names it.
ino_t NamespaceOf(const char* kind) {
  struct stat info = {};
  stat((std::string("/proc/self/ns/") + kind).c_str(), &info);
  return info.st_ino;
}

bool HasCapability() {
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  if (syscall(SYS_capget, &header, sets) != 0) return true;
  for (const auto& set : sets) {
    if ((set.effective | set.permitted | set.inheritable) != 0) return true;
  }
  return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
}

// Tries the ways to change the file `path`; true if one works.
bool Writes(const std::string& path) {
  const std::string other = path + "-other";
  return open(path.c_str(), O_WRONLY | O_CLOEXEC) >= 0 || open(other.c_str(), O_CREAT | O_CLOEXEC, 0600) >= 0 ||
         rename(path.c_str(), other.c_str()) == 0 || mkdir(other.c_str(), 0700) == 0 || unlink(path.c_str()) == 0;
}

bool Reads(const std::string& path) { return open(path.c_str(), O_RDONLY | O_CLOEXEC) >= 0; }

// The prefix of a folder that a driver does not need: /var/tmp, unless it is the folder for temporary files.
std::string Elsewhere() {
  const std::vector<std::string> folders = sandbox::DriverFolders();
  const bool taken = std::any_of(folders.begin(), folders.end(), [](const auto& f) { return f.rfind("/var", 0) == 0; });
  const char* home = getenv("HOME");
  return JoinPath(taken && home != nullptr ? home : "/var/tmp", "hone-doctor");
}

// Calls that the list leaves out; true if one works. Each is tried in a process of its own, as the first one may end
// it.
Result<bool> ListHolds(const SandboxOptions& options) {
  const std::function<bool()> attempts[] = {
      [] { return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0; },
      [] {
        const int memory = shmget(IPC_PRIVATE, 4096, 0600);
        return memory >= 0 && shmctl(memory, IPC_RMID, nullptr) == 0;
      },
      [] { return setpriority(PRIO_PROCESS, 0, 19) == 0; },
      [] { return ioctl(STDIN_FILENO, TIOCSTI, "x") == 0 || errno == EIO || errno == ENOTTY; },
  };
  for (const auto& attempt : attempts) {
    HONE_ASSIGN_OR_RETURN(const bool refused, RefusedInside(options, [&] { return !LockCalls(options) || attempt(); }));
    if (!refused) return false;
  }
  return true;
}

bool SharesNamespace(const std::vector<const char*>& kinds, const std::vector<ino_t>& outside) {
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (NamespaceOf(kinds[i]) == outside[i]) return true;
  }
  return false;
}

// Collects the layers, up to the first error.
class Findings {
 public:
  void Add(const char* name, const Result<bool>& holds, const std::string& text, const char* advice) {
    if (!holds.ok() && status_.ok()) status_ = holds.status();
    if (holds.ok()) layers_.push_back({name, *holds, *holds ? text : "", *holds ? "" : advice});
  }
  Result<std::vector<TriedLayer>> Take() {
    if (!status_.ok()) return status_;
    return std::move(layers_);
  }

 private:
  Status status_;
  std::vector<TriedLayer> layers_;
};

}  // namespace

Result<std::vector<TriedLayer>> TrySandbox(const SandboxOptions& options) {
  HONE_ASSIGN_OR_RETURN(const TempDir dir, TempDir::Create(options.device ? Elsewhere() : "hone-doctor"));
  const std::string path = dir.Join("probe");
  HONE_RETURN_IF_ERROR(WriteFileAtomic(path, ""));
  const bool device = options.device;
  const pid_t self = getpid();
  const std::string landlock = " (Landlock " + std::to_string(sandbox::LandlockVersion()) + ")";
  const char* no_landlock =
      "this kernel has no Landlock (5.13 and later, `lsm=landlock`): a candidate reaches the files of its user";
  SandboxOptions open_proc = options, visible = options;
  open_proc.landlock = false;
  visible.namespaces = false;  // in a PID namespace, we have no pid
  std::vector<const char*> kinds = {"user", "net", "uts"};
  if (!device) kinds.insert(kinds.end(), {"pid", "ipc"});
  std::vector<ino_t> outside;
  std::string names;
  for (const char* kind : kinds) {
    outside.push_back(NamespaceOf(kind));
    names += (names.empty() ? "" : ", ") + std::string(kind);
  }

  Findings findings;
  findings.Add("terminal", Refused([] { return setsid() < 0 || open("/dev/tty", O_RDWR | O_CLOEXEC) >= 0; }),
               "cannot be opened", "this kernel lets a process without a session open a terminal");
  findings.Add("limits", RefusedInside(options, [&] { return ExceedsLimits(options); }),
               device ? "no core files, few open files" : "no core files, few and small files",
               "this kernel does not keep limits (setrlimit)");
  if (!device) {
    findings.Add("environment", RefusedInside(open_proc, SeesEnvironment), "wiped", "/proc is not there");
  }
  findings.Add("namespaces", RefusedInside(open_proc, [&] { return SharesNamespace(kinds, outside); }),
               "its own: " + names,
               "user namespaces are switched off (sysctl user.max_user_namespaces, "
               "kernel.apparmor_restrict_unprivileged_userns, a container's rules)");
  findings.Add("capabilities", RefusedInside(options, HasCapability), "none",
               "this kernel does not let a process drop its capabilities");
  findings.Add("writing", RefusedInside(options, [&] { return Writes(path); }),
               (device ? "only the driver's caches, temporary files and devices" : "no file") + landlock, no_landlock);
  if (!device) {
    const std::string environment = "/proc/" + std::to_string(self) + "/environ";
    const auto reads = [&] { return Reads(path) || Reads("/etc/passwd") || Reads(environment); };
    findings.Add("reading", RefusedInside(options, reads), "only the kernels' folder" + landlock, no_landlock);
  }
  findings.Add("signals", RefusedInside(visible, [&] { return kill(self, 0) == 0; }), "none to others" + landlock,
               "this kernel has no Landlock 6 (6.12): the list of calls protects other processes");
  const int calls = device ? CountCalls(HostCalls(), DriverCalls()) : CountCalls(HostCalls());
  findings.Add("calls", ListHolds(options),
               std::to_string(calls) + " are allowed, " +
                   (device ? "others fail (seccomp)" : "any other ends the candidate (seccomp)"),
               "this kernel has no seccomp filters: a candidate could start processes and use the network");
  return findings.Take();
}

}  // namespace hone

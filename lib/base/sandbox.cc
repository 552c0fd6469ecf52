#include "base/sandbox.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/sandbox_layers.h"
#include "base/seccomp.h"

extern char** environ;

namespace hone {
namespace sandbox {

bool Limit(int resource, uint64_t value) {
  const auto which = static_cast<__rlimit_resource>(resource);
  rlimit limit = {};
  if (getrlimit(which, &limit) != 0) return false;
  if (limit.rlim_max <= value && limit.rlim_cur <= value) return true;
  limit.rlim_max = std::min<rlim_t>(limit.rlim_max, value);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, limit.rlim_max);
  return setrlimit(which, &limit) == 0;
}

bool WipeEnvironment() {
  for (char** entry = environ; *entry != nullptr; ++entry) explicit_bzero(*entry, strlen(*entry));
  return clearenv() == 0;
}

bool DropCapabilities() {
  for (int capability = 0; capability < 64; ++capability) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  return syscall(SYS_capset, &header, sets) == 0;
}

}  // namespace sandbox

SandboxOptions DeviceSandbox() {
  SandboxOptions options{.device = true, .max_file_bytes = 0, .max_open_files = 4096};
  return options;
}

Sandbox EnterSandbox(const SandboxOptions& options) {
  Sandbox entered{.limits = sandbox::Limit(RLIMIT_CORE, 0) && sandbox::Limit(RLIMIT_NOFILE, options.max_open_files)};
  if (options.max_file_bytes > 0)
    entered.limits = sandbox::Limit(RLIMIT_FSIZE, options.max_file_bytes) && entered.limits;
  if (options.max_memory_bytes > 0)
    entered.limits = sandbox::Limit(RLIMIT_AS, options.max_memory_bytes) && entered.limits;
  sandbox::FileAccess access;
  if (options.device) {
    access.read_all = true;  // libraries of drivers lie anywhere
    access.writable = sandbox::DriverFolders();
  } else {
    access.readable = options.readable;
    entered.environment = sandbox::WipeEnvironment();
  }
  if (options.namespaces) entered.namespaces = sandbox::EnterNamespaces(options.device);
  // A program that is started gains no rights. Landlock and seccomp require it, and capabilities need it: the bounding
  // set cannot be dropped without rights.
  const bool no_new_rights = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
  entered.capabilities = sandbox::DropCapabilities() && no_new_rights;
  if (options.landlock && no_new_rights) entered.landlock = sandbox::EnterLandlock(access);
  entered.scopes = entered.landlock >= sandbox::kLandlockScopes;
  return entered;
}

bool LockCalls(const SandboxOptions& options) {
  if (options.seccomp) {
    if (options.device) return AllowOnly(HostCalls(), DriverCalls(), Refusal::kMissing);
    if (AllowOnly(HostCalls(), {}, Refusal::kEnd)) return true;
  }
  if (!options.device) sandbox::Limit(RLIMIT_NPROC, 0);
  return false;
}

}  // namespace hone

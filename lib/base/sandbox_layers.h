// The layers that base/sandbox.h applies, one function each. Each returns whether the layer is in force.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hone::sandbox {

// Only lowers the limit. `resource` is RLIMIT_*.
bool Limit(int resource, uint64_t value);

// Overwrites the environment, so that neither getenv nor /proc/self/environ has it.
bool WipeEnvironment();

// Returns with namespaces of its own, without a device in a new process; see EnterSandbox.
bool EnterNamespaces(bool device);

// Drops all capabilities, also for programs that are started. Returns whether none is left.
bool DropCapabilities();

// The version of Landlock that this kernel has; 0 without it.
int LandlockVersion();

// Forbids opening, creating, changing and removing files except as the access says, for all files. Forbids signals and
// abstract sockets to processes outside, and TCP, where the version has that. Returns the version in force, or 0.
struct FileAccess {
  bool read_all = false;              // also lists folders, and runs programs
  std::vector<std::string> readable;  // files, and folders with all below them
  std::vector<std::string> writable;  // the same; includes reading
};
int EnterLandlock(const FileAccess& access);
inline constexpr int kLandlockScopes = 6;  // the first version with scopes

// Where drivers keep caches, temporary files and their devices.
std::vector<std::string> DriverFolders();

}  // namespace hone::sandbox

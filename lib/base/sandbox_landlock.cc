#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#include "base/fd.h"
#include "base/sandbox_layers.h"

namespace hone::sandbox {
namespace {

// Rights that older headers do not name.
constexpr uint64_t kRefer = uint64_t{1} << 13;     // version 2: renaming across folders
constexpr uint64_t kTruncate = uint64_t{1} << 14;  // version 3
constexpr uint64_t kIoctl = uint64_t{1} << 15;     // version 5: ioctl on a device
constexpr uint64_t kTcp = 3;                       // version 4: bind and connect
constexpr uint64_t kScopes = 3;                    // version 6: abstract sockets and signals

// landlock_ruleset_attr as of version 6. Older kernels accept it if what they do not know is 0.
struct Ruleset {
  uint64_t files, network, scopes;
};

constexpr uint64_t kRead = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;

uint64_t RightsToWrite(int version) {
  uint64_t rights = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                    LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                    LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                    LANDLOCK_ACCESS_FS_MAKE_SYM;
  if (version >= 2) rights |= kRefer;
  if (version >= 3) rights |= kTruncate;
  if (version >= 5) rights |= kIoctl;
  return rights;
}

// A path that is not there needs no rule. The kernel refuses rights of folders for a file.
void AllowBelow(int ruleset, const std::string& path, uint64_t rights) {
  const int fd = open(path.c_str(), O_PATH | O_CLOEXEC);
  struct stat info;
  if (fd >= 0 && fstat(fd, &info) == 0) {
    constexpr uint64_t kOfFiles =
        LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE | kTruncate | kIoctl;
    landlock_path_beneath_attr rule = {};
    rule.allowed_access = S_ISDIR(info.st_mode) ? rights : rights & kOfFiles;
    rule.parent_fd = fd;
    syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  }
  // A rule belongs to an inode. Those of /proc live as long as somebody has them open, so keep the descriptor.
  const bool of_proc = path.rfind("/proc/", 0) == 0;
  if (fd >= 0 && !of_proc) close(fd);
}

}  // namespace

int LandlockVersion() {
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version < 1 ? 0 : static_cast<int>(version);
}

int EnterLandlock(const FileAccess& access) {
  const int version = LandlockVersion();
  if (version == 0) return 0;
  const uint64_t write = RightsToWrite(version);
  Ruleset attributes = {write, 0, 0};
  if (!access.read_all) attributes.files |= kRead | LANDLOCK_ACCESS_FS_EXECUTE;
  if (version >= 4) attributes.network = kTcp;
  if (version >= kLandlockScopes) attributes.scopes = kScopes;
  const size_t size = version >= kLandlockScopes ? 24 : version >= 4 ? 16 : 8;
  const Fd ruleset(static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, size, 0)));
  if (!ruleset.open()) return 0;
  for (const std::string& path : access.readable) AllowBelow(ruleset.get(), path, kRead & attributes.files);
  for (const std::string& path : access.writable) AllowBelow(ruleset.get(), path, (write | kRead) & attributes.files);
  return syscall(SYS_landlock_restrict_self, ruleset.get(), 0) == 0 ? version : 0;
}

std::vector<std::string> DriverFolders() {
  std::vector<std::string> folders = {"/dev", "/proc", "/tmp"};
  for (const char* name :
       {"TMPDIR", "CUDA_CACHE_PATH", "XDG_CACHE_HOME", "POCL_CACHE_DIR", "CUDA_MPS_PIPE_DIRECTORY"}) {
    if (const char* path = std::getenv(name); path != nullptr && *path != 0) folders.push_back(path);
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != 0) {
    for (const char* folder : {"/.cache", "/.nv"}) folders.push_back(std::string(home) + folder);
  }
  return folders;
}

}  // namespace hone::sandbox

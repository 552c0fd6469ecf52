// Implements TempDir of base/file.h. A folder is named PREFIX.NAMESPACE-PID-START.XXXXXX for people to read. Only its
// lock tells whether its process is alive: the kernel releases it however the process ends, and in any container.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file.h"
#include "base/lock_owner.h"
#include "base/os_error.h"
#include "base/text.h"

namespace hone {
namespace {

constexpr int kMostTries = 10;

// A descriptor that holds the lock of folder `path`, or none with errno: EWOULDBLOCK if another process holds it.
Fd Hold(const std::string& path) {
  Fd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.open() || flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  const int error = errno;
  fd = Fd();
  errno = error;
  return fd;
}

bool HasNoLocks(int error) { return error == ENOLCK || error == EOPNOTSUPP || error == EBADF || error == EINVAL; }

// "4026531836-4711-83720" for this process.
std::string OwnerText() {
  const LockOwner me = ThisProcess();
  std::string space = me.pid_namespace;  // "pid:[4026531836]"
  space.erase(std::remove_if(space.begin(), space.end(), [](char c) { return c < '0' || c > '9'; }), space.end());
  return Join({space, std::to_string(me.pid), me.start}, "-");
}

bool IsOurName(std::string_view name, const std::string& prefix) {
  if (!StartsWith(name, prefix + ".")) return false;
  const std::vector<std::string> parts = Split(name.substr(prefix.size() + 1), '.');
  return parts.size() == 2 && parts[1].size() == 6 && std::count(parts[0].begin(), parts[0].end(), '-') == 2;
}

// Removes the folders that killed processes of this user left. Ignores failures.
void RemoveAbandoned(const std::string& folder, const std::string& prefix) {
  const auto names = ListDir(folder);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (!IsOurName(name, prefix)) continue;
    const std::string path = JoinPath(folder, name);
    const Fd fd = Hold(path);
    struct stat info = {};
    if (fd.open() && fstat(fd.get(), &info) == 0 && info.st_uid == geteuid()) (void)RemoveTree(path).ok();
  }
}

}  // namespace

Result<TempDir> TempDir::Create(const std::string& prefix) {
  const char* base = getenv("TMPDIR");
  const std::string start = JoinPath(base != nullptr && *base != '\0' ? base : "/tmp", prefix);
  RemoveAbandoned(DirName(start), BaseName(start));
  const std::string name = start + "." + OwnerText() + ".XXXXXX";
  for (int i = 0;; ++i) {
    std::string path = name;
    if (mkdtemp(path.data()) == nullptr) return ErrnoStatus(errno, path + ": cannot create a temporary folder");
    Fd lock = Hold(path);
    const int error = lock.open() ? 0 : errno;
    if (HasNoLocks(error) || StillNames(path, lock)) return TempDir(std::move(path), std::move(lock));
    // Another process may take it for an abandoned one before we hold it: then try again. Never use a folder that
    // could be locked and is not, since the next Create would remove it.
    const bool removed = lock.open() || error == EWOULDBLOCK || error == ENOENT;
    if (removed && i < kMostTries) continue;
    (void)RemoveTree(path).ok();
    return ErrnoStatus(error != 0 ? error : EWOULDBLOCK, path + ": cannot hold a temporary folder");
  }
}

TempDir::TempDir(TempDir&& other) noexcept : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}

TempDir::~TempDir() {
  if (!path_.empty()) (void)RemoveTree(path_).ok();
}

}  // namespace hone

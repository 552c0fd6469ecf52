#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>

#include "base/os_error.h"
#include "base/text.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxRead = size_t{4} << 30;  // far above any file that Hone reads; small enough for the machine

// "a folder" and so on, if it is not a regular file.
const char* SpecialKind(const struct stat& info) {
  if (S_ISREG(info.st_mode)) return nullptr;
  if (S_ISDIR(info.st_mode)) return "a folder";
  if (S_ISLNK(info.st_mode)) return "a symbolic link";
  if (S_ISFIFO(info.st_mode)) return "a pipe";
  return S_ISSOCK(info.st_mode) ? "a socket" : "a device";
}

Status NotRegular(const std::string& path, const char* kind) {
  return Status::Io("{}: cannot open: it is {}, not a file", path, kind);
}

// A pipe that the shell made for this process lies in no folder, so its writer is known to be there.
bool IsUnnamedPipe(int fd, const struct stat& info) {
  struct statfs system;
  return S_ISFIFO(info.st_mode) && ::fstatfs(fd, &system) == 0 && system.f_type == PIPEFS_MAGIC;
}

// The folder is synced so that names in it survive a power cut. Some file systems cannot sync folders, and a folder may
// be writable but not readable; that is no reason to fail.
Status SyncFolder(const std::string& folder) {
  const Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const int error = !fd.open() || ::fsync(fd.get()) != 0 ? errno : 0;
  if (error == 0 || error == EACCES || error == EINVAL || error == ENOTSUP || error == EROFS) return Status();
  return ErrnoStatus(error, folder + ": cannot write the folder to the disk");
}

Status ErrorCodeStatus(const std::error_code& error, const std::string& what) {
  return error ? ErrnoStatus(error.value(), what) : Status();
}

Status Failed(const std::string& path, const std::string& what) {
  return ErrnoStatus(errno, fmt::format("{}: {}", path, what));
}

// The length of the file without an incomplete last line.
Result<off_t> WholeLength(int fd, const std::string& path) {
  struct stat info;
  if (fstat(fd, &info) != 0) return Failed(path, "cannot look at it");
  char bytes[4096];
  for (off_t end = info.st_size; end > 0;) {
    const off_t begin = end > static_cast<off_t>(sizeof bytes) ? end - static_cast<off_t>(sizeof bytes) : 0;
    const ssize_t got = pread(fd, bytes, static_cast<size_t>(end - begin), begin);
    if (got != end - begin) return Failed(path, "cannot read it");
    for (off_t i = end; i > begin; --i) {
      if (bytes[i - 1 - begin] == '\n') return i;
    }
    end = begin;
  }
  return 0;
}

Status AppendTo(int fd, const std::string& path, const std::string& line) {
  HONE_ASSIGN_OR_RETURN(const off_t length, WholeLength(fd, path));
  if (ftruncate(fd, length) != 0) return Failed(path, "cannot cut off a torn line");
  const ssize_t written = pwrite(fd, line.data(), line.size(), length);
  if (written == static_cast<ssize_t>(line.size()) && fsync(fd) == 0) return Status();
  const Status failed = Failed(path, "cannot append to it");
  // The next append would cut off the incomplete line anyway; doing it now spares the readers.
  if (ftruncate(fd, length) != 0) return failed;
  return failed;
}

}  // namespace

Result<Fd> OpenFile(const std::string& path, int flags) {
  // Without O_NONBLOCK, a pipe waits for its other end; without O_NOCTTY, a terminal may become ours.
  Fd fd(::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666));
  struct stat info;
  if (!fd.open() || ::fstat(fd.get(), &info) != 0) {
    const int error = errno;
    const bool follow = (flags & O_NOFOLLOW) == 0;
    if (error == ENXIO || error == EISDIR || error == ELOOP) HONE_RETURN_IF_ERROR(CheckRegular(path, follow));
    return ErrnoStatus(error, path + ": cannot open");
  }
  if (S_ISREG(info.st_mode)) return fd;
  if (IsUnnamedPipe(fd.get(), info) && ::fcntl(fd.get(), F_SETFL, flags & O_ACCMODE) == 0) return fd;
  return NotRegular(path, SpecialKind(info));
}

Status CheckRegular(const std::string& path, bool follow) {
  struct stat info;
  const bool known = (follow ? ::stat(path.c_str(), &info) : ::lstat(path.c_str(), &info)) == 0;
  const char* kind = known ? SpecialKind(info) : nullptr;
  return kind == nullptr ? Status() : NotRegular(path, kind);
}

Result<Fd> CreateFresh(const std::string& path, mode_t mode, const std::string& what) {
  constexpr int kFresh = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
  Fd fd(::open(path.c_str(), kFresh, mode));
  if (!fd.open() && errno == EEXIST && ::unlink(path.c_str()) == 0) fd = Fd(::open(path.c_str(), kFresh, mode));
  if (!fd.open()) return ErrnoStatus(errno, what);
  return fd;
}

// The first `most` bytes of a file that has at most `largest`.
static Result<std::string> Read(const std::string& path, size_t most, size_t largest) {
  if (path.empty()) return Status::Io("the name of a file to read is empty");
  HONE_ASSIGN_OR_RETURN(const Fd fd, OpenFile(path, O_RDONLY));
  // The size is only a hint: files in /proc say 0, and a file can grow while we read it.
  struct stat info;
  const size_t size = ::fstat(fd.get(), &info) == 0 && info.st_size > 0 ? static_cast<size_t>(info.st_size) : 0;
  if (size > largest) most = 0;
  size_t chunk = size > 0 ? size + 1 : 65536;
  std::string bytes;
  while (bytes.size() < most) {
    const size_t used = bytes.size();
    chunk = std::min(chunk, most - used);
    bytes.resize(used + chunk);
    const ssize_t n = ::read(fd.get(), bytes.data() + used, chunk);
    const int error = errno;
    bytes.resize(used + (n > 0 ? static_cast<size_t>(n) : 0));
    if (n < 0 && error == EINTR) continue;
    if (n < 0) return ErrnoStatus(error, path + ": cannot read");
    if (n == 0) break;
    chunk = 65536;
  }
  if (size > largest || bytes.size() > largest) return Status::Io(path + ": cannot read: it is larger than 4 GiB");
  return bytes;
}

Result<std::string> ReadStart(const std::string& path, size_t bytes) { return Read(path, bytes, SIZE_MAX); }

Result<std::string> ReadFile(const std::string& path) { return Read(path, kMaxRead + 1, kMaxRead); }

Status WriteFileAtomic(const std::string& path, std::string_view bytes) {
  static std::atomic<uint64_t> counter{0};
  // With write access to /dev, a rename would replace the device by a file for all users.
  struct stat there;
  if (::stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode)) {
    return Status::Io(path + ": cannot write: it is a device or a pipe, not a file");
  }
  std::string folder = DirName(path);
  std::string temp = JoinPath(
      folder, "." + BaseName(path) + "." + std::to_string(::getpid()) + "." + std::to_string(counter++) + ".tmp");
  HONE_ASSIGN_OR_RETURN(Fd fd, CreateFresh(temp, 0666, path + ": cannot create a file in its folder"));
  Status status;
  if (!WriteAll(fd, bytes) || ::fsync(fd.get()) != 0) status = ErrnoStatus(errno, path + ": cannot write");
  if (::close(fd.Release()) != 0 && status.ok()) status = ErrnoStatus(errno, path + ": cannot write");
  if (status.ok() && ::rename(temp.c_str(), path.c_str()) != 0) status = ErrnoStatus(errno, path + ": cannot replace");
  if (!status.ok()) {
    ::unlink(temp.c_str());
    return status;
  }
  return SyncFolder(folder);
}

void RemoveDrafts(const std::string& path) {
  const Result<std::vector<std::string>> names = ListDir(DirName(path));
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    const bool draft = StartsWith(name, "." + BaseName(path)) && EndsWith(name, ".tmp");
    if (draft) (void)Remove(JoinPath(DirName(path), name)).ok();
  }
}

Result<bool> WriteFileIfChanged(const std::string& path, std::string_view bytes) {
  struct stat info;
  bool same_size = ::stat(path.c_str(), &info) == 0 && static_cast<size_t>(info.st_size) == bytes.size();
  if (same_size) {
    Result<std::string> old = ReadFile(path);
    if (old.ok() && *old == bytes) return false;
  }
  HONE_RETURN_IF_ERROR(WriteFileAtomic(path, bytes));
  return true;
}

void DropCached(const std::string& path) {
  const Result<Fd> fd = OpenFile(path, O_RDONLY);
  if (fd.ok()) (void)::posix_fadvise(fd->get(), 0, 0, POSIX_FADV_DONTNEED);
}

bool Exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool IsDirectory(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

Status CheckFolder(const std::string& path) {
  std::string there = path;
  while (!Exists(there) && DirName(there) != there) there = DirName(there);
  if (!Exists(there) || IsDirectory(there)) return Status();
  return Status::Io("{}: cannot create the folder: {} is a file", path, there);
}

Status MakeDirs(const std::string& path) {
  std::vector<std::string> parents;  // of the folders that are missing
  for (std::string missing = path; !missing.empty() && !Exists(missing); missing = parents.back()) {
    const std::string parent = DirName(missing);
    if (parent == missing) break;  // "." in a folder that may not be searched
    parents.push_back(parent);
  }
  std::error_code error;
  fs::create_directories(path, error);
  HONE_RETURN_IF_ERROR(ErrorCodeStatus(error, path + ": cannot create the folder"));
  for (const std::string& parent : parents) HONE_RETURN_IF_ERROR(SyncFolder(parent));
  return Status();
}

Status Remove(const std::string& path) {
  std::error_code error;
  fs::remove(path, error);
  return ErrorCodeStatus(error, path + ": cannot remove");
}

Status Rename(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, to, error);
  HONE_RETURN_IF_ERROR(ErrorCodeStatus(error, from + ": cannot be renamed to " + to));
  return SyncFolder(DirName(to));
}

Status RemoveTree(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  return ErrorCodeStatus(error, path + ": cannot remove");
}

Result<std::vector<std::string>> ListDir(const std::string& path) {
  std::error_code error;
  fs::directory_iterator it(path, error);
  std::vector<std::string> names;
  for (; !error && it != fs::directory_iterator(); it.increment(error)) names.push_back(it->path().filename().string());
  if (error) return ErrorCodeStatus(error, path + ": cannot list");
  std::sort(names.begin(), names.end());
  return names;
}

Result<int64_t> FileSize(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return ErrnoStatus(errno, path + ": cannot stat");
  return static_cast<int64_t>(info.st_size);
}

Result<std::string> CurrentExecutable() {
  std::error_code error;
  fs::path path = fs::read_symlink("/proc/self/exe", error);
  if (error) return ErrorCodeStatus(error, "/proc/self/exe: cannot read");
  return path.string();
}

std::string JoinPath(std::string_view a, std::string_view b) {
  if (a.empty() || (!b.empty() && b[0] == '/')) return std::string(b);
  std::string joined(a);
  if (joined.back() != '/') joined += '/';
  return joined.append(b);
}

std::string DirName(std::string_view path) {
  size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : std::string(path.substr(0, slash));
}

std::string BaseName(std::string_view path) {
  size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string AbsolutePath(const std::string& path) {
  std::error_code error;
  fs::path absolute = fs::absolute(path, error);
  std::string text = (error ? fs::path(path) : absolute).lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

double ModifiedSeconds(const struct stat& info) {
  return static_cast<double>(info.st_mtim.tv_sec) + 1e-9 * static_cast<double>(info.st_mtim.tv_nsec);
}

double ModifiedSeconds(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 ? ModifiedSeconds(info) : 0;
}

Status AppendLine(const std::string& path, const std::string& line) {
  HONE_RETURN_IF_ERROR(MakeDirs(DirName(path)));
  const bool is_new = !Exists(path);
  HONE_ASSIGN_OR_RETURN(const Fd fd, OpenFile(path, O_RDWR | O_CREAT | O_NOFOLLOW));
  HONE_RETURN_IF_ERROR(AppendTo(fd.get(), path, line));
  return is_new ? SyncFolder(DirName(path)) : Status();
}

Status ShareFile(const std::string& from, const std::string& to) {
  return link(from.c_str(), to.c_str()) == 0 ? SyncFolder(DirName(to)) : Failed(to, "cannot link it");
}

Status MakeReadOnly(const std::string& path) {
  return chmod(path.c_str(), 0444) == 0 ? Status() : Failed(path, "cannot make it read-only");
}

}  // namespace hone

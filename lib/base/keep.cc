#include "base/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/os_error.h"
#include "base/result.h"

namespace hone {
namespace {

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

Status AppendLine(const std::string& path, const std::string& line) {
  HONE_RETURN_IF_ERROR(MakeDirs(DirName(path)));
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0) return Failed(path, "cannot open it");
  const Status status = AppendTo(fd, path, line);
  close(fd);
  return status;
}

Status ShareFile(const std::string& from, const std::string& to) {
  return link(from.c_str(), to.c_str()) == 0 ? Status() : Failed(to, "cannot link it");
}

Status MakeReadOnly(const std::string& path) {
  return chmod(path.c_str(), 0444) == 0 ? Status() : Failed(path, "cannot make it read-only");
}

}  // namespace hone

#include "base/fd.h"

#include <sys/mman.h>

#include <cerrno>

namespace hone {

Fd MemoryFile() { return Fd(::memfd_create("hone", MFD_CLOEXEC)); }

bool WriteAll(const Fd& fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

std::string ReadFrom(const Fd& fd, off_t begin) {
  std::string bytes;
  char chunk[65536];
  ssize_t n;
  while ((n = ::pread(fd.get(), chunk, sizeof chunk, begin + static_cast<off_t>(bytes.size()))) > 0) {
    bytes.append(chunk, static_cast<size_t>(n));
  }
  return bytes;
}

}  // namespace hone

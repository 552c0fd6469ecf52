// File descriptors that are closed on every path.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

namespace hone {

// Owns a descriptor, or none (-1).
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.Release()) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }

  bool open() const { return fd_ >= 0; }
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }  // the caller owns it now

 private:
  int fd_;
};

// An anonymous file in memory.
Fd MemoryFile();
// Writes all bytes. On failure returns false and sets errno.
bool WriteAll(const Fd& fd, std::string_view bytes);
// Its bytes from `begin` on, regardless of its position; what comes before a failure.
std::string ReadFrom(const Fd& fd, off_t begin);

}  // namespace hone

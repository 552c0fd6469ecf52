#include "measure/guarded_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/os_error.h"

namespace hone::measure {

Result<GuardedBuffer> GuardedBuffer::Create(int64_t bytes) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t rounded = (static_cast<size_t>(bytes) + 63) / 64 * 64;
  const size_t usable = (rounded + page - 1) / page * page;
  void* mapping = mmap(nullptr, usable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return ErrnoStatus(errno, "no memory for a buffer of " + std::to_string(bytes) + " bytes");
  char* base = static_cast<char*>(mapping);
  if (mprotect(base + usable, page, PROT_NONE) != 0) {
    const int error = errno;
    munmap(mapping, usable + page);
    return ErrnoStatus(error, "cannot make a guard page");
  }
  GuardedBuffer buffer;
  buffer.mapping_ = mapping;
  buffer.mapped_ = usable + page;
  buffer.data_ = base + (usable - rounded);
  buffer.bytes_ = bytes;
  return buffer;
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept { *this = std::move(other); }

GuardedBuffer& GuardedBuffer::operator=(GuardedBuffer&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_, other.mapped_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

GuardedBuffer::~GuardedBuffer() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

}  // namespace hone::measure

#include "runtime/host/buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "base/os_error.h"

namespace hone::runtime {

Result<AlignedBuffer> AlignedBuffer::Create(int64_t bytes, bool guard) {
  auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t rounded = (static_cast<size_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
  size_t pages = (rounded + page - 1) / page * page;
  AlignedBuffer buffer;
  size_t size = pages + page;
  void* mapping = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return ErrnoStatus(errno, fmt::format("no memory for a buffer of {} bytes", bytes));
  buffer.mapping_ = mapping;
  buffer.mapping_bytes_ = size;
  buffer.bytes_ = bytes;
  buffer.data_ = static_cast<char*>(mapping);
  if (guard) {
    if (mprotect(buffer.data_ + pages, page, PROT_NONE) != 0) return ErrnoStatus(errno, "cannot protect a guard page");
    buffer.data_ += pages - rounded;
  }
  return buffer;
}

AlignedBuffer::~AlignedBuffer() {
  if (mapping_) munmap(mapping_, mapping_bytes_);
}

}  // namespace hone::runtime

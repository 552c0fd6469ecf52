#include "runtime/host/buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/os_error.h"

namespace hone::runtime {

constexpr char kUntouched = 0x5A;
constexpr size_t kHugePage = size_t{2} << 20;

Result<AlignedBuffer> AlignedBuffer::Create(int64_t bytes, bool guard) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t rounded = (static_cast<size_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
  const size_t pages = (rounded + page - 1) / page * page;
  const size_t size = pages + (guard ? 2 * page : page);
  AlignedBuffer buffer;
  void* mapping = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return ErrnoStatus(errno, fmt::format("no memory for a buffer of {} bytes", bytes));
  if (size >= kHugePage) madvise(mapping, size, MADV_HUGEPAGE);  // an error changes nothing
  buffer.mapping_ = mapping;
  buffer.mapping_bytes_ = size;
  buffer.bytes_ = bytes;
  buffer.data_ = static_cast<char*>(mapping);
  if (!guard) return buffer;
  char* first = buffer.data_ + page;
  if (mprotect(buffer.data_, page, PROT_NONE) != 0 || mprotect(first + pages, page, PROT_NONE) != 0) {
    return ErrnoStatus(errno, "cannot protect a guard page");
  }
  buffer.guarded_ = true;
  buffer.data_ = first + (pages - rounded);
  buffer.Mend();
  return buffer;
}

char* AlignedBuffer::front() const { return static_cast<char*>(mapping_) + sysconf(_SC_PAGESIZE); }
char* AlignedBuffer::back() const { return static_cast<char*>(mapping_) + mapping_bytes_ - sysconf(_SC_PAGESIZE); }

bool AlignedBuffer::Intact() const {
  return !guarded_ || (Untouched(front(), data_) && Untouched(data_ + bytes_, back()));
}

void AlignedBuffer::Mend() {
  if (!guarded_) return;
  Mark(front(), data_);
  Mark(data_ + bytes_, back());
}

Status AlignedBuffer::Seal() {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  char* const begin = static_cast<char*>(mapping_) + (guarded_ ? page : 0);
  const size_t bytes = mapping_bytes_ - (guarded_ ? 2 * page : 0);
  if (mapping_ != nullptr && mprotect(begin, bytes, PROT_READ) != 0) return ErrnoStatus(errno, "cannot seal a buffer");
  return Status();
}

void AlignedBuffer::Mark(char* begin, char* end) { std::memset(begin, kUntouched, static_cast<size_t>(end - begin)); }

// Runs after every kernel run, so it must be fast: a memcmp with the same bytes shifted by one.
bool AlignedBuffer::Untouched(const char* begin, const char* end) {
  return begin == end ||
         (*begin == kUntouched && std::memcmp(begin, begin + 1, static_cast<size_t>(end - begin - 1)) == 0);
}

AlignedBuffer::~AlignedBuffer() {
  if (mapping_) munmap(mapping_, mapping_bytes_);
}

}  // namespace hone::runtime

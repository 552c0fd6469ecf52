// AlignedBuffer: memory for a kernel's argument, aligned as kernels expect it, optionally with guards around it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/result.h"

namespace hone::runtime {

class AlignedBuffer {
 public:
  static constexpr int64_t kAlignment = 64;

  AlignedBuffer() = default;  // empty
  // `bytes` of zeros (0 is allowed). With `guard`, there is a page on each side that faults on any access. As the start
  // is aligned, up to 63 bytes lie between the last byte and the page behind, and less than a page in front: they are
  // not zero (so reading them gives wrong results), and Intact() notices writes to them. Uses huge pages where the
  // system provides them on request, as the library does. kIo if memory runs out.
  static Result<AlignedBuffer> Create(int64_t bytes, bool guard = false);
  AlignedBuffer(AlignedBuffer&& other) noexcept { *this = std::move(other); }
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(mapping_, other.mapping_);
    std::swap(mapping_bytes_, other.mapping_bytes_);
    std::swap(guarded_, other.guarded_);
    return *this;
  }
  ~AlignedBuffer();

  // Whether the writable bytes around a guarded buffer are as Create() or Mend() left them.
  bool Intact() const;
  void Mend();

  // Makes it read-only for good: a write faults. A guarded buffer keeps its guards.
  Status Seal();

  // For bytes around buffers: marks [begin, end), and checks whether somebody has written there since.
  static void Mark(char* begin, char* end);
  static bool Untouched(const char* begin, const char* end);

  char* data() { return data_; }
  const char* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(data_);
  }

 private:
  // The bytes that Intact() checks: from front() to the data, and from the end of the data to back().
  char* front() const;
  char* back() const;

  char* data_ = nullptr;
  int64_t bytes_ = 0;
  void* mapping_ = nullptr;
  size_t mapping_bytes_ = 0;
  bool guarded_ = false;
};

}  // namespace hone::runtime

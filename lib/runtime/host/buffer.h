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
  // `bytes` of zeros (0 is allowed). With `guard` the memory ends at a page that faults on any access: at the last byte
  // if `bytes` is a multiple of 64, else up to 63 bytes further, as the start stays aligned. In front of it there is such
  // a page too, and less than a page between it and the start that Intact() looks at. kIo if there is no memory.
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

  // What lies in front of a guarded buffer and can be written to is as it was made, or as Mend() left it.
  bool Intact() const;
  void Mend();

  char* data() { return data_; }
  const char* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(data_);
  }

 private:
  char* front() const;  // of what Intact() looks at

  char* data_ = nullptr;
  int64_t bytes_ = 0;
  void* mapping_ = nullptr;
  size_t mapping_bytes_ = 0;
  bool guarded_ = false;
};

}  // namespace hone::runtime

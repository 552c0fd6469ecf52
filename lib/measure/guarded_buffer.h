// Memory for a candidate's buffers with an inaccessible page right behind it: a kernel that runs past its end crashes (and
// is recorded so) instead of spoiling its neighbour.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace hone::measure {

// Owns the mapping. Movable. 64-byte aligned; the end is less than 64 bytes before the guard page. Zeros at first.
class GuardedBuffer {
 public:
  static Result<GuardedBuffer> Create(int64_t bytes);  // kIo if the system has no memory left
  GuardedBuffer() = default;
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&& other) noexcept;
  ~GuardedBuffer();

  char* data() const { return data_; }
  float* floats() const { return reinterpret_cast<float*>(data_); }
  int64_t bytes() const { return bytes_; }

 private:
  void* mapping_ = nullptr;
  size_t mapped_ = 0;
  char* data_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace hone::measure

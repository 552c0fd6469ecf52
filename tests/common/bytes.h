// Buffers of any type as bytes, and back.
#pragma once

#include <cstring>
#include <vector>

namespace hone {

using Bytes = std::vector<unsigned char>;

template <typename T>
Bytes ToBytes(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!bytes.empty()) memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <typename T>
std::vector<T> FromBytes(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace hone

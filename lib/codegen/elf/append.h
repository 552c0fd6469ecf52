// Helpers of the writers of ELF, which append to a file front to back. Only codegen/elf includes this.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hone::codegen {

// The bytes of a trivially copyable struct.
template <typename T>
void AppendValue(std::string* out, const T& value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// Appends zeros up to a multiple of `alignment`.
inline void PadTo(std::string* out, uint64_t alignment) {
  while (out->size() % alignment) out->push_back('\0');
}

// Appends `name`, zero-terminated, to a string table and returns its offset.
inline uint32_t AppendName(std::string* table, std::string_view name) {
  const auto at = static_cast<uint32_t>(table->size());
  table->append(name).push_back('\0');
  return at;
}

}  // namespace hone::codegen

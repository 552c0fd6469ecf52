// How the writers of ELF put a file together, front to back. Only codegen/elf includes this.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hone::codegen {

// The bytes of a plain struct.
template <typename T>
void AppendValue(std::string* out, const T& value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// Zeros up to a multiple of `alignment`.
inline void PadTo(std::string* out, uint64_t alignment) {
  while (out->size() % alignment) out->push_back('\0');
}

// `name`, zero-terminated, at the end of a string table; where it begins there.
inline uint32_t AppendName(std::string* table, std::string_view name) {
  const auto at = static_cast<uint32_t>(table->size());
  table->append(name).push_back('\0');
  return at;
}

}  // namespace hone::codegen

// ELF relocatable objects (x86-64 and AArch64, 64 bit, little endian), as far as a network library needs them:
// read-only tables with pointers in them, and other names for the symbols of an object.
//
// Why not through LLVM: the tables are a few thousand words and pointers; as bytes with relocations they are made in
// microseconds, and this layer stays free of LLVM.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone::library {

// One object with one section of data that holds pointers (.data.rel.ro: read-only once relocated).
class DataObjectWriter {
 public:
  // Bytes so far; what is appended next starts there.
  uint64_t size() const { return bytes_.size(); }
  void AlignTo(uint64_t alignment);  // zeros up to a multiple

  void Add32(uint32_t value) { Append(&value, 4); }
  void Add64(uint64_t value) { Append(&value, 8); }
  void AddDouble(double value) { Append(&value, 8); }
  void AddBytes(std::string_view bytes) { Append(bytes.data(), bytes.size()); }
  // A pointer to offset `target` of this section.
  void AddPointer(uint64_t target);
  // A pointer to a symbol of another object.
  void AddSymbolPointer(const std::string& symbol);
  // The offset of a zero-terminated copy of `text` in this section, made now; equal texts share one.
  // REQUIRES: not in the middle of a struct.
  uint64_t String(const std::string& text);

  // `symbol`: hidden and global, at `offset`. kUnsupported for a triple that is neither x86_64 nor aarch64.
  Result<std::string> Finish(const std::string& symbol, uint64_t offset, const std::string& triple) const;

 private:
  struct Relocation {
    uint64_t at = 0;
    std::string symbol;  // empty: this section
    uint64_t addend = 0;
  };
  void Append(const void* data, size_t size) { bytes_.append(static_cast<const char*>(data), size); }

  std::string bytes_;
  std::vector<Relocation> relocations_;
  std::map<std::string, uint64_t> strings_;
};

// `object` with every symbol's name passed through `rename`. kCorrupt if it is not such an object.
Result<std::string> RenameSymbols(const std::string& object,
                                  const std::function<std::string(std::string_view)>& rename);

}  // namespace hone::library

// A relocatable object (ELF, 64 bit, little endian; x86-64 and AArch64) that contains data with pointers: the tables of
// a network library.
//
// It does not use LLVM: the tables are a few thousand words and pointers, which as bytes with relocations take
// microseconds, and a build without LLVM can make them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codegen/elf/append.h"

namespace hone::codegen {

// One object with one data section that contains pointers (.data.rel.ro: read-only once relocated).
class DataObjectWriter {
 public:
  // Size so far, which is the offset of the next append.
  uint64_t size() const { return bytes_.size(); }
  void AlignTo(uint64_t alignment);  // appends zeros up to a multiple

  // Appends a pointer to an offset of this section, or to a symbol of another object.
  struct To {
    uint64_t offset;
  };
  struct ToSymbol {
    std::string name;
  };
  // Appends the fields of a struct one after the other.
  template <typename... Value>
  void Add(const Value&... values) {
    (AddOne(values), ...);
  }
  // Appends a zero-terminated copy of `text` to this section and returns its offset; equal texts share one copy.
  // REQUIRES: not in the middle of a struct.
  uint64_t String(const std::string& text);

  // Defines `symbol`, hidden and global, at `offset`. Returns kUnsupported for a triple that is neither x86_64 nor
  // aarch64.
  Result<std::string> Finish(const std::string& symbol, uint64_t offset, const std::string& triple) const;

 private:
  void AddOne(uint32_t value) { AppendValue(&bytes_, value); }
  void AddOne(uint64_t value) { AppendValue(&bytes_, value); }
  void AddOne(double value) { AppendValue(&bytes_, value); }
  void AddOne(std::string_view bytes) { bytes_.append(bytes); }
  void AddOne(const To& pointer) { AddPointer({bytes_.size(), "", pointer.offset}); }
  void AddOne(const ToSymbol& pointer) { AddPointer({bytes_.size(), pointer.name, 0}); }

  struct Relocation {
    uint64_t at = 0;
    std::string symbol;  // empty: this section
    uint64_t addend = 0;
  };
  void AddPointer(Relocation relocation);

  std::string bytes_;
  std::vector<Relocation> relocations_;
  std::map<std::string, uint64_t> strings_;
};

}  // namespace hone::codegen

// A relocatable object as the linker and the renamer read it: every offset checked, nothing interpreted. Only
// codegen/elf includes this.
#pragma once

#include <elf.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone::codegen {

struct ElfSection {
  std::string_view name;
  Elf64_Shdr header;
  std::string_view bytes;               // empty if it is all zeros
  std::vector<Elf64_Rela> relocations;  // of this section
};

struct ElfSymbol {
  std::string_view name;
  Elf64_Sym entry;
};

struct ElfObject {
  std::string name;
  uint16_t machine = EM_NONE;
  std::vector<ElfSection> sections;
  std::vector<ElfSymbol> symbols;  // in the order of the one table that there may be
};

// Views into `bytes`. kInvalid, beginning with `name`, if it is no relocatable object of 64 bit, little endian, or
// damaged.
Result<ElfObject> ReadElfObject(const std::string& name, std::string_view bytes);

}  // namespace hone::codegen

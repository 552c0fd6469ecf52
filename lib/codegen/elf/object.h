// A relocatable object as the linker reads it: every offset checked, nothing interpreted. Only codegen/elf includes this.
#pragma once

#include <elf.h>

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
  std::vector<ElfSection> sections;
  std::vector<ElfSymbol> symbols;
};

// Views into `bytes`. kInvalid if it is no object of x86-64, or damaged.
Result<ElfObject> ReadElfObject(const std::string& name, std::string_view bytes);

}  // namespace hone::codegen

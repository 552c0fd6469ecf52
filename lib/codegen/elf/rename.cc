#include "codegen/elf/rename.h"

#include <algorithm>
#include <cstring>

#include "codegen/elf/append.h"
#include "codegen/elf/object.h"

namespace hone::codegen {

Result<std::string> RenameSymbols(const std::string& name, const std::string& object,
                                  const std::function<std::string(std::string_view)>& rename) {
  HONE_ASSIGN_OR_RETURN(const ElfObject read, ReadElfObject(name, object));
  std::vector<Elf64_Shdr> sections;
  for (const ElfSection& section : read.sections) sections.push_back(section.header);
  std::string out = object;
  const auto table =
      std::find_if(sections.begin(), sections.end(), [](const Elf64_Shdr& s) { return s.sh_type == SHT_SYMTAB; });
  if (table == sections.end()) return out;
  // The sections' names may be in the same table: the old names stay, and ours come behind them.
  std::string names(read.sections[table->sh_link].bytes);
  for (size_t i = 0; i < read.symbols.size(); ++i) {
    Elf64_Sym entry = read.symbols[i].entry;
    if (entry.st_name == 0) continue;
    entry.st_name = AppendName(&names, rename(read.symbols[i].name));
    std::memcpy(&out[table->sh_offset + i * sizeof(entry)], &entry, sizeof(entry));
  }
  sections[table->sh_link].sh_offset = out.size();
  sections[table->sh_link].sh_size = names.size();
  out += names;
  PadTo(&out, 8);
  Elf64_Ehdr header;
  std::memcpy(&header, out.data(), sizeof(header));
  header.e_shoff = out.size();
  std::memcpy(out.data(), &header, sizeof(header));
  for (const Elf64_Shdr& section : sections) AppendValue(&out, section);
  return out;
}

}  // namespace hone::codegen

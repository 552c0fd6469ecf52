#include "codegen/elf/rename.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "codegen/elf/append.h"

namespace hone::codegen {
namespace {

// Reads `count` trivially copyable structs at `at`; false if they are not all in the file.
template <typename T>
bool Read(std::string_view bytes, uint64_t at, uint64_t count, std::vector<T>* out) {
  if (at > bytes.size() || count > (bytes.size() - at) / sizeof(T)) return false;
  out->resize(count);
  if (count > 0) std::memcpy(out->data(), bytes.data() + at, count * sizeof(T));
  return true;
}

bool IsRelocatable(const Elf64_Ehdr& header) {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_type == ET_REL;
}

}  // namespace

Result<std::string> RenameSymbols(const std::string& name, const std::string& object,
                                  const std::function<std::string(std::string_view)>& rename) {
  const auto bad = [&](const char* what) { return Status::Invalid(name + ": " + what); };
  std::vector<Elf64_Ehdr> headers;
  if (!Read(object, 0, 1, &headers) || !IsRelocatable(headers[0])) {
    return bad("is not a relocatable ELF object of 64 bits");
  }
  Elf64_Ehdr& header = headers[0];
  std::vector<Elf64_Shdr> sections;
  if (!Read(object, header.e_shoff, header.e_shnum, &sections)) return bad("is damaged: its sections");
  std::string out = object;
  const auto table = std::ranges::find_if(sections, [](const Elf64_Shdr& s) { return s.sh_type == SHT_SYMTAB; });
  if (table == sections.end()) return out;
  std::vector<Elf64_Sym> symbols;
  std::vector<char> old_names;
  if (table->sh_link >= sections.size() ||
      !Read(object, table->sh_offset, table->sh_size / sizeof(Elf64_Sym), &symbols) ||
      !Read(object, sections[table->sh_link].sh_offset, sections[table->sh_link].sh_size, &old_names)) {
    return bad("is damaged: its symbols");
  }
  // The sections' names may be in the same table: keep the old names and append the new ones.
  std::string names(old_names.begin(), old_names.end());
  for (size_t i = 0; i < symbols.size(); ++i) {
    Elf64_Sym& symbol = symbols[i];
    if (symbol.st_name == 0) continue;
    if (symbol.st_name >= old_names.size()) return bad("is damaged: the name of a symbol");
    const std::string_view rest = std::string_view(names).substr(symbol.st_name, old_names.size() - symbol.st_name);
    symbol.st_name = AppendName(&names, rename(rest.substr(0, rest.find('\0'))));
    std::memcpy(&out[table->sh_offset + i * sizeof symbol], &symbol, sizeof symbol);
  }
  sections[table->sh_link].sh_offset = out.size();
  sections[table->sh_link].sh_size = names.size();
  out += names;
  PadTo(&out, 8);
  header.e_shoff = out.size();
  std::memcpy(out.data(), &header, sizeof header);
  for (const Elf64_Shdr& section : sections) AppendValue(&out, section);
  return out;
}

}  // namespace hone::codegen

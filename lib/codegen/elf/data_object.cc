#include "codegen/elf/data_object.h"

#include <elf.h>

#include <cstring>

#include "base/text.h"

namespace hone::codegen {
namespace {

struct Machine {
  uint16_t machine = 0;
  uint32_t abs64 = 0;  // relocation: a 64-bit address
};

Result<Machine> MachineOf(const std::string& triple) {
  if (StartsWith(triple, "x86_64")) return Machine{EM_X86_64, R_X86_64_64};
  if (StartsWith(triple, "aarch64")) return Machine{EM_AARCH64, R_AARCH64_ABS64};
  return Status::Unsupported("objects of data are made for x86_64 and aarch64, not for " + triple);
}

}  // namespace

void DataObjectWriter::AlignTo(uint64_t alignment) { PadTo(&bytes_, alignment); }

void DataObjectWriter::AddPointer(Relocation relocation) {
  relocations_.push_back(std::move(relocation));
  AddOne(uint64_t{0});
}

uint64_t DataObjectWriter::String(const std::string& text) {
  auto [found, added] = strings_.emplace(text, bytes_.size());
  if (added) {
    bytes_ += text;
    bytes_.push_back('\0');
  }
  return found->second;
}

Result<std::string> DataObjectWriter::Finish(const std::string& symbol, uint64_t offset,
                                             const std::string& triple) const {
  HONE_ASSIGN_OR_RETURN(Machine machine, MachineOf(triple));
  enum : uint16_t { kNull, kData, kRela, kSymbols, kStrings, kNames, kStack, kSections };
  // Symbols: null, the section (local), the table, then the symbols that it points to.
  std::string strings(1, '\0');
  std::vector<Elf64_Sym> symbols(3);
  symbols[1].st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION);
  symbols[1].st_shndx = kData;
  symbols[2].st_name = AppendName(&strings, symbol);
  symbols[2].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
  symbols[2].st_other = STV_HIDDEN;
  symbols[2].st_shndx = kData;
  symbols[2].st_value = offset;
  symbols[2].st_size = bytes_.size() - offset;
  std::map<std::string, uint32_t> index;
  std::vector<Elf64_Rela> relocations;
  for (const Relocation& r : relocations_) {
    uint32_t target = 1;
    if (!r.symbol.empty()) {
      auto [found, added] = index.emplace(r.symbol, static_cast<uint32_t>(symbols.size()));
      target = found->second;
      if (added) {
        Elf64_Sym undefined{};
        undefined.st_name = AppendName(&strings, r.symbol);
        undefined.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
        symbols.push_back(undefined);
      }
    }
    relocations.push_back(
        {r.at, ELF64_R_INFO(static_cast<uint64_t>(target), machine.abs64), static_cast<int64_t>(r.addend)});
  }

  std::string names(1, '\0');
  std::vector<Elf64_Shdr> sections(kSections);
  const auto section = [&](uint16_t i, const char* name, uint32_t type, uint64_t flags, uint64_t align, uint64_t at,
                           uint64_t size) {
    sections[i].sh_name = AppendName(&names, name);
    sections[i].sh_type = type;
    sections[i].sh_flags = flags;
    sections[i].sh_addralign = align;
    sections[i].sh_offset = at;
    sections[i].sh_size = size;
  };
  std::string out(sizeof(Elf64_Ehdr), '\0');
  PadTo(&out, 64);
  section(kData, ".data.rel.ro", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 64, out.size(), bytes_.size());
  out += bytes_;
  PadTo(&out, 8);
  section(kRela, ".rela.data.rel.ro", SHT_RELA, SHF_INFO_LINK, 8, out.size(), relocations.size() * sizeof(Elf64_Rela));
  for (const Elf64_Rela& r : relocations) AppendValue(&out, r);
  sections[kRela].sh_link = kSymbols;
  sections[kRela].sh_info = kData;
  sections[kRela].sh_entsize = sizeof(Elf64_Rela);
  section(kSymbols, ".symtab", SHT_SYMTAB, 0, 8, out.size(), symbols.size() * sizeof(Elf64_Sym));
  for (const Elf64_Sym& s : symbols) AppendValue(&out, s);
  sections[kSymbols].sh_link = kStrings;
  sections[kSymbols].sh_info = 2;  // the first non-local symbol
  sections[kSymbols].sh_entsize = sizeof(Elf64_Sym);
  section(kStrings, ".strtab", SHT_STRTAB, 0, 1, out.size(), strings.size());
  out += strings;
  section(kStack, ".note.GNU-stack", SHT_PROGBITS, 0, 1, out.size(), 0);
  const uint64_t names_at = out.size();
  section(kNames, ".shstrtab", SHT_STRTAB, 0, 1, names_at, 0);
  sections[kNames].sh_size = names.size();
  out += names;
  PadTo(&out, 8);

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = machine.machine;
  header.e_version = EV_CURRENT;
  header.e_shoff = out.size();
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = kSections;
  header.e_shstrndx = kNames;
  std::memcpy(out.data(), &header, sizeof(header));
  for (const Elf64_Shdr& s : sections) AppendValue(&out, s);
  return out;
}

}  // namespace hone::codegen

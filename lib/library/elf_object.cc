#include "library/elf_object.h"

#include <elf.h>

#include <cstring>

#include "base/text.h"

namespace hone::library {
namespace {

struct Machine {
  uint16_t machine = 0;
  uint32_t abs64 = 0;  // relocation: a 64-bit address
};

Result<Machine> MachineOf(const std::string& triple) {
  if (StartsWith(triple, "x86_64")) return Machine{EM_X86_64, R_X86_64_64};
  if (StartsWith(triple, "aarch64")) return Machine{EM_AARCH64, R_AARCH64_ABS64};
  return Status::Unsupported("network libraries are made for x86_64 and aarch64, not for " + triple);
}

template <typename T>
uint64_t Put(std::string* out, const T& value) {
  const uint64_t at = out->size();
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
  return at;
}

void Pad(std::string* out, uint64_t alignment) {
  while (out->size() % alignment) out->push_back('\0');
}

uint32_t PutName(std::string* table, const std::string& name) {
  const auto at = static_cast<uint32_t>(table->size());
  *table += name;
  table->push_back('\0');
  return at;
}

}  // namespace

void DataObjectWriter::AlignTo(uint64_t alignment) { Pad(&bytes_, alignment); }

void DataObjectWriter::AddPointer(uint64_t target) {
  relocations_.push_back({bytes_.size(), "", target});
  Add64(0);
}

void DataObjectWriter::AddSymbolPointer(const std::string& symbol) {
  relocations_.push_back({bytes_.size(), symbol, 0});
  Add64(0);
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
  // Symbols: null, the section (local), the table, then what it points to.
  std::string strings(1, '\0');
  std::vector<Elf64_Sym> symbols(3);
  symbols[1].st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION);
  symbols[1].st_shndx = kData;
  symbols[2].st_name = PutName(&strings, symbol);
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
        undefined.st_name = PutName(&strings, r.symbol);
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
    sections[i].sh_name = PutName(&names, name);
    sections[i].sh_type = type;
    sections[i].sh_flags = flags;
    sections[i].sh_addralign = align;
    sections[i].sh_offset = at;
    sections[i].sh_size = size;
  };
  std::string out(sizeof(Elf64_Ehdr), '\0');
  Pad(&out, 64);
  section(kData, ".data.rel.ro", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 64, out.size(), bytes_.size());
  out += bytes_;
  Pad(&out, 8);
  section(kRela, ".rela.data.rel.ro", SHT_RELA, SHF_INFO_LINK, 8, out.size(), relocations.size() * sizeof(Elf64_Rela));
  for (const Elf64_Rela& r : relocations) Put(&out, r);
  sections[kRela].sh_link = kSymbols;
  sections[kRela].sh_info = kData;
  sections[kRela].sh_entsize = sizeof(Elf64_Rela);
  section(kSymbols, ".symtab", SHT_SYMTAB, 0, 8, out.size(), symbols.size() * sizeof(Elf64_Sym));
  for (const Elf64_Sym& s : symbols) Put(&out, s);
  sections[kSymbols].sh_link = kStrings;
  sections[kSymbols].sh_info = 2;  // the first symbol that is not local
  sections[kSymbols].sh_entsize = sizeof(Elf64_Sym);
  section(kStrings, ".strtab", SHT_STRTAB, 0, 1, out.size(), strings.size());
  out += strings;
  section(kStack, ".note.GNU-stack", SHT_PROGBITS, 0, 1, out.size(), 0);
  const uint64_t names_at = out.size();
  section(kNames, ".shstrtab", SHT_STRTAB, 0, 1, names_at, 0);
  sections[kNames].sh_size = names.size();
  out += names;
  Pad(&out, 8);

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
  for (const Elf64_Shdr& s : sections) Put(&out, s);
  return out;
}

Result<std::string> RenameSymbols(const std::string& object,
                                  const std::function<std::string(std::string_view)>& rename) {
  const Status bad = Status::Corrupt("not an ELF object of 64 bit");
  Elf64_Ehdr header;
  if (object.size() < sizeof(header)) return bad;
  std::memcpy(&header, object.data(), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_type != ET_REL || header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > object.size() ||
      header.e_shnum * sizeof(Elf64_Shdr) > object.size() - header.e_shoff) {
    return bad;
  }
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), object.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  for (const Elf64_Shdr& s : sections) {
    if (s.sh_type != SHT_NOBITS && (s.sh_offset > object.size() || s.sh_size > object.size() - s.sh_offset)) return bad;
  }
  std::string out = object;
  for (const Elf64_Shdr& table : sections) {
    if (table.sh_type != SHT_SYMTAB || table.sh_link >= sections.size()) continue;
    Elf64_Shdr& old = sections[table.sh_link];
    const std::string_view names(object.data() + old.sh_offset, old.sh_size);
    std::string strings(1, '\0');
    for (uint64_t at = table.sh_offset; at + sizeof(Elf64_Sym) <= table.sh_offset + table.sh_size;
         at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, object.data() + at, sizeof(symbol));
      if (symbol.st_name == 0) continue;
      if (symbol.st_name >= names.size()) return bad;
      std::string_view name = names.substr(symbol.st_name);
      symbol.st_name = PutName(&strings, rename(name.substr(0, name.find('\0'))));
      std::memcpy(out.data() + at, &symbol, sizeof(symbol));
    }
    // Names of sections may live in the same string table: keep it, and append ours. Indices then shift by its size.
    for (uint64_t at = table.sh_offset; at + sizeof(Elf64_Sym) <= table.sh_offset + table.sh_size;
         at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, out.data() + at, sizeof(symbol));
      if (symbol.st_name == 0) continue;
      symbol.st_name += static_cast<uint32_t>(names.size());
      std::memcpy(out.data() + at, &symbol, sizeof(symbol));
    }
    const std::string joined = std::string(names) + strings;
    old.sh_offset = out.size();
    old.sh_size = joined.size();
    out += joined;
  }
  Pad(&out, 8);
  header.e_shoff = out.size();
  std::memcpy(out.data(), &header, sizeof(header));
  for (const Elf64_Shdr& s : sections) Put(&out, s);
  return out;
}

}  // namespace hone::library

#include "codegen/elf/object.h"

#include <cstring>

namespace hone::codegen {
namespace {

class Reader {
 public:
  Reader(const std::string& name, std::string_view bytes) : name_(name), bytes_(bytes) {}

  Result<ElfObject> Read() {
    Elf64_Ehdr header;
    if (bytes_.size() < sizeof(header)) return Bad("is not an object file");
    std::memcpy(&header, bytes_.data(), sizeof(header));
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_REL) {
      return Bad("is not a relocatable ELF object of 64 bits");
    }
    ElfObject object{name_, header.e_machine, {}, {}};
    std::vector<Elf64_Shdr> headers;
    if (!Table(header.e_shoff, header.e_shnum, &headers)) return Bad("is damaged: its sections");
    if (header.e_shstrndx >= headers.size()) return Bad("is damaged: the names of its sections");
    for (const Elf64_Shdr& h : headers) {
      ElfSection section{Text(headers[header.e_shstrndx], h.sh_name), h, {}, {}};
      if (h.sh_type != SHT_NOBITS && h.sh_type != SHT_NULL) {
        if (h.sh_offset > bytes_.size() || h.sh_size > bytes_.size() - h.sh_offset) return Bad("is damaged: a section");
        section.bytes = bytes_.substr(h.sh_offset, h.sh_size);
      }
      if (h.sh_addralign > 4096 || (h.sh_addralign & (h.sh_addralign - 1))) return Bad("has an invalid alignment");
      if (h.sh_size > kMost) return Bad("has a section of more than 2 GiB");
      object.sections.push_back(std::move(section));
    }
    for (const Elf64_Shdr& h : headers) {
      if (h.sh_type == SHT_SYMTAB) {
        if (!object.symbols.empty()) return Bad("is damaged: it has two tables of symbols");
        std::vector<Elf64_Sym> symbols;
        if (h.sh_link >= headers.size() || !Table(h.sh_offset, h.sh_size / sizeof(Elf64_Sym), &symbols)) {
          return Bad("is damaged: its symbols");
        }
        for (const Elf64_Sym& s : symbols) object.symbols.push_back({Text(headers[h.sh_link], s.st_name), s});
      }
      if (h.sh_type == SHT_RELA) {
        if (h.sh_info >= headers.size()) return Bad("is damaged: its relocations");
        if (!Table(h.sh_offset, h.sh_size / sizeof(Elf64_Rela), &object.sections[h.sh_info].relocations)) {
          return Bad("is damaged: its relocations");
        }
      }
    }
    for (const ElfSection& section : object.sections) {
      for (const Elf64_Rela& r : section.relocations) {
        if (ELF64_R_SYM(r.r_info) >= object.symbols.size() || r.r_offset > section.bytes.size()) {
          return Bad("is damaged: a relocation");
        }
      }
    }
    for (const ElfSymbol& s : object.symbols) {
      const uint16_t at = s.entry.st_shndx;
      if (at < SHN_LORESERVE && at >= object.sections.size()) return Bad("is damaged: a symbol's section");
    }
    return object;
  }

 private:
  static constexpr uint64_t kMost = uint64_t{1} << 31;

  Status Bad(const std::string& what) const { return Status::Invalid(name_ + ": " + what); }

  template <typename T>
  bool Table(uint64_t at, uint64_t count, std::vector<T>* out) const {
    if (at > bytes_.size() || count > (bytes_.size() - at) / sizeof(T)) return false;
    out->resize(count);
    if (count > 0) std::memcpy(out->data(), bytes_.data() + at, count * sizeof(T));
    return true;
  }

  // Empty if it is not there.
  std::string_view Text(const Elf64_Shdr& strings, uint64_t at) const {
    if (strings.sh_offset > bytes_.size() || strings.sh_size > bytes_.size() - strings.sh_offset) return {};
    const std::string_view all = bytes_.substr(strings.sh_offset, strings.sh_size);
    if (at >= all.size()) return {};
    const std::string_view rest = all.substr(at);
    return rest.substr(0, rest.find('\0'));
  }

  const std::string& name_;
  std::string_view bytes_;
};

}  // namespace

Result<ElfObject> ReadElfObject(const std::string& name, std::string_view bytes) { return Reader(name, bytes).Read(); }

}  // namespace hone::codegen

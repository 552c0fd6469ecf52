#include "codegen/elf/link_parts.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>

namespace hone::codegen {
namespace {

constexpr char kTlsBase[] = "_TLS_MODULE_BASE_", kGotBase[] = "_GLOBAL_OFFSET_TABLE_";

Status CheckKnown(const ElfObject& object) {
  const auto bad = [&](const std::string& what) { return Status::Invalid(object.name + ": " + what); };
  if (object.machine != EM_X86_64) return bad("is of another machine than x86-64");
  for (const ElfSection& s : object.sections) {
    const uint32_t type = s.header.sh_type;
    if (type == SHT_REL || type == SHT_GROUP) return bad("has sections that only C++ or 32 bits need");
  }
  for (const ElfSymbol& s : object.symbols) {
    if (s.entry.st_shndx == SHN_COMMON) return bad(fmt::format("has a common symbol: `{}`", s.name));
  }
  return Status();
}

Kind KindOf(const ElfSection& s) {
  const uint64_t flags = s.header.sh_flags;
  const bool zeros = s.header.sh_type == SHT_NOBITS;
  if (flags & SHF_TLS) return zeros ? Kind::kTlsZero : Kind::kTls;
  if (s.header.sh_type == SHT_INIT_ARRAY) return Kind::kInit;
  if (s.header.sh_type == SHT_FINI_ARRAY) return Kind::kFini;
  if (flags & SHF_EXECINSTR) return Kind::kCode;
  if (!(flags & SHF_WRITE)) return Kind::kRead;
  if (s.name.starts_with(".data.rel.ro")) return Kind::kRelocated;
  return zeros ? Kind::kZero : Kind::kData;
}

}  // namespace

Status LinkParts::Read(const std::vector<LinkInput>& inputs, bool need_libc) {
  need_libc_ = need_libc;
  for (const LinkInput& input : inputs) {
    HONE_ASSIGN_OR_RETURN(ElfObject object, ReadElfObject(input.name, input.bytes));
    HONE_RETURN_IF_ERROR(CheckKnown(object));
    objects_.push_back(std::move(object));
  }
  for (const ElfObject& object : objects_) {
    for (size_t i = 0; i < object.sections.size(); ++i) {
      const ElfSection& s = object.sections[i];
      // Frames are for exceptions and debuggers.
      if (!(s.header.sh_flags & SHF_ALLOC) || s.name == ".eh_frame" || s.header.sh_type == SHT_NOTE) continue;
      pieces_.push_back({&object, i, KindOf(s)});
    }
  }
  std::stable_sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) { return a.kind < b.kind; });
  for (size_t i = 0; i < pieces_.size(); ++i) piece_of_[{pieces_[i].object, pieces_[i].section}] = i;
  for (const ElfObject& object : objects_) {
    for (const ElfSymbol& s : object.symbols) {
      if (ELF64_ST_BIND(s.entry.st_info) == STB_LOCAL || s.entry.st_shndx == SHN_UNDEF) continue;
      auto [found, added] = defined_.emplace(s.name, Defined{&object, &s});
      if (added) continue;
      const bool weak = ELF64_ST_BIND(s.entry.st_info) == STB_WEAK;
      const bool was_weak = ELF64_ST_BIND(found->second.symbol->entry.st_info) == STB_WEAK;
      if (!weak && !was_weak) {
        return Status::Invalid(
            fmt::format("`{}` is defined in {} and in {}", s.name, found->second.object->name, object.name));
      }
      if (was_weak && !weak) found->second = {&object, &s};
    }
  }
  return Status();
}

Result<Place> LinkParts::PlaceOf(const ElfObject& object, const ElfSymbol& s) const {
  if (s.entry.st_shndx == SHN_ABS) return Place{Place::kNumber, 0, s.entry.st_value};
  const auto found = piece_of_.find({&object, s.entry.st_shndx});
  if (found != piece_of_.end()) return Place{Place::kPiece, found->second, s.entry.st_value};
  return Status::Invalid(fmt::format("{}: `{}` is in a section that is not loaded", object.name, s.name));
}

Result<Place> LinkParts::Find(const ElfObject& object, size_t symbol) {
  const ElfSymbol& s = object.symbols[symbol];
  if (s.entry.st_shndx != SHN_UNDEF) return PlaceOf(object, s);
  if (symbol == 0 || s.name == kTlsBase || s.name == kGotBase) return Place();
  const auto found = defined_.find(s.name);
  if (found != defined_.end()) return PlaceOf(*found->second.object, *found->second.symbol);
  const std::string name(s.name);
  auto known = import_of_.find(name);
  if (known == import_of_.end()) {
    if (!need_libc_ || dlsym(RTLD_DEFAULT, name.c_str()) == nullptr) {
      return Status::Invalid(fmt::format("undefined symbol `{}`, referenced by {}", name, object.name));
    }
    known = import_of_.emplace(name, imports_.size()).first;
    imports_.push_back(name);
  }
  return Place{Place::kImport, known->second, 0};
}

}  // namespace hone::codegen

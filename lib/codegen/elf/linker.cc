#include "codegen/elf/linker.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>

#include "codegen/elf/link_parts.h"

namespace hone::codegen {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kStub = 8;  // jmp *slot(%rip), padded

uint64_t Up(uint64_t value, uint64_t alignment) { return (value + alignment - 1) & ~(alignment - 1); }

class Linker {
 public:
  Linker(const std::vector<LinkInput>& inputs, const LinkOptions& options) : inputs_(inputs), options_(options) {}

  Result<std::string> Run() {
    HONE_RETURN_IF_ERROR(parts_.Read(inputs_, options_.need_libc));
    HONE_RETURN_IF_ERROR(ForAll(&Linker::Scan));
    HONE_RETURN_IF_ERROR(ChooseExports());
    LayOut();
    WritePieces();
    HONE_RETURN_IF_ERROR(ForAll(&Linker::Apply));
    WriteSlots();
    WriteTables();
    return std::move(out_);
  }

 private:
  struct Site {
    const Piece& piece;
    const Elf64_Rela& relocation;
  };

  Status ForAll(Status (Linker::*what)(const Site& site, const Place& place)) {
    for (const Piece& piece : parts_.pieces()) {
      for (const Elf64_Rela& r : piece.object->sections[piece.section].relocations) {
        HONE_ASSIGN_OR_RETURN(const Place place, parts_.Find(*piece.object, ELF64_R_SYM(r.r_info)));
        HONE_RETURN_IF_ERROR((this->*what)({piece, r}, place));
      }
    }
    return Status();
  }

  Status Scan(const Site& site, const Place& place) {
    const bool writable = site.piece.kind != Kind::kRead && site.piece.kind != Kind::kCode;
    uint64_t bytes = 4;
    switch (const auto type = ELF64_R_TYPE(site.relocation.r_info)) {
      case R_X86_64_NONE:
      case R_X86_64_TLSDESC_CALL:
        bytes = 0;
        break;
      case R_X86_64_PC32:
      case R_X86_64_PLT32:
        if (place.where == Place::kImport) stubs_.emplace(place, stubs_.size());
        if (place.where == Place::kImport) slots_.emplace(place, slots_.size());
        break;
      case R_X86_64_GOTPCREL:
      case R_X86_64_GOTPCRELX:
      case R_X86_64_REX_GOTPCRELX:
        slots_.emplace(place, slots_.size());
        break;
      case R_X86_64_GOTPC32_TLSDESC:
        descriptors_.emplace(place, descriptors_.size());
        break;
      case R_X86_64_DTPOFF32:
      case R_X86_64_GOTPC32:
        break;
      case R_X86_64_64:
        bytes = 8;
        if (!writable && place.where != Place::kNumber)
          return Bad(site, "is a pointer in memory that cannot be written");
        pointers_ += place.where != Place::kNumber;
        break;
      default:
        return Bad(site, fmt::format("is of type {}, which is not supported; compile with -fPIC", type));
    }
    const uint64_t size = site.piece.object->sections[site.piece.section].bytes.size();
    return site.relocation.r_offset + bytes <= size ? Status() : Bad(site, "is outside its section");
  }

  Status Bad(const Site& site, const std::string& what) const {
    return Status::Invalid(fmt::format("{}: a relocation of {} {}", site.piece.object->name,
                                       site.piece.object->sections[site.piece.section].name, what));
  }

  Status ChooseExports() {
    std::set<std::string_view> names(options_.exports.begin(), options_.exports.end());
    if (names.empty()) {
      for (const auto& [name, where] : parts_.defined()) {
        if (ELF64_ST_VISIBILITY(where.symbol->entry.st_other) == STV_DEFAULT) names.insert(name);
      }
    }
    for (const std::string_view name : names) {
      const auto found = parts_.defined().find(name);
      if (found == parts_.defined().end())
        return Status::Invalid(fmt::format("`{}` is to be exported, but not defined", name));
      HONE_ASSIGN_OR_RETURN(const Place place, parts_.PlaceOf(*found->second.object, *found->second.symbol));
      exports_.push_back({name, place, found->second.symbol->entry});
    }
    return Status();
  }

  uint64_t Section(uint64_t* at, uint64_t size, uint64_t alignment = 8) {
    const uint64_t begin = *at = Up(*at, alignment);
    *at += size;
    return begin;
  }

  void LayPieces(Kind first, Kind last, uint64_t* at) {
    for (Piece& piece : parts_.pieces()) {
      if (piece.kind < first || piece.kind > last) continue;
      const Elf64_Shdr& header = piece.object->sections[piece.section].header;
      piece.address = Section(at, header.sh_size, std::max<uint64_t>(header.sh_addralign, 1));
    }
  }

  // Addresses are offsets in the file.
  void LayOut() {
    strings_.push_back('\0');
    const auto string = [this](std::string_view text) {
      const uint64_t offset = strings_.size();
      strings_.append(text).push_back('\0');
      return static_cast<uint32_t>(offset);
    };
    for (const std::string& name : parts_.imports()) import_names_.push_back(string(name));
    for (const auto& e : exports_) export_names_.push_back(string(e.name));
    soname_ = options_.soname.empty() ? 0 : string(options_.soname);
    libc_ = options_.need_libc ? string("libc.so.6") : 0;
    libdl_ = options_.need_libdl ? string("libdl.so.2") : 0;
    uint64_t at = sizeof(Elf64_Ehdr) + kHeaders * sizeof(Elf64_Phdr);
    const uint64_t symbols = 1 + parts_.imports().size() + exports_.size();
    symbols_at_ = Section(&at, symbols * sizeof(Elf64_Sym));
    hash_at_ = Section(&at, (2 + 1 + symbols) * 4);
    strings_at_ = Section(&at, strings_.size(), 1);
    relocations_ = pointers_ + slots_.size() + descriptors_.size();
    for (const auto& [place, slot] : slots_) relocations_ -= place.where == Place::kNumber;
    relocations_at_ = Section(&at, relocations_ * sizeof(Elf64_Rela));
    LayPieces(Kind::kRead, Kind::kRead, &at);
    read_end_ = at;
    code_at_ = at = Up(at, kPage);
    LayPieces(Kind::kCode, Kind::kCode, &at);
    stubs_at_ = Section(&at, stubs_.size() * kStub, 16);
    code_end_ = at;
    relro_at_ = at = Up(at, kPage);
    for (const Piece& p : parts_.pieces()) {
      if (p.kind != Kind::kTls && p.kind != Kind::kTlsZero) continue;
      tls_alignment_ = std::max(tls_alignment_, p.object->sections[p.section].header.sh_addralign);
    }
    tls_at_ = at = Up(at, tls_alignment_);
    LayPieces(Kind::kTls, Kind::kTls, &at);
    tls_bytes_ = at - tls_at_;
    uint64_t tls = tls_bytes_;
    for (Piece& p : parts_.pieces()) {
      const Elf64_Shdr& header = p.object->sections[p.section].header;
      if (p.kind == Kind::kTls) p.tls = p.address - tls_at_;
      if (p.kind == Kind::kTlsZero) p.tls = Section(&tls, header.sh_size, std::max<uint64_t>(header.sh_addralign, 1));
    }
    tls_size_ = tls;
    init_at_ = at = Up(at, 8);
    LayPieces(Kind::kInit, Kind::kInit, &at);
    init_bytes_ = at - init_at_;
    fini_at_ = at = Up(at, 8);
    LayPieces(Kind::kFini, Kind::kFini, &at);
    fini_bytes_ = at - fini_at_;
    LayPieces(Kind::kRelocated, Kind::kRelocated, &at);
    dynamic_at_ = Section(&at, kDynamic * sizeof(Elf64_Dyn));
    slots_at_ = Section(&at, slots_.size() * 8 + descriptors_.size() * 16, 16);
    relro_end_ = at = Up(at, kPage);
    LayPieces(Kind::kData, Kind::kData, &at);
    file_end_ = at;
    LayPieces(Kind::kZero, Kind::kZero, &at);
    memory_end_ = at;
    out_.assign(file_end_, '\0');
  }

  void WritePieces() {
    for (const Piece& piece : parts_.pieces()) {
      const std::string_view bytes = piece.object->sections[piece.section].bytes;
      if (!bytes.empty()) std::memcpy(&out_[piece.address], bytes.data(), bytes.size());
    }
  }

  template <typename T>
  void Put(uint64_t at, const T& value) {
    std::memcpy(&out_[at], &value, sizeof(value));
  }

  uint64_t Address(const Place& place) {
    return place.where == Place::kPiece ? parts_.pieces()[place.index].address + place.offset : place.offset;
  }
  uint64_t TlsOffset(const Place& place) {
    return place.where == Place::kPiece ? parts_.pieces()[place.index].tls + place.offset : 0;
  }
  uint64_t SlotAt(const Place& place) const { return slots_at_ + 8 * slots_.at(place); }
  uint64_t DescriptorAt(const Place& place) const {
    return slots_at_ + 8 * slots_.size() + 16 * descriptors_.at(place);
  }

  // A word that the loader fills in: with an address of ours, or of libc.
  void Dynamic(uint64_t at, const Place& place, int64_t addend, uint32_t import_type) {
    if (place.where == Place::kNumber) {
      Put(at, place.offset + static_cast<uint64_t>(addend));
      return;
    }
    Elf64_Rela r{at, R_X86_64_RELATIVE, static_cast<int64_t>(Address(place)) + addend};
    if (place.where == Place::kImport) {
      r = {at, ELF64_R_INFO(static_cast<uint64_t>(place.index + 1), import_type), addend};
    }
    dynamic_.push_back(r);
  }

  Status Apply(const Site& site, const Place& place) {
    const Elf64_Rela& r = site.relocation;
    const uint64_t at = site.piece.address + r.r_offset;
    uint64_t to = 0;
    switch (ELF64_R_TYPE(r.r_info)) {
      case R_X86_64_NONE:
      case R_X86_64_TLSDESC_CALL:
        return Status();
      case R_X86_64_64:
        Dynamic(at, place, r.r_addend, R_X86_64_64);
        return Status();
      case R_X86_64_DTPOFF32:
        Put(at, static_cast<int32_t>(TlsOffset(place) + static_cast<uint64_t>(r.r_addend)));
        return Status();
      case R_X86_64_GOTPC32:
        to = slots_at_;
        break;
      case R_X86_64_GOTPC32_TLSDESC:
        to = DescriptorAt(place);
        break;
      case R_X86_64_GOTPCREL:
      case R_X86_64_GOTPCRELX:
      case R_X86_64_REX_GOTPCRELX:
        to = SlotAt(place);
        break;
      default:
        to = place.where == Place::kImport ? stubs_at_ + kStub * stubs_.at(place) : Address(place);
    }
    const int64_t distance = static_cast<int64_t>(to) + r.r_addend - static_cast<int64_t>(at);
    if (distance != static_cast<int32_t>(distance)) return Bad(site, "reaches further than 2 GiB");
    Put(at, static_cast<int32_t>(distance));
    return Status();
  }

  void WriteSlots() {
    for (const auto& [place, slot] : slots_) Dynamic(SlotAt(place), place, 0, R_X86_64_GLOB_DAT);
    for (const auto& [place, slot] : descriptors_) {
      dynamic_.push_back({DescriptorAt(place), R_X86_64_TLSDESC, static_cast<int64_t>(TlsOffset(place))});
    }
    for (const auto& [place, stub] : stubs_) {
      const uint64_t at = stubs_at_ + kStub * stub;
      const char code[kStub] = {'\xff', '\x25', 0, 0, 0, 0, '\x66', '\x90'};
      std::memcpy(&out_[at], code, kStub);
      Put(at + 2, static_cast<int32_t>(SlotAt(place) - (at + 6)));
    }
  }

  static uint32_t Hash(std::string_view name) {
    uint32_t h = 0;
    for (const char c : name) {
      h = (h << 4) + static_cast<unsigned char>(c);
      const uint32_t high = h & 0xf0000000u;
      h = (h ^ (high >> 24)) & ~high;
    }
    return h;
  }

  void WriteTables() {
    std::memcpy(&out_[strings_at_], strings_.data(), strings_.size());
    uint64_t at = symbols_at_ + sizeof(Elf64_Sym);
    for (const uint32_t name : import_names_) {
      Elf64_Sym s{};
      s.st_name = name;
      s.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
      Put(at, s);
      at += sizeof(s);
    }
    for (size_t i = 0; i < exports_.size(); ++i) {
      Elf64_Sym s = exports_[i].entry;
      s.st_name = export_names_[i];
      s.st_info = ELF64_ST_INFO(STB_GLOBAL, ELF64_ST_TYPE(s.st_info));
      s.st_other = STV_DEFAULT;
      s.st_value = Address(exports_[i].place);
      s.st_shndx = exports_[i].place.where == Place::kNumber ? SHN_ABS : 1;  // anything but undefined
      Put(at, s);
      at += sizeof(s);
    }
    // One bucket: a library shows a dozen names.
    const uint32_t count = static_cast<uint32_t>(1 + parts_.imports().size() + exports_.size());
    Put(hash_at_, std::array<uint32_t, 3>{1, count, count > 1 ? 1u : 0u});
    for (uint32_t i = 1; i < count; ++i) Put(hash_at_ + 12 + 4 * i, i + 1 < count ? i + 1 : 0u);
    // The loader takes those without a symbol first.
    std::stable_sort(dynamic_.begin(), dynamic_.end(), [](const Elf64_Rela& a, const Elf64_Rela& b) {
      return (ELF64_R_TYPE(a.r_info) == R_X86_64_RELATIVE) > (ELF64_R_TYPE(b.r_info) == R_X86_64_RELATIVE);
    });
    for (size_t i = 0; i < dynamic_.size(); ++i) Put(relocations_at_ + i * sizeof(Elf64_Rela), dynamic_[i]);
    WriteDynamic();
    WriteHeaders();
  }

  void WriteDynamic() {
    std::vector<std::pair<int64_t, uint64_t>> entries;
    for (const uint64_t needed : {libdl_, libc_}) {
      if (needed) entries.emplace_back(DT_NEEDED, needed);
    }
    if (soname_) entries.emplace_back(DT_SONAME, soname_);
    entries.insert(entries.end(), {{DT_HASH, hash_at_},
                                   {DT_STRTAB, strings_at_},
                                   {DT_STRSZ, strings_.size()},
                                   {DT_SYMTAB, symbols_at_},
                                   {DT_SYMENT, sizeof(Elf64_Sym)},
                                   {DT_FLAGS, DF_BIND_NOW | DF_SYMBOLIC},
                                   {DT_FLAGS_1, DF_1_NOW}});
    if (relocations_ > 0) {
      entries.insert(entries.end(), {{DT_RELA, relocations_at_},
                                     {DT_RELASZ, relocations_ * sizeof(Elf64_Rela)},
                                     {DT_RELAENT, sizeof(Elf64_Rela)}});
    }
    if (init_bytes_) entries.insert(entries.end(), {{DT_INIT_ARRAY, init_at_}, {DT_INIT_ARRAYSZ, init_bytes_}});
    if (fini_bytes_) entries.insert(entries.end(), {{DT_FINI_ARRAY, fini_at_}, {DT_FINI_ARRAYSZ, fini_bytes_}});
    for (size_t i = 0; i < entries.size(); ++i) {
      Elf64_Dyn d;
      d.d_tag = entries[i].first;
      d.d_un.d_val = entries[i].second;
      Put(dynamic_at_ + i * sizeof(d), d);
    }
  }

  void WriteHeaders() {
    std::vector<Elf64_Phdr> headers;
    const auto add = [&](uint32_t type, uint32_t flags, uint64_t begin, uint64_t file_end, uint64_t memory_end,
                         uint64_t alignment) {
      headers.push_back({type, flags, begin, begin, begin, file_end - begin, memory_end - begin, alignment});
    };
    add(PT_LOAD, PF_R, 0, read_end_, read_end_, kPage);
    if (code_end_ > code_at_) add(PT_LOAD, PF_R | PF_X, code_at_, code_end_, code_end_, kPage);
    add(PT_LOAD, PF_R | PF_W, relro_at_, file_end_, memory_end_, kPage);
    add(PT_DYNAMIC, PF_R | PF_W, dynamic_at_, dynamic_at_ + kDynamic * sizeof(Elf64_Dyn),
        dynamic_at_ + kDynamic * sizeof(Elf64_Dyn), 8);
    add(PT_GNU_RELRO, PF_R, relro_at_, relro_end_, relro_end_, 1);
    if (tls_size_) add(PT_TLS, PF_R, tls_at_, tls_at_ + tls_bytes_, tls_at_ + tls_size_, tls_alignment_);
    headers.push_back({PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 0, 16});
    Elf64_Ehdr h{};
    std::memcpy(h.e_ident, ELFMAG, SELFMAG);
    h.e_ident[EI_CLASS] = ELFCLASS64;
    h.e_ident[EI_DATA] = ELFDATA2LSB;
    h.e_ident[EI_VERSION] = EV_CURRENT;
    h.e_type = ET_DYN;
    h.e_machine = EM_X86_64;
    h.e_version = EV_CURRENT;
    h.e_phoff = sizeof(h);
    h.e_ehsize = sizeof(h);
    h.e_phentsize = sizeof(Elf64_Phdr);
    h.e_phnum = static_cast<uint16_t>(headers.size());
    h.e_shentsize = sizeof(Elf64_Shdr);
    Put(0, h);
    for (size_t i = 0; i < headers.size(); ++i) Put(sizeof(h) + i * sizeof(Elf64_Phdr), headers[i]);
  }

  static constexpr uint64_t kHeaders = 7, kDynamic = 20;  // at most

  struct Export {
    std::string_view name;
    Place place;
    Elf64_Sym entry;
  };

  const std::vector<LinkInput>& inputs_;
  const LinkOptions& options_;
  LinkParts parts_;
  std::vector<Export> exports_;
  std::map<Place, uint64_t> slots_, stubs_, descriptors_;
  uint64_t pointers_ = 0, relocations_ = 0;
  std::vector<Elf64_Rela> dynamic_;
  std::string strings_, out_;
  std::vector<uint32_t> import_names_, export_names_;
  uint64_t soname_ = 0, libc_ = 0, libdl_ = 0;
  uint64_t symbols_at_ = 0, hash_at_ = 0, strings_at_ = 0, relocations_at_ = 0, read_end_ = 0, code_at_ = 0,
           stubs_at_ = 0, code_end_ = 0, relro_at_ = 0, relro_end_ = 0, dynamic_at_ = 0, slots_at_ = 0, file_end_ = 0,
           memory_end_ = 0;
  uint64_t tls_at_ = 0, tls_bytes_ = 0, tls_size_ = 0, tls_alignment_ = 1;
  uint64_t init_at_ = 0, init_bytes_ = 0, fini_at_ = 0, fini_bytes_ = 0;
};

}  // namespace

Result<std::string> LinkElf(const std::vector<LinkInput>& inputs, const LinkOptions& options) {
  return Linker(inputs, options).Run();
}

}  // namespace hone::codegen

// The input of a link: the sections that are loaded, as pieces, and the place of each symbol. Only codegen/elf includes
// this.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "codegen/elf/linker.h"
#include "codegen/elf/object.h"

namespace hone::codegen {

// In the order of addresses. Variables of a thread that begin as zeros have no address, only an offset.
enum class Kind { kRead, kCode, kTls, kInit, kFini, kRelocated, kData, kZero, kTlsZero };

struct Piece {
  const ElfObject* object;
  size_t section;
  Kind kind;
  uint64_t address = 0;  // an offset in the file, once the linker has laid it out
  uint64_t tls = 0;      // its offset among the variables of a thread
};

// Where a symbol is: in a piece, in libc (an index into the imports), or a number.
struct Place {
  enum { kPiece, kImport, kNumber } where = kNumber;
  size_t index = 0;
  uint64_t offset = 0;
  auto operator<=>(const Place&) const = default;
};

class LinkParts {
 public:
  // kInvalid with the input's name: no object of this machine's C, or a symbol that is defined twice. Once only.
  Status Read(const std::vector<LinkInput>& inputs, bool need_libc);

  std::vector<Piece>& pieces() { return pieces_; }  // by kind
  const std::vector<std::string>& imports() const { return imports_; }

  // The place of symbol `symbol` of an object, as its relocations name it: where it is defined, among all objects. One
  // that is libc's becomes an import. kInvalid if it is nowhere.
  Result<Place> Find(const ElfObject& object, size_t symbol);

  struct Defined {
    const ElfObject* object;
    const ElfSymbol* symbol;
  };
  const std::map<std::string_view, Defined>& defined() const { return defined_; }  // all that are not local
  Result<Place> PlaceOf(const ElfObject& object, const ElfSymbol& symbol) const;   // of one that is defined there

 private:
  bool need_libc_ = false;
  std::vector<ElfObject> objects_;
  std::vector<Piece> pieces_;
  std::map<std::pair<const ElfObject*, size_t>, size_t> piece_of_;
  std::map<std::string_view, Defined> defined_;
  std::vector<std::string> imports_;
  std::map<std::string, size_t> import_of_;
};

}  // namespace hone::codegen

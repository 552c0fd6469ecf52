// Objects written or changed here, examined with <elf.h> and a plain walk over their tables.
#include <elf.h>

#include "codegen/elf/data_object.h"
#include "codegen/elf/rename.h"
#include "common/expect.h"
#include "table.h"

namespace hone::codegen {
namespace {

std::vector<std::string> SymbolsOf(const std::string& object) {
  Elf64_Ehdr header;
  std::memcpy(&header, object.data(), sizeof(header));
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), object.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  std::vector<std::string> names;
  for (const Elf64_Shdr& s : sections) {
    if (s.sh_type != SHT_SYMTAB) continue;
    for (uint64_t at = 0; at < s.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, object.data() + s.sh_offset + at, sizeof(symbol));
      if (symbol.st_name) names.emplace_back(object.data() + sections[s.sh_link].sh_offset + symbol.st_name);
    }
  }
  return names;
}

std::string Same(std::string_view name) { return std::string(name); }

std::string Table(const std::string& triple) { return TableObject(triple, "other"); }

TEST(DataObject, IsRefusedForOtherMachines) {
  DataObjectWriter writer;
  writer.Add(uint64_t{1});
  EXPECT_TRUE(writer.Finish("t", 0, "x86_64-unknown-linux-gnu").ok());
  EXPECT_TRUE(writer.Finish("t", 0, "aarch64-unknown-linux-gnu").ok());
  EXPECT_EQ(writer.Finish("t", 0, "riscv64-linux").status().kind(), StatusKind::kUnsupported);
}

TEST(DataObject, EqualStringsShareOnePlace) {
  DataObjectWriter writer;
  const uint64_t a = writer.String("abc"), b = writer.String("abd");
  EXPECT_NE(a, b);
  EXPECT_EQ(writer.String("abc"), a);
  EXPECT_EQ(writer.size(), 8u);
}

// without_llvm_test links one and reads it.
TEST(DataObject, SaysItsMachineAndSymbols) {
  for (const auto& [triple, machine] : {std::pair("x86_64-linux", EM_X86_64), std::pair("aarch64-linux", EM_AARCH64)}) {
    const std::string bytes = Table(triple);
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    EXPECT_EQ(header.e_machine, machine);
    EXPECT_EQ(SymbolsOf(bytes), (std::vector<std::string>{"table", "other"}));
  }
}

TEST(RenameSymbols, ChangesNamesAndNothingElse) {
  for (const char* triple : {"x86_64-linux", "aarch64-linux"}) {
    const std::string object = Table(triple);
    const auto renamed =
        Must(RenameSymbols("t.o", object, [](std::string_view name) { return std::string(name) + "_x"; }));
    EXPECT_EQ(SymbolsOf(renamed), (std::vector<std::string>{"table_x", "other_x"}));
    // Everything except the headers and the symbol table between them keeps its place.
    const size_t data = object.find("text") + 8 + 3 * 8;
    EXPECT_EQ(renamed.substr(sizeof(Elf64_Ehdr), data - sizeof(Elf64_Ehdr)),
              object.substr(sizeof(Elf64_Ehdr), data - sizeof(Elf64_Ehdr)));
    EXPECT_EQ(SymbolsOf(*RenameSymbols("t.o", object, Same)), SymbolsOf(object));
  }
}

TEST(RenameSymbols, RefusesWhatIsNoObject) {
  EXPECT_FALSE(RenameSymbols("t.o", "", Same).ok());
  EXPECT_EQ(RenameSymbols("t.o", std::string(200, 'x'), Same).status().message(),
            "t.o: is not a relocatable ELF object of 64 bits");
  const std::string whole = Table("x86_64-linux");
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(RenameSymbols("t.o", whole.substr(0, size), Same).ok()) << size;
  }
  // Damages each byte: the object is rejected or renamed, never read beyond the end (proven under a sanitizer).
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    for (const char to : {'\x7f', '\xff'}) {
      damaged[at] = to;
      (void)RenameSymbols("t.o", damaged, Same);
    }
  }
}

}  // namespace
}  // namespace hone::codegen

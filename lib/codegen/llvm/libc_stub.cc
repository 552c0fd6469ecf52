#include "codegen/llvm/libc_stub.h"

#include <llvm/BinaryFormat/ELF.h>
#include <llvm/InterfaceStub/ELFObjHandler.h>
#include <llvm/InterfaceStub/IFSStub.h>

#include "base/file.h"
#include "base/text.h"

namespace hone::codegen {
namespace {

struct Stub {
  const char* soname;
  std::vector<const char*> functions;
};

// Those of library/runtime/*.c for CPUs and runtime/host/pool.c, and those that LLVM calls in kernels.
const std::vector<Stub>& Stubs() {
  static const std::vector<Stub> stubs = {
      {"libc.so.6",
       {"__errno_location",
        "__sched_cpucount",
        "aligned_alloc",
        "calloc",
        "clock_gettime",
        "close",
        "free",
        "getauxval",
        "getpid",
        "madvise",
        "malloc",
        "memcmp",
        "memcpy",
        "memmove",
        "memset",
        "mmap",
        "munmap",
        "open",
        "pthread_self",
        "sched_getaffinity",
        "sched_setaffinity",
        "sched_yield",
        "strnlen",
        "syscall"}},
      {"libpthread.so.0", {"pthread_create", "pthread_join"}},
  };
  return stubs;
}

}  // namespace

Result<std::vector<std::string>> WriteLibcStubs(const std::string& triple, const std::string& folder) {
  std::vector<std::string> paths;
  for (const Stub& known : Stubs()) {
    llvm::ifs::IFSStub stub;
    stub.SoName = known.soname;
    stub.Target.Arch = StartsWith(triple, "aarch64") ? llvm::ELF::EM_AARCH64 : llvm::ELF::EM_X86_64;
    stub.Target.BitWidth = llvm::ifs::IFSBitWidthType::IFS64;
    stub.Target.Endianness = llvm::ifs::IFSEndiannessType::Little;
    for (const char* function : known.functions) {
      llvm::ifs::IFSSymbol& symbol = stub.Symbols.emplace_back(function);
      symbol.Type = llvm::ifs::IFSSymbolType::Func;
    }
    paths.push_back(JoinPath(folder, known.soname));
    if (llvm::Error error = llvm::ifs::writeBinaryStub(paths.back(), stub)) {
      return Status::Io(paths.back() + ": " + llvm::toString(std::move(error)));
    }
  }
  return paths;
}

}  // namespace hone::codegen

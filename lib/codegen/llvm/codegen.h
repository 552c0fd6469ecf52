// CPU code generation through LLVM. Others see only this header; LLVM's headers stay in the .cc files.
//
// Function -> object file bytes -> shared object, all in process: no compiler or linker program runs (except `ld` in a
// build without LLVM).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/elf/link.h"
#include "ir/stmt.h"
#include "target/artifact.h"
#include "target/target.h"

namespace hone::codegen {

struct LlvmOptions {
  bool keep_text = false;  // also keep LLVM IR and assembly, for --explain and tests
  // Rounds products before they are added, as CPUs without fused multiply-adds do: the same values on every CPU.
  bool separate_products = false;
};

struct ObjectCode {
  std::string object;               // ELF relocatable bytes
  std::vector<EntryPoint> entries;  // one per function, in order
  std::string llvm_ir, assembly;    // if keep_text
};

// Compiles functions into one object. Thread-safe; each call has its own LLVMContext.
Result<ObjectCode> CompileToObject(const std::vector<ir::Function>& functions, const Target& target,
                                   const LlvmOptions& options);

// Links objects into a shared object at `output_path`. Returns kInvalid for undefined symbols other than libc's; kIo if
// the system refused, for example for lack of space; kCrashed if lld crashed, now or earlier; kNotFound if a build
// without LLVM finds no `ld`.
Status LinkShared(const std::vector<LinkInput>& inputs, const LinkOptions& options, const std::string& output_path);

// "LLVM 19.1.7"
std::string LlvmVersion();
// LLVM's name of the host's CPU and its features.
std::string LlvmHostCpu();

}  // namespace hone::codegen

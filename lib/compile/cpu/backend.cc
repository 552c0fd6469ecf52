#include "compile/backend.h"

#include <utility>

#include "codegen/elf/rename.h"
#include "codegen/llvm/codegen.h"

namespace hone::compile {
namespace {

Status RenameObject(const std::string& from, const std::string& to, CompiledKernel* kernel) {
  HONE_ASSIGN_OR_RETURN(
      kernel->object, codegen::RenameSymbols("the kernel", kernel->object,
                                             [&](std::string_view symbol) { return RenamedSymbol(symbol, from, to); }));
  RenameEntries(from, to, kernel);
  return Status();
}

class LlvmBackend final : public Backend {
 public:
  const TargetKind& kind() const override { return CpuKind(); }

  Result<std::vector<EntryPoint>> Generate(const std::vector<ir::Function>& functions, const Target& target,
                                           const CompileOptions& options, CompiledKernel* kernel) const override {
    codegen::LlvmOptions llvm_options;
    llvm_options.keep_text = options.keep_text;
    HONE_ASSIGN_OR_RETURN(codegen::ObjectCode code, codegen::CompileToObject(functions, target, llvm_options));
    kernel->format = "elf-object";
    kernel->object = std::move(code.object);
    kernel->llvm_ir = std::move(code.llvm_ir);
    kernel->assembly = std::move(code.assembly);
    return std::move(code.entries);
  }

  Renaming renaming() const override { return RenameObject; }

  Result<std::string> Write(const CompiledKernel& kernel, const std::string& path) const override {
    codegen::LinkOptions link;
    link.exports = {kernel.kernel.symbol};
    if (kernel.has_prepare) link.exports.push_back(kernel.prepare.symbol);
    HONE_RETURN_IF_ERROR(codegen::LinkShared({{"candidate", kernel.object}}, link, path));
    return std::string("elf-shared");
  }
};

}  // namespace

const Backend& CpuBackend() {
  static const LlvmBackend backend;
  return backend;
}

}  // namespace hone::compile

#include "compile/backend.h"

#include <utility>

#include "codegen/elf/rename.h"
#include "codegen/llvm/codegen.h"
#include "ir/printer.h"

namespace hone::compile {
namespace {

Status RenameObjects(const std::string& from, const std::string& to, CompiledKernel* kernel) {
  for (std::string* object : {&kernel->object, &kernel->prepare_object}) {
    if (object->empty()) continue;
    HONE_ASSIGN_OR_RETURN(*object, codegen::RenameSymbols("the kernel", *object, [&](std::string_view symbol) {
      return RenamedSymbol(symbol, from, to);
    }));
  }
  RenameEntries(from, to, kernel);
  return Status();
}

class LlvmBackend final : public Backend {
 public:
  const TargetKind& kind() const override { return CpuKind(); }

  Result<std::vector<EntryPoint>> Generate(const std::vector<ir::Function>& functions, const Target& target,
                                           const CompileOptions& options, CompiledKernel* kernel) const override {
    HONE_ASSIGN_OR_RETURN(codegen::ObjectCode code, Compile(functions[0], target, options, nullptr));
    kernel->format = "elf-object";
    kernel->object = std::move(code.object);
    kernel->llvm_ir = std::move(code.llvm_ir);
    kernel->assembly = std::move(code.assembly);
    if (functions.size() == 1) return std::move(code.entries);
    HONE_ASSIGN_OR_RETURN(codegen::ObjectCode prepare, Compile(functions[1], target, options, options.prepare_cache));
    kernel->prepare_object = std::move(prepare.object);
    kernel->llvm_ir += prepare.llvm_ir;
    kernel->assembly += prepare.assembly;
    code.entries.push_back(std::move(prepare.entries[0]));
    return std::move(code.entries);
  }

  Renaming renaming() const override { return RenameObjects; }

  Result<std::string> Write(const CompiledKernel& kernel, const std::string& path) const override {
    codegen::LinkOptions link{.exports = {kernel.kernel.symbol}};
    if (kernel.has_prepare) link.exports.push_back(kernel.prepare.symbol);
    std::vector<codegen::LinkInput> objects;
    AddObjects(kernel, &objects);
    HONE_RETURN_IF_ERROR(codegen::LinkShared(objects, link, path));
    return std::string("elf-shared");
  }

 private:
  static Result<codegen::ObjectCode> Compile(const ir::Function& function, const Target& target,
                                             const CompileOptions& options, PrepareCache* cache) {
    codegen::LlvmOptions llvm_options{.keep_text = options.keep_text};
    if (!cache) return codegen::CompileToObject({function}, target, llvm_options);
    std::string text = ir::ToString(function);
    if (const auto found = cache->find(text); found != cache->end()) return found->second;
    HONE_ASSIGN_OR_RETURN(codegen::ObjectCode code, codegen::CompileToObject({function}, target, llvm_options));
    if (cache->size() >= kMostPrepares) cache->clear();
    return cache->emplace(std::move(text), std::move(code)).first->second;
  }
};

}  // namespace

const Backend& CpuBackend() {
  static const LlvmBackend backend;
  return backend;
}

}  // namespace hone::compile

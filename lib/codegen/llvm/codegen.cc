#include "codegen/llvm/codegen.h"

#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>

#include "base/check.h"
#include "codegen/llvm/emitter.h"
#include "codegen/llvm/machine.h"

namespace hone::codegen {
namespace {

// LLVM reports what it cannot compile through the context; without a handler it would print and exit.
struct Diagnostics : llvm::DiagnosticHandler {
  explicit Diagnostics(std::string* first) : first_error(first) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() == llvm::DS_Error && first_error->empty()) {
      llvm::raw_string_ostream out(*first_error);
      llvm::DiagnosticPrinterRawOStream printer(out);
      info.print(printer);
    }
    return true;
  }
  std::string* first_error;
};

std::unique_ptr<llvm::Module> NewModule(llvm::LLVMContext* context, llvm::TargetMachine* machine) {
  auto module = std::make_unique<llvm::Module>("hone", *context);
  module->setTargetTriple(machine->getTargetTriple().str());
  module->setDataLayout(machine->createDataLayout());
  return module;
}

}  // namespace

Result<ObjectCode> CompileToObject(const std::vector<ir::Function>& functions, const Target& target,
                                   const LlvmOptions& options) {
  if (target.kind != &CpuKind()) return Status::Unsupported("the LLVM backend compiles for kind `cpu` only");
  HONE_ASSIGN_OR_RETURN(llvm::TargetMachine * machine, MachineFor(target));
  std::string error;
  llvm::LLVMContext context;
  context.setDiscardValueNames(!options.keep_text);
  context.setDiagnosticHandler(std::make_unique<Diagnostics>(&error));
  std::unique_ptr<llvm::Module> module = NewModule(&context, machine);

  ObjectCode code;
  Emitter emitter(module.get(), target, options.separate_products);
  for (const ir::Function& function : functions) {
    HONE_RETURN_IF_ERROR(emitter.EmitFunction(function, &code.entries.emplace_back()));
  }
#ifndef NDEBUG
  if (options.keep_text) HONE_CHECK(!llvm::verifyModule(*module, &llvm::errs()));
#endif
  PromoteSlots(module.get());
  if (options.keep_text) {
    llvm::raw_string_ostream out(code.llvm_ir);
    module->print(out, nullptr);
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*module);
    HONE_ASSIGN_OR_RETURN(code.assembly, EmitModule(copy.get(), machine, true));
  }
  HONE_ASSIGN_OR_RETURN(code.object, EmitModule(module.get(), machine, false));
  if (!error.empty()) return Status::Unsupported("LLVM: " + error);
  return code;
}

std::string LlvmVersion() { return "LLVM " LLVM_VERSION_STRING; }

std::string LlvmHostCpu() {
  std::vector<std::string> on;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    if (feature.second) on.push_back(feature.first().str());
  }
  std::sort(on.begin(), on.end());
  return fmt::format("{} {}", llvm::sys::getHostCPUName().str(), fmt::join(on, ","));
}

}  // namespace hone::codegen

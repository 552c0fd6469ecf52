#include "codegen/llvm/machine.h"

#include <fmt/format.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <list>
#include <memory>
#include <mutex>

namespace hone::codegen {
namespace {

void InitializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
}

std::string FeatureText(const Target& target) {
  std::string text;
  for (const std::string& feature : target.features) text += (text.empty() ? "+" : ",+") + feature;
  return text;
}

Result<std::unique_ptr<llvm::TargetMachine>> MakeMachine(const Target& target) {
  InitializeTargets();
  std::string error;
  const llvm::Target* llvm_target = llvm::TargetRegistry::lookupTarget(target.triple, error);
  if (!llvm_target) {
    return Status::Unsupported(fmt::format("no code generator for triple `{}`; x86_64 and aarch64 are there", target.triple));
  }
  std::unique_ptr<llvm::MCSubtargetInfo> info(llvm_target->createMCSubtargetInfo(target.triple, "", ""));
  if (!target.cpu.empty() && !info->isCPUStringValid(target.cpu)) {
    return Status::Unsupported(fmt::format("LLVM knows no CPU `{}` for {}", target.cpu, target.triple));
  }
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::unique_ptr<llvm::TargetMachine> machine(
      llvm_target->createTargetMachine(target.triple, target.cpu, FeatureText(target), options, llvm::Reloc::PIC_,
                                       std::nullopt, llvm::CodeGenOptLevel::Less));
  if (!machine) return Status::Unsupported(fmt::format("no code generator for triple `{}`", target.triple));
  return machine;
}

}  // namespace

Result<llvm::TargetMachine*> MachineFor(const Target& target) {
  struct Kept {
    std::string key;
    std::unique_ptr<llvm::TargetMachine> machine;
  };
  thread_local std::list<Kept> kept;
  constexpr size_t kMost = 4;
  std::string key = target.triple + '\n' + target.cpu + '\n' + FeatureText(target);
  for (auto it = kept.begin(); it != kept.end(); ++it) {
    if (it->key == key) {
      kept.splice(kept.begin(), kept, it);
      return kept.front().machine.get();
    }
  }
  HONE_ASSIGN_OR_RETURN(auto machine, MakeMachine(target));
  kept.push_front({std::move(key), std::move(machine)});
  if (kept.size() > kMost) kept.pop_back();
  return kept.front().machine.get();
}

void PromoteSlots(llvm::Module* module) {
  for (llvm::Function& function : *module) {
    if (function.isDeclaration()) continue;
    std::vector<llvm::AllocaInst*> slots;
    for (llvm::Instruction& instruction : function.getEntryBlock()) {
      auto* slot = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
      if (slot && llvm::isAllocaPromotable(slot)) slots.push_back(slot);
    }
    if (slots.empty()) continue;
    llvm::DominatorTree tree(function);
    llvm::PromoteMemToReg(slots, tree);
  }
}

Result<std::string> EmitModule(llvm::Module* module, llvm::TargetMachine* machine, bool as_assembly) {
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  auto type = as_assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, type)) {
    return Status::Unsupported("this target writes no object files");
  }
  passes.run(*module);
  return std::string(bytes.data(), bytes.size());
}

}  // namespace hone::codegen

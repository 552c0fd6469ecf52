#include "codegen/llvm/machine.h"

#include <fmt/format.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Transforms/Scalar.h>
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

bool IsX86(const Target& target) { return target.triple.rfind("x86_64", 0) == 0; }

std::string FeatureText(const Target& target) {
  std::string text;
  for (const std::string& feature : target.features) text += (text.empty() ? "+" : ",+") + feature;
  // Prefetching for writing: every x86-64 CPU has the instruction, as a no-op on older ones of Intel.
  // AArch64's scalable vectors come with some CPUs' names, but built libraries do not check for them.
  return text + (text.empty() ? "" : ",") + (IsX86(target) ? "+prfchw" : "-sve");
}

Result<std::unique_ptr<llvm::TargetMachine>> MakeMachine(const Target& target) {
  InitializeTargets();
  std::string error;
  const llvm::Target* llvm_target = llvm::TargetRegistry::lookupTarget(target.triple, error);
  if (!llvm_target) {
    return Status::Unsupported(
        fmt::format("no code generator for triple `{}`; x86_64 and aarch64 are there", target.triple));
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
  // Otherwise instruction selection would end the process. Reading a target file checks its features, but a CPU's name
  // implies features that the file does not list.
  const llvm::MCSubtargetInfo& has = *machine->getMCSubtargetInfo();
  if (IsX86(target) && has.checkFeatures("+avx512f") && !has.checkFeatures("+avx512vl")) {
    return Status::Unsupported(fmt::format(
        "CPU `{}` with features `{}` has AVX-512 without AVX-512VL, which LLVM generates no code for: name the level "
        "x86-64-v3 as `cpu` of the target, and no feature that begins with avx512",
        target.cpu, fmt::join(target.features, ",")));
  }
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

namespace {

// Gives access to a protected member of the base.
struct PassConfigAccess : llvm::TargetPassConfig {
  using TargetPassConfig::addCoreISelPasses;
};

// LLVMTargetMachine::addPassesToEmitFile without passes that our input does not need: loop strength reduction and its
// analyses alone take a third of the whole time, and the emitter's addresses are pointers already. The remaining IR
// passes lower masked accesses for CPUs that lack them.
bool AddPasses(llvm::LLVMTargetMachine* machine, llvm::raw_pwrite_stream* stream, llvm::CodeGenFileType type,
               llvm::legacy::PassManager* passes) {
  llvm::TargetPassConfig* config = machine->createPassConfig(*passes);
  config->setDisableVerify(true);
  // AArch64's scheduler moves the loads of a tile's inputs far ahead, for which it spills accumulators. Ours are placed
  // where they are needed; x86 folds them into the multiply-adds.
  if (machine->getTargetTriple().isAArch64()) config->disablePass(&llvm::MachineSchedulerID);
  passes->add(config);
  auto* info = new llvm::MachineModuleInfoWrapperPass(machine);
  passes->add(info);
  passes->add(llvm::createTargetTransformInfoWrapperPass(machine->getTargetIRAnalysis()));
  passes->add(llvm::createScalarizeMaskedMemIntrinLegacyPass());
  passes->add(llvm::createUnreachableBlockEliminationPass());
  config->addCodeGenPrepare();
  config->addISelPrepare();
  if ((config->*(&PassConfigAccess::addCoreISelPasses))()) return false;
  config->addMachinePasses();
  config->setInitialized();
  if (machine->addAsmPrinter(*passes, *stream, nullptr, type, info->getMMI().getContext())) return false;
  passes->add(llvm::createFreeMachineFunctionPass());
  return true;
}

}  // namespace

Result<std::string> EmitModule(llvm::Module* module, llvm::TargetMachine* machine, bool as_assembly) {
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  auto type = as_assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  // Every registered machine is an LLVMTargetMachine.
  if (!AddPasses(static_cast<llvm::LLVMTargetMachine*>(machine), &stream, type, &passes)) {
    return Status::Unsupported("this target writes no object files");
  }
  passes.run(*module);
  return std::string(bytes.data(), bytes.size());
}

}  // namespace hone::codegen

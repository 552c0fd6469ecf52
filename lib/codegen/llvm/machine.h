// The TargetMachine of a target, and the passes that run on an emitted module. Private to codegen/llvm.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

#include "base/result.h"
#include "target/target.h"

namespace hone::codegen {

// This thread's machine for the target, which the thread owns. Creating one costs more than compiling a small function,
// so the last few are cached. Returns kUnsupported if LLVM lacks the target, the CPU or a complete code generator for
// it.
Result<llvm::TargetMachine*> MachineFor(const Target& target);

// Promotes registers in slots to SSA values; no other pass runs before instruction selection (emitter.h says why).
void PromoteSlots(llvm::Module* module);

// The module as an ELF relocatable object or as assembly text. Changes the module.
Result<std::string> EmitModule(llvm::Module* module, llvm::TargetMachine* machine, bool as_assembly);

}  // namespace hone::codegen

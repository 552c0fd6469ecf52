// The TargetMachine of a target, and what runs on a module after it was emitted. Private to codegen/llvm.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

#include "base/result.h"
#include "target/target.h"

namespace hone::codegen {

// This thread's machine for the target: making one costs more than compiling a small function, so the last few are
// kept. Owned by the thread. kUnsupported if LLVM has no such target or CPU, or no code generator for all that it has.
Result<llvm::TargetMachine*> MachineFor(const Target& target);

// Registers in slots become SSA values; nothing else runs before instruction selection (emitter.h says why that is
// enough).
void PromoteSlots(llvm::Module* module);

// The module as an ELF relocatable object, or as assembly text. Changes the module.
Result<std::string> EmitModule(llvm::Module* module, llvm::TargetMachine* machine, bool as_assembly);

}  // namespace hone::codegen

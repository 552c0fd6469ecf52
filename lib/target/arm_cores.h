// Cores of AArch64 whose features are known here, and the features that a target file may name.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hone {

// The features of a core beyond the baseline (NEON) that code generation uses, sorted, as LLVM names them; those of
// "generic" are empty. Nothing for an unknown name.
std::optional<std::vector<std::string>> ArmCoreFeatures(const std::string& cpu);

// Whether it executes in the order of the program: an instruction that waits for a load holds up all that follow. False
// for an unknown name.
bool ArmCoreIsInOrder(const std::string& cpu);

// The names of all known cores.
std::vector<std::string> ArmCores();

// The features that a target file may name: those that a built library can check before it runs. Without "neon", which
// every core has.
const std::vector<std::string>& ArmFeatures();

}  // namespace hone

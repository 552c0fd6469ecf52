// Detects a target's features on the current machine.
#pragma once

#include <string>

#include "library/runtime/net_runtime.h"

namespace hone::library {

// The cpuid bit of LLVM's feature name (Intel SDM, vol. 2A, CPUID; vol. 1, 13.3 for the state bits). Null if the name
// is unknown; the feature is then not checked.
const HoneNetFeature* FindCpuFeature(const std::string& name);

}  // namespace hone::library

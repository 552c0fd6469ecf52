// How the features of a target are found on the machine at hand.
#pragma once

#include <string>

#include "library/runtime/net_runtime.h"

namespace hone::library {

// The cpuid bit of LLVM's feature name (Intel SDM, vol. 2A, CPUID; vol. 1, 13.3 for the state bits). Null if the name
// is not known: it is then not checked.
const HoneNetFeature* FindCpuFeature(const std::string& name);

}  // namespace hone::library

// Runs a kernel on a device in this process, as a library or a measuring child does.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "compile/compile.h"
#include "runtime/device/device.h"

namespace hone::agree {

// Packs the constants and runs the kernel: "<symbol>_prepare" and `symbol` of the module. `operands` has one entry per
// operand, the output last; inputs are copied in, and the output is copied out.
Status RunOnDevice(runtime::Device* device, runtime::DeviceModule* module, const KernelInterface& kernel,
                   const std::string& symbol, std::vector<std::vector<float>>* operands);

}  // namespace hone::agree

// A kernel run on a device in this process, as a library or a measuring child runs it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "compile/compile.h"
#include "runtime/device/device.h"

namespace hone::agree {

// Packs the constants and runs the kernel: "<symbol>_prepare" and `symbol` of the module. `operands`, one an operand,
// the output last, are copied in; the output is copied out.
Status RunOnDevice(runtime::Device* device, runtime::DeviceModule* module, const KernelInterface& kernel,
                   const std::string& symbol, std::vector<std::vector<float>>* operands);

}  // namespace hone::agree

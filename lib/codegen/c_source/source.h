// Turns device functions in their final form (ir/device_kernels.h) into C source and the launches that run it.
//
// Arguments and workspace buffers must be aligned to 16 bytes.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/c_source/dialect.h"
#include "ir/stmt.h"
#include "target/artifact.h"
#include "target/device_limits.h"

namespace hone::codegen {

struct DeviceSource {
  std::string text;                 // all kernels of all functions, and the helpers that they need
  std::vector<EntryPoint> entries;  // one per function, in order
};

// Returns kInvalid if a function is not in its final form; kUnsupported, with the reason, if the dialect cannot express
// it or a kernel exceeds the threads, blocks or shared memory in `limits`. The text depends on the functions alone.
// Names of functions must be unique.
Result<DeviceSource> WriteDeviceSource(const std::vector<ir::Function>& functions, const Dialect& dialect,
                                       const DeviceLimits& limits);

}  // namespace hone::codegen

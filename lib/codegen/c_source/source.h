// From device functions in their final form (ir/device_kernels.h) to C source and the launches that run it.
//
// Addresses of arguments and workspace buffers are expected at multiples of 16 bytes.
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
  std::string text;                 // every kernel of every function, and the helpers they need
  std::vector<EntryPoint> entries;  // one a function, in order
};

// kInvalid: a function is not in its final form. kUnsupported: the dialect has no words for it, or a kernel needs more
// threads, blocks or shared memory than `limits` has; the message says what. The text depends on the functions alone.
// Names of functions must differ.
Result<DeviceSource> WriteDeviceSource(const std::vector<ir::Function>& functions, const Dialect& dialect,
                                       const DeviceLimits& limits);

}  // namespace hone::codegen

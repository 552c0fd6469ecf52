// OpenCL devices behind runtime/device. The ICD loader (libOpenCL.so.1) is opened when first asked for; nothing is
// linked.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "runtime/device/device.h"

namespace hone::runtime {

struct OpenClOptions {
  std::string library;   // path or name of the ICD loader; empty: the system's
  bool optimise = true;  // false passes -cl-opt-disable to the device's compiler, for tests of the text
};

// Opens the first GPU of any platform, else the first accelerator, else the first device of another kind (such as
// PoCL's CPU). Returns kNotFound, with what to install, if there is no loader or no device.
Result<std::unique_ptr<Device>> OpenOpenClDevice(const OpenClOptions& options = {});
Result<DeviceInfo> DescribeOpenClDevice(const OpenClOptions& options = {});

}  // namespace hone::runtime

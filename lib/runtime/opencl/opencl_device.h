// OpenCL devices behind runtime/device. The ICD loader (libOpenCL.so.1) is opened when first asked for; nothing is
// linked.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "runtime/device/device.h"

namespace hone::runtime {

struct OpenClOptions {
  std::string library;  // path or name of the ICD loader; empty: where the system has it
  bool optimise = true;  // off: the device's compiler is asked not to (-cl-opt-disable), for tests of the text
};

// The first GPU of any platform; else the first accelerator; else the first other device (PoCL's CPU, say). kNotFound:
// no loader or no device; the message says what to install.
Result<std::unique_ptr<Device>> OpenOpenClDevice(const OpenClOptions& options = {});
Result<DeviceInfo> DescribeOpenClDevice(const OpenClOptions& options = {});

}  // namespace hone::runtime

// Which device a target means: the one place that knows them all.
#pragma once

#include <memory>

#include "base/result.h"
#include "runtime/device/device.h"
#include "target/target.h"

namespace hone::measure {

// The first device that the target is for. kNotFound: none here; the message says what is missing and what to do.
// kUnsupported: it is there but cannot run the target's code (another architecture), or the target is no device's.
Result<std::unique_ptr<runtime::Device>> OpenDevice(const Target& target);

// The same without opening it: takes milliseconds where there is none.
Result<runtime::DeviceInfo> DescribeDevice(const Target& target);

// CompileOptions::newest_cuda for code that is to be measured or run here: the major version of CUDA of the driver that
// is here. 0, any: there is none, or the target is not CUDA's. Where a library will run instead cannot be known; minor
// versions do not matter there, as its code is cubins (doc/internals/gpu.md, "CUDA", also for what to do about major
// ones).
int NewestCuda(const Target& target);

}  // namespace hone::measure

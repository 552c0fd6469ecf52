// Runs trials on an OpenCL device.
#pragma once

#include <vector>

#include "agree/trial.h"
#include "runtime/device/device.h"

namespace hone::agree {

// Compiles the trials as one program, as compiling each separately would take most of the time, and runs each of them.
// A difference from the definition is a test failure.
void ExpectAgreeOnOpenCl(runtime::Device* device, const Prepared& prepared, const std::vector<Trial>& trials);

}  // namespace hone::agree

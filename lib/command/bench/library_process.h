// Built libraries in fresh processes of their own: what hone-bench's ways of timing share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/lock.h"
#include "base/result.h"
#include "library/loaded_network.h"
#include "library/time_network.h"

namespace hone::command {

// Lets the device's compiler cache its output, for this process and those it starts: a library's kernels are compiled
// by each of its processes, those of tuning once and never again (runtime/opencl). Before the first look at a device.
void KeepDeviceKernels();

// The network's outputs for the inputs of `seed`: taken from the file beside the library if they are known, else
// computed, which takes seconds, and with the host shared, whatever the library runs on. `parameter_file`, `inputs`: as
// of LoadParameterFile.
Result<std::vector<std::vector<double>>> ExpectedOutputs(const library::LibraryFolder& folder, uint64_t seed,
                                                         const std::string& parameter_file,
                                                         const std::vector<std::string>& inputs);

// The reply of a fresh process, which has the machine to itself while it lives. kCrashed with its last words, kTimeout,
// kInterrupted.
Result<library::TimeReply> TimeInProcess(const library::TimeRequest& request, MachineLock* machine);

}  // namespace hone::command

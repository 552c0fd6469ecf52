// Runs built libraries in fresh processes, for hone-bench and hone-bench nightly.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/lock.h"
#include "base/result.h"
#include "library/loaded_network.h"
#include "library/time_network.h"

namespace hone::command {

// Lets the device's compiler cache its output, for this process and its children: each process of a library compiles
// the same kernels, while tuning compiles each kernel once (runtime/opencl). Call it before the first use of a device.
void KeepDeviceKernels();

// Returns the network's outputs for the inputs of `seed`, from the file beside the library if it has them. Computing
// them takes seconds and shares the host, whatever the library runs on. `parameter_file`, `inputs`: see
// LoadParameterFile.
Result<std::vector<std::vector<double>>> ExpectedOutputs(const library::LibraryFolder& folder, uint64_t seed,
                                                         const std::string& parameter_file,
                                                         const std::vector<std::string>& inputs);

// Runs the request in a fresh process that has the machine to itself. Returns kCrashed with the process's last output,
// kTimeout or kInterrupted.
Result<library::TimeReply> TimeInProcess(const library::TimeRequest& request, MachineLock* machine);

}  // namespace hone::command

// Turns on this machine: whoever compiles or computes shares it, whoever times has it alone (base/lock.h).
#pragma once

#include <string>

#include "base/lock.h"
#include "base/result.h"
#include "target/target.h"

namespace hone::session {

enum class Use { kShared, kExclusive };

Result<MachineLock> OpenMachine();
// What a target's candidates are timed on: a GPU is another machine than its host and than other GPUs, whatever number
// CUDA_VISIBLE_DEVICES or Slurm gave it (DeviceInfo::lock_name). OpenCL's device may be the CPU. kIo: there is a GPU,
// but it does not say now which one it is.
Result<MachineLock> OpenMachine(const Target& target);
// What its lock is called: "cpu", "GPU-<uuid>", ...; kIo as above.
Result<std::string> MachineName(const Target& target);

// Waits for its turn, and says so if it takes more than a moment. kInterrupted on ^C.
Status TakeMachine(MachineLock* machine, Use use);

}  // namespace hone::session

// Turns on this machine: whoever compiles or computes shares it, whoever times has it alone (base/lock.h).
#pragma once

#include "base/lock.h"
#include "base/result.h"
#include "target/target.h"

namespace hone::session {

enum class Use { kShared, kExclusive };

Result<MachineLock> OpenMachine();
// What a target's candidates are timed on: a CUDA device is another machine than its host. (OpenCL's may be the CPU.)
Result<MachineLock> OpenMachine(const Target& target);

// Waits for its turn, and says so if it takes more than a moment. kInterrupted on ^C.
Status TakeMachine(MachineLock* machine, Use use);

}  // namespace hone::session

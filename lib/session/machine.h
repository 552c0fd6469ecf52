// Turns on this machine: whoever compiles or computes shares it, whoever times has it alone (base/lock.h).
#pragma once

#include "base/lock.h"
#include "base/result.h"

namespace hone::session {

enum class Use { kShared, kExclusive };

Result<MachineLock> OpenMachine();

// Waits for its turn, and says so if it takes more than a moment. kInterrupted on ^C.
Status TakeMachine(MachineLock* machine, Use use);

}  // namespace hone::session

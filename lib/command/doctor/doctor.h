// hone-doctor: checks what tuning depends on in this machine.
#pragma once

namespace hone::command {

// Prints a line for each finding, its advice on the next. Watches the load for half a second and tries the sandbox.
// Returns the exit code: 0 whatever the findings are, since Hone works with all of them.
int RunDoctor();

}  // namespace hone::command

// hone-doctor: checks the properties of this machine that tuning depends on.
#pragma once

namespace hone::command {

// Prints a line for each finding, with advice on the next line. Watches the load for half a second and tries the
// sandbox. Returns the exit code: 0 whatever the findings are, since Hone works with all of them.
int RunDoctor();

}  // namespace hone::command

// Checks a launch against the limits of a device before anything is compiled: the last line behind the closed-form
// rules of templates.
#pragma once

#include <vector>

#include "base/status.h"
#include "target/artifact.h"
#include "target/target.h"

namespace hone::codegen {

// kUnsupported, with the kernel and the limit, for more threads, blocks or shared memory than target.limits has.
Status CheckLaunches(const std::vector<EntryPoint>& entries, const Target& target);

}  // namespace hone::codegen

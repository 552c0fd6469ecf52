// The versions of templates: what records, and what the tools write, depend on.
#pragma once

#include <string>

#include "base/result.h"
#include "target/target.h"
#include "task/workload.h"

namespace hone::op {

// What the records of a task hold their indices of: the versions of its templates on the target,
// "conv2d_direct=1,conv2d_winograd=2". kUnsupported for an operator that is not known.
Result<std::string> TaskSpaceVersion(const Workload& workload, const Target& target);

// "conv2d_direct=1 dense=1 ...": the versions of AllTemplates, part of abi/*.txt.
std::string SpaceVersionText();

}  // namespace hone::op

// A task's operands and right output, from its operator, for measuring.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "measure/messages.h"
#include "target/target.h"
#include "task/workload.h"

namespace hone::session {

// Sets operands, reference_path and reference_key of `setup`; computes the reference with op::Operator::Reference and
// writes it to `path` unless it is there already (and right). True if it was computed; kInterrupted: not written.
// kUnsupported for an unknown operator.
Result<bool> EnsureReference(const Workload& workload, const Target& target, const std::string& path,
                             measure::TaskSetup* setup);

}  // namespace hone::session

// Chains `A -> B`: two or three workloads as one kernel, so that what lies between them never leaves the caches of the
// core that makes it.
//
// Supported pairs are listed by Check's message. Operands: those of A but its output, then of each member that follows
// those but its data; names by MemberOperandName. A's output type is its follower's first input.
#pragma once

#include "op/operator.h"

namespace hone::op {

const Operator& Chain();

}  // namespace hone::op

// Operators that move elements and compute nothing (lib/semantics/movement.cc): transpose, reshape, slice, pad, gather,
// expand, all plain, of any rank; concat, blocked along the channels of four or five axes, else plain.
#pragma once

#include <vector>

#include "op/operator.h"

namespace hone::op {

std::vector<const Operator*> MovementOperators();

}  // namespace hone::op

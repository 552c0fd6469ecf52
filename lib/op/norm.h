// lrn(f32[N,C,..], size=, alpha=0.0001, beta=0.75, bias=1), instance_norm(x, scale[C], bias[C], epsilon=1e-05),
// layer_norm(x, scale[, bias], axis=last, epsilon=1e-05), resize(x, out=, mode=nearest, ..). Plain, any rank;
// lib/semantics/norms.cc has the definitions.
#pragma once

#include <vector>

#include "op/operator.h"

namespace hone::op {

std::vector<const Operator*> NormOperators();

}  // namespace hone::op

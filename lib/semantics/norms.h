// Properties of normalisations that folding needs.
#pragma once

#include "task/workload.h"

namespace hone::semantics {

// The epsilon of a batch norm: `epsilon`, or 1 / `inverse_epsilon`; 1e-5 without either.
double BatchNormEpsilon(const Workload& workload);

}  // namespace hone::semantics

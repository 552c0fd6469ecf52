// Closed-form estimates of a point's cost, from the workload, the target and the knobs alone, without lowering. They
// rank points before anything is measured, and a model of measured times corrects them; they do not predict times.
//
// The assumed machine: cores with two FMA and two load ports of one vector each, 4 cycles of FMA latency, and the cache
// sizes and bandwidths of estimate/parts.h. Sources: doc/internals/search.md.
#pragma once

#include <string>

#include "op/operator.h"
#include "target/target.h"
#include "task/workload.h"

namespace hone::op {

// The estimate of Hone's own template of that name. A point's cost is the natural logarithm of the estimated cycles of
// the busiest thread, then features: log(1 + part / arithmetic) for the parts of it, and the logarithm of the
// imbalance. The length is the same for all points and shapes of a template, so that results for one shape help with
// another. Knobs are found by name, and missing ones count as the neutral value, so records of older spaces have
// estimates as well. Null if the template is unknown or has no estimate, as those for GPUs.
const Estimate* FindEstimate(const Target& target, const std::string& template_name);

}  // namespace hone::op

// Closed-form estimates of what a point of a space costs, from the workload, the target and the knobs alone: nothing is
// lowered. They rank points before anything is measured and give a model of measured times something to correct; they
// are no prediction of a time.
//
// The machine they have in mind: cores with two FMA and two load ports of a vector each, 4 cycles of FMA latency, and
// caches whose sizes and widths estimate_parts.h lists. Sources: doc/internals/search.md.
#pragma once

#include <string>
#include <vector>

#include "op/operator.h"
#include "target/target.h"
#include "task/config.h"
#include "task/workload.h"

namespace hone::op {

// The natural logarithm of the estimated cycles of the busiest thread, then features: log(1 + part / arithmetic) of
// the parts of it, and the logarithm of the imbalance. Of equal length for all points
// of a template, whatever the shape, so that what is learned of them on one shape says something about another. Knobs
// are found by name, those that are missing count as the neutral value: records of older spaces have estimates, too.
// Empty where FindEstimate finds nothing. Of any template of the workload; not for several threads at once.
PointCost EstimatesOf(const Workload& workload, const Target& target);

// The estimate of Hone's own template of that name; null if it has none, as those of GPUs, or is unknown.
const Estimate* FindEstimate(const Target& target, const std::string& template_name);

}  // namespace hone::op

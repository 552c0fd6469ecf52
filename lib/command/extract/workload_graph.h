// A workload as a network of one operator.
#pragma once

#include <string>

#include "base/result.h"
#include "graph/graph.h"

namespace hone::command {

// The network of "dense(f32[1,16], f32[4,16]) + relu", for tuning and building that operator by itself. Its data
// operands become the graph's inputs (`data`, `data1`, `residual`), its constant operands parameters with seeded
// values, and its result the output `out`. Returns kInvalid or kUnsupported if the workload cannot be parsed, is
// inconsistent, or has an unknown operator.
Result<graph::Graph> GraphOfWorkload(const std::string& text);

}  // namespace hone::command

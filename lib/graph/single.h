// A graph of one operator, from the text of its workload: how an operator is tuned and built by itself.
#pragma once

#include <string>

#include "base/result.h"
#include "graph/graph.h"

namespace hone::graph {

// Does the text name no network, but say what to compute: "dense(f32[1,16], f32[4,16]) + relu"?
bool IsWorkload(const std::string& network);

// Its data operands are the graph's inputs (`data`, `data1`, `residual`), its constant ones parameters with seeded
// values, its result is the output `out`. kInvalid, kUnsupported: the workload cannot be read, makes no sense, or has
// an operator that is not known.
Result<Graph> GraphOfWorkload(const std::string& text);

}  // namespace hone::graph

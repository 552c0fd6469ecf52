// Alternatives between the files that hold them and the graph that they change; and which tasks a graph is made of.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/alternatives.h"
#include "graph/graph.h"
#include "pipeline/alternative.h"
#include "target/target.h"

namespace hone::library {

pipeline::Alternative ToFile(const graph::Alternative& alternative);

// kInvalid or kUnsupported with the node, for a workload that this version of Hone does not have.
Result<std::vector<graph::Alternative>> FromFile(const std::vector<pipeline::Alternative>& alternatives);

// Ids of the tasks that the nodes of a canonical graph are, tunable or not.
std::set<std::string> TaskIds(const graph::Graph& graph, const Target& target);

}  // namespace hone::library

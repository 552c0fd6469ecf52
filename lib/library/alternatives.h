// Converts alternatives between their file form and their graph form, and finds the tasks of a graph.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/alternatives.h"
#include "graph/graph.h"
#include "pipeline/task_list.h"
#include "target/target.h"

namespace hone::library {

pipeline::Alternative ToFile(const graph::Alternative& alternative);

// Returns kInvalid or kUnsupported with the node if this version of Hone lacks one of the workloads.
Result<std::vector<graph::Alternative>> FromFile(const std::vector<pipeline::Alternative>& alternatives);

// Ids of the tasks for the nodes of a canonical graph, tunable or not.
std::set<std::string> TaskIds(const graph::Graph& graph, const Target& target);

}  // namespace hone::library

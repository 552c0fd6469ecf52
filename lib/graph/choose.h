// Chooses the alternatives of a graph with the least sum of measured kernel times.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "graph/alternatives.h"
#include "graph/graph.h"

namespace hone::graph {

struct ChosenAlternatives {
  std::vector<size_t> taken;  // indices of alternatives, ascending
  double alone_seconds = 0;   // sum over the original nodes whose times are known
  double chosen_seconds = 0;  // the sum with `taken`; nodes that both versions contain are left out of both sums
  bool exact = true;          // graph/partition.h
};

// `seconds` returns the time of a workload alone, if it was measured. An alternative takes part if the times of all its
// nodes and of all nodes that it replaces are known. A transform counts once, and only if a chosen node needs it. Each
// place is decided for itself; equal places have equal costs, so they get the same decision unless their surroundings
// differ.
Result<ChosenAlternatives> ChooseAlternatives(const Graph& graph, const std::vector<Alternative>& alternatives,
                                              const std::function<std::optional<double>(const Workload&)>& seconds);

// The graph's nodes whose times ChooseAlternatives needs, in the graph's order: the replaced ones, and the transforms
// that these or their replacements read. It needs the times of the workloads of `by` as well.
std::vector<const Node*> NodesToTime(const Graph& graph, const std::vector<Alternative>& alternatives);

}  // namespace hone::graph

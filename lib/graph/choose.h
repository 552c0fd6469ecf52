// Which alternatives of a graph are worth it by what their kernels took: the cut of the graph with the least sum of
// times.
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
  double alone_seconds = 0;   // sum over the nodes as they stand, as far as their times are known
  double chosen_seconds = 0;  // with `taken`; equal nodes are left out of both alike
  bool exact = true;          // graph/partition.h
};

// `seconds`: of a workload alone; none if nobody measured it. An alternative takes part if the times of all its nodes
// and of all that it replaces are known. A transform counts once, and only where someone needs it. Each place is
// decided for itself: places that are alike have equal costs, so they are decided alike where nothing around them
// differs.
Result<ChosenAlternatives> ChooseAlternatives(const Graph& graph, const std::vector<Alternative>& alternatives,
                                              const std::function<std::optional<double>(const Workload&)>& seconds);

// The graph's nodes whose times ChooseAlternatives needs: replaced ones, and transforms before and in their place.
// Workloads of `by` come on top. In the graph's order.
std::vector<const Node*> NodesToTime(const Graph& graph, const std::vector<Alternative>& alternatives);

}  // namespace hone::graph

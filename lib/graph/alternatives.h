// Alternatives of a normalised graph: places where other nodes could stand for some of its own and compute the same
// tensor; and the choice of those with the least sum of measured kernel times.
//
// There are two kinds:
//   - a group: a node and its only reader, or up to six nodes whose inner tensors nobody else reads, as one node
//     `A -> B` (task/workload.h);
//   - another input layout: a convolution that reads a plain tensor itself (`in=nchw`, `in=ncdhw`) can instead read
//     blocks that a node `block` makes, and the other way round.
// Groups consist of the nodes as they are, not of convolutions with another input layout.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace hone::graph {

// The nodes `by` can replace the nodes `replaces`.
struct Alternative {
  // Names of nodes in the order of the graph. Only later ones of them read all but the last.
  std::vector<std::string> replaces;
  // In an order in which they can run; the last one has the name of the last replaced node. The others are transforms
  // (block, unblock); alternatives that need the same transform share it by name.
  std::vector<Node> by;
  bool operator==(const Alternative&) const = default;
};

// Returns the canonical form of a workload text if it can be built.
using LegalWorkload = std::function<Result<Workload>(const std::string& text)>;

// All alternatives, in the order of the graph's nodes, shorter ones first. A group is left out if a larger legal one
// only adds element-wise nodes or movements behind it. Only layers may precede a layer in a group: otherwise one layer
// would become several long tasks. No group begins or ends with a reshape of a row-major tensor, which costs nothing.
// REQUIRES: `graph` is normalised, and its workloads are canonical.
std::vector<Alternative> FindAlternatives(const Graph& graph, const LegalWorkload& legal);

// Whether it is a node `block` or `unblock`, which all its readers can share. Also accepts groups.
bool IsTransform(const Workload& workload);

// The graph with `taken` in place, without nodes that are no longer needed. Returns kInvalid if an alternative does not
// fit: a node does not exist (or another alternative already replaced it), or an operand is wrong.
Result<Graph> WithAlternatives(const Graph& graph, const std::vector<Alternative>& taken);

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

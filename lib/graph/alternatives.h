// What a normalised graph could compute otherwise: places where other nodes may stand for some of its own and make the
// same tensor. Which of them are worth it is not decided here: graph/choose.h does, from measured times.
//
// There are two kinds:
//   - a chain: a node and its only reader, or three in a row, as one node `A -> B` (task/workload.h);
//   - another input layout: a convolution that reads a plain tensor itself (`in=nchw`, `in=ncdhw`) can read blocks
//     that a node `block` makes, and the other way round.
// Chains are made of nodes as they stand, not of convolutions with another input layout.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace hone::graph {

// `by` can stand for `replaces`.
struct Alternative {
  // Names of nodes in the order of the graph. Each but the last is read by the next one alone, as its first input.
  std::vector<std::string> replaces;
  // In an order in which they can run; the last one has the name of the last replaced one. Those before it are
  // transforms (block, unblock), of which alternatives that need the same one have the same copy, by name.
  std::vector<Node> by;
  bool operator==(const Alternative&) const = default;
};

// Is a workload of this text one that can be built? Then its canonical form.
using LegalWorkload = std::function<Result<Workload>(const std::string& text)>;

// Of all places, in the order of the graph's nodes, shorter ones first. REQUIRES: `graph` normalised, its workloads
// canonical.
std::vector<Alternative> FindAlternatives(const Graph& graph, const LegalWorkload& legal);

// A node `block` or `unblock`: one for all that need it is enough. Also takes chains.
bool IsTransform(const Workload& workload);

// The graph with `taken` in their places; nodes that nobody needs afterwards are gone. kInvalid if one of them does not
// fit: a node that is not there (or that another one replaced already), or a wrong operand.
Result<Graph> WithAlternatives(const Graph& graph, const std::vector<Alternative>& taken);

}  // namespace hone::graph

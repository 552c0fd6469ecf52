// Which layers of a network compute with integers, which tensors are quantised for that, and the nodes `quantise` and
// `dequantise` around them (QDQ), which graph::UseIntegers turns into operators of integers.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/integers.h"

namespace hone::quantise {

struct Plan {
  std::vector<std::string> layers;  // nodes, in order
  // Quantised tensors; those of a group share a grid: what a concatenation joins, and inputs and outputs of operators
  // that move elements and of pools over windows, which then work on bytes.
  std::vector<std::vector<std::string>> groups;
  std::set<std::string> keep;  // nodes that read floats which nobody has quantised

  bool empty() const { return layers.empty(); }
  // All tensors of the groups and the outputs of layers.
  std::set<std::string> Observed() const;
};

// The node of the normalised graph that computes what the node `name` of the graph it was made from did: `name` itself,
// or the node into which it was fused. Returns kNotFound, with a suggestion.
Result<std::string> FindKept(const std::string& name, const graph::Graph& original, const graph::Graph& normalised);

// For a normalised graph of floats without layouts. Layers are convolutions and dense layers with weights of their own,
// except those in `keep`. Their data is quantised, and also a residual, if their output is. Returns kUnsupported for a
// network that has quantised tensors already.
Result<Plan> MakePlan(const graph::Graph& graph, const std::set<std::string>& keep);

// By tensor. One scale and zero point each.
using TensorGrids = std::map<std::string, graph::Grid>;

// Adds the nodes, and parameters with the scales and zero points. Behind a layer that computes with integers, and
// behind operators on bytes, all nodes but those to keep read the dequantised tensor; the graph's outputs remain.
// Returns the names of the tensors of bytes by those of the tensors.
std::map<std::string, std::string> InsertPairs(const Plan& plan, const TensorGrids& grids, graph::Graph* graph);

}  // namespace hone::quantise

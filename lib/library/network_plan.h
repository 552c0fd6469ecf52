// From a graph and a target to what a network library runs: each node with its operator, stored operands and place in
// memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "op/operator.h"
#include "target/target.h"

namespace hone::library {

// Where an operand lives when the network runs.
enum class Place { kArena, kInput, kOutput, kConstant };

struct PlannedOperand {
  op::Operand operand;
  std::string tensor;  // of the graph
  Place place = Place::kArena;
  int index = 0;       // of the network's input or output
  int64_t offset = 0;  // in the arena, bytes
};

struct PlannedNode {
  std::string name;
  Workload workload;  // canonical
  const op::Operator* op = nullptr;
  std::vector<PlannedOperand> operands;  // in op::Operator::Operands order
  int kernel = 0;                        // index into NetworkPlan::workloads
};

struct NetworkPlan {
  std::vector<PlannedNode> nodes;
  std::vector<Workload> workloads;  // distinct ones, in order of first use
  std::vector<int> uses;            // how many nodes each has
  int64_t arena_bytes = 0;
};

// The graph's workloads in the operators' canonical form. kUnsupported or kInvalid with the node's name.
Status Canonicalise(graph::Graph* graph);

// REQUIRES: `graph` normalised and canonical. kUnsupported if operands are stored differently by writer and reader.
Result<NetworkPlan> PlanNetwork(const graph::Graph& graph, const Target& target);

}  // namespace hone::library

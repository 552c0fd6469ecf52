// From a graph and a target to what a network library runs: each node with its operator, stored operands and place in
// memory.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/memory_plan.h"
#include "op/operator.h"
#include "target/target.h"

namespace hone::library {

// What a network takes and gives, in the order in which its library has them.
using NamedType = std::pair<std::string, TensorType>;
std::vector<NamedType> InputsOf(const graph::Graph& graph);
std::vector<NamedType> OutputsOf(const graph::Graph& graph);
inline int64_t BytesOf(const TensorType& type) { return type.Elements() * type.type.bytes(); }

// Where an operand lives when the network runs.
enum class Place { kArena, kInput, kOutput, kConstant };

struct PlannedOperand {
  Operand operand;
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
  int64_t alignment = graph::kArenaAlignment;  // of every buffer
  // Which tensors of the arena lie in one buffer, and when a buffer is in use.
  std::vector<graph::Lifetime> buffers;
  std::map<std::string, std::pair<size_t, int64_t>> tensors;  // buffer, offset in it
  std::set<size_t> shared;                                    // buffers that concatenations made of several tensors
  int slices = 0;                                             // concatenations that need no copying
};

// The graph's workloads in the operators' canonical form. kUnsupported or kInvalid with the node's name.
Status Canonicalise(graph::Graph* graph);

// REQUIRES: `graph` normalised and canonical. kUnsupported if operands are stored differently by writer and reader.
// `slices`: concatenations that need no copying (library/concat_slices.h) are no nodes of the plan; else all are. Nor
// are, on a device, nodes that leave the bytes of a tensor as they are.
Result<NetworkPlan> PlanNetwork(const graph::Graph& graph, const Target& target, bool slices = true);

// Lets the nodes whose kernel is in `in_place` (one flag a kernel, library/in_place.h) write over their residual where
// that is not read afterwards, and places everything anew. Returns how many do.
int WriteInPlace(const std::vector<bool>& in_place, const Target& target, NetworkPlan* plan);

}  // namespace hone::library

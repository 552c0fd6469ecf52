// Plans how a network library runs a graph on a target: each node with its operator, stored operands and places in
// memory.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "graph/alternatives.h"
#include "graph/graph.h"
#include "graph/memory_plan.h"
#include "op/operator.h"
#include "pipeline/task_list.h"
#include "target/target.h"

namespace hone::library {

// The inputs and outputs of a network, in its library's order, with their shapes as stored (graph::OutsideLayout).
using NamedType = std::pair<std::string, TensorType>;
std::vector<NamedType> InputsOf(const graph::Graph& graph);
std::vector<NamedType> OutputsOf(const graph::Graph& graph);
inline int64_t BytesOf(const TensorType& type) { return type.Elements() * type.type.bytes(); }

// The memory of an operand when the network runs.
enum class Place { kArena, kInput, kOutput, kConstant };

struct PlannedOperand {
  Operand operand;
  std::string tensor;  // its name in the graph
  Place place = Place::kArena;
  int index = 0;       // number of the network's input or output
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
  std::vector<int> uses;            // number of nodes for each workload
  int64_t arena_bytes = 0;
  int64_t alignment = graph::kArenaAlignment;  // of every buffer
  // Tensors of the arena that share a buffer, and when a buffer is in use.
  std::vector<graph::Lifetime> buffers;
  std::map<std::string, std::pair<size_t, int64_t>> tensors;  // buffer and offset in it
  std::set<size_t> shared;                                    // buffers that several tensors of a concatenation share
  int slices = 0;                                             // concatenations that are not copied
};

// Brings the graph's workloads into the operators' canonical form. Returns kUnsupported or kInvalid with the node's
// name, also if a node reads a tensor that is no parameter where its kernel needs a constant, such as a weight.
Status Canonicalise(graph::Graph* graph);

// REQUIRES: `graph` normalised and canonical. Returns kUnsupported if a tensor's writer and reader store it
// differently. If `slices`, concatenations that need no copying (library/sharing.h) are left out of the plan. On
// a device, so are nodes that do not change the bytes of a tensor.
Result<NetworkPlan> PlanNetwork(const graph::Graph& graph, const Target& target, bool slices = true);

// Lets nodes whose kernel may work in place (`in_place` has one flag per kernel, library/sharing.h) overwrite their
// residual if nothing reads it afterwards, and places all buffers anew. Returns the number of such nodes.
int WriteInPlace(const std::vector<bool>& in_place, const Target& target, NetworkPlan* plan);

// The two forms of alternatives: in files and in graphs.
pipeline::Alternative ToFile(const graph::Alternative& alternative);

// Returns kInvalid or kUnsupported with the node if this version of Hone lacks one of the workloads.
Result<std::vector<graph::Alternative>> FromFile(const std::vector<pipeline::Alternative>& alternatives);

// Ids of the tasks for the nodes of a canonical graph, tunable or not.
std::set<std::string> TaskIds(const graph::Graph& graph, const Target& target);

}  // namespace hone::library

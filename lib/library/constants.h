// Packed constants: the outputs of the kernels' prepare functions for the parameters, computed when the library is
// built.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "library/kernels.h"
#include "library/network_plan.h"

namespace hone::library {

// An argument of a node that is the same in every run.
struct ConstantBlob {
  std::string name;  // "fc/weight": the node and the operand, for people
  std::string bytes;
};

// The source of a node's kernel argument, in the kernel's order.
struct NodeArg {
  bool constant = false;
  size_t blob = 0;     // if constant: index of the blob
  size_t operand = 0;  // else: operand of the PlannedNode
};

struct Constants {
  std::vector<ConstantBlob> blobs;
  std::vector<std::vector<NodeArg>> args;  // per node; equal blobs are stored once
};

// A constant operand as a kernel reads it: its values, followed by zeros up to the stored size.
Result<std::string> RawConstant(const PlannedOperand& operand, const graph::ParameterValues& parameters);

// Runs the prepare functions in this process. If they are the target's own, as for targets of this machine's
// architecture, this machine must have its features. `threads`: at least 1.
Result<Constants> MakeConstants(const NetworkPlan& plan, const std::vector<NetworkKernel>& kernels,
                                const graph::ParameterValues& parameters, int threads);

}  // namespace hone::library

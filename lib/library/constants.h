// Packed constants: what the kernels' prepare functions make of the parameters, made once, when the library is built.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "codegen/llvm/codegen.h"
#include "graph/parameters.h"
#include "library/kernels.h"
#include "library/network_plan.h"
#include "runtime/host/loader.h"
#include "target/target.h"

namespace hone::library {

// One argument of one node that is the same in each run.
struct ConstantBlob {
  std::string name;  // "fc/weight": the node and the operand, for people
  std::string bytes;
};

// Where a node's kernel argument comes from, in the kernel's order.
struct NodeArg {
  bool constant = false;
  size_t blob = 0;     // if constant
  size_t operand = 0;  // if not: of the PlannedNode
};

struct Constants {
  std::vector<ConstantBlob> blobs;
  std::vector<std::vector<NodeArg>> args;  // a node; equal blobs are stored once
};

// A constant operand as a kernel takes it: its values, zeros behind them up to the stored size.
Result<std::string> RawConstant(const PlannedOperand& operand, const graph::ParameterValues& parameters);

// Kernels, linked with each other and loaded into this process.
Result<runtime::LoadedModule> LoadKernels(const std::vector<codegen::LinkInput>& objects);

// Runs the prepare functions here, so this machine must be able to run the target's code: kUnsupported if it is not of
// its architecture. `threads`: at least 1.
Result<Constants> MakeConstants(const NetworkPlan& plan, const std::vector<NetworkKernel>& kernels,
                                const graph::ParameterValues& parameters, int threads);

}  // namespace hone::library

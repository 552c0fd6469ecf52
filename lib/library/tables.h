// The tables of a network library (runtime/net_runtime.h) as an object to link: what the network is, and what runs when
// on which buffers.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "library/constants.h"
#include "library/kernels.h"
#include "library/network_plan.h"
#include "library/params_file.h"
#include "target/target.h"

namespace hone::library {

struct NetworkTables {
  std::string object;           // defines hone_net_table
  int64_t workspace_bytes = 0;  // what NET_workspace_size() will say
};

Result<NetworkTables> MakeTables(const graph::Graph& graph, const Target& target, const NetworkPlan& plan,
                                 const std::vector<NetworkKernel>& kernels, const Constants& constants,
                                 const ParamsFile& params);

// The features of `target` that its library checks before it runs anything, as LLVM names them; those that cannot be
// checked are left out.
std::vector<std::string> CheckedFeatures(const Target& target);

}  // namespace hone::library

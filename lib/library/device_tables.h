// The tables of a device's library (runtime/net_device.h) as an object to link, the kernels' code among them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "library/device_plan.h"
#include "library/kernels.h"
#include "library/network_plan.h"
#include "library/params_file.h"
#include "target/target.h"

namespace hone::library {

// Defines hone_net_device_table. `triple`: of the machine that the library's host code is for.
Result<std::string> MakeDeviceTables(const graph::Graph& graph, const Target& target, const NetworkPlan& plan,
                                     const std::vector<NetworkKernel>& kernels, const DevicePlan& device,
                                     const ParamsFile& params, const std::string& triple);

}  // namespace hone::library

// The built-in networks, as their papers and the usual libraries define them, before any pass: convolution, batch norm,
// activation and addition are nodes of their own. Parameters are seeded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace hone::graph {

// "resnet-18", "resnet-34", "resnet-50", "vgg-16", "mobilenet", "mobilenet_v2", "squeezenet_v1.1", "inception_v3",
// "resnet3d-18".
std::vector<std::string> NetworkNames();

// kNotFound with a suggestion for a name that is none of them.
Status CheckNetworkName(const std::string& name);

// As CheckNetworkName; kInvalid for a batch below 1 or above 1024.
Result<Graph> BuildNetwork(const std::string& name, int64_t batch);

// Does the text name no network, but say what to compute: "dense(f32[1,16], f32[4,16]) + relu"?
bool IsWorkload(const std::string& network);

// The network of that one operator: how an operator is tuned and built by itself.
// Its data operands are the graph's inputs (`data`, `data1`, `residual`), its constant ones parameters with seeded
// values, its result is the output `out`. kInvalid, kUnsupported: the workload cannot be read, makes no sense, or has
// an operator that is not known.
Result<Graph> GraphOfWorkload(const std::string& text);

}  // namespace hone::graph

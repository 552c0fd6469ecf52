// The built-in networks, as their papers and the usual libraries define them, before any pass: convolution, batch norm,
// activation and addition are separate nodes. Parameters are seeded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace hone::graph {

// "resnet-18", "resnet-34", "resnet-50", "resnet18_v2", "vgg-16", "mobilenet", "mobilenet_v2", "squeezenet_v1.1",
// "inception_v3", "resnet3d-18", "encoder". The last one also takes a sequence length in its name: "encoder-197" (1 to
// 4096); it is 128 without.
std::vector<std::string> NetworkNames();

// Returns kNotFound for an unknown name, with a suggestion, or a wrong length.
Status CheckNetworkName(const std::string& name);

// Returns errors of CheckNetworkName; kInvalid for a batch below 1 or above 1024, or if a tensor would be too large.
Result<Graph> BuildNetwork(const std::string& name, int64_t batch);

}  // namespace hone::graph

// A small residual network for tests: awkward channel counts and sizes, everything that the passes fuse, built with
// defaults.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/rng.h"
#include "common/expect.h"
#include "graph/network_builder.h"
#include "graph/reference.h"
#include "library/build.h"
#include "library/loaded_network.h"

namespace hone::library {

// Three convolutions with a residual, 17 channels, 13x13; a pooling, a dense layer of `units`.
inline graph::Graph SmallNetwork(int64_t batch, int64_t units = 5) {
  graph::NetworkBuilder net("small", 7);
  std::string x = net.Input("data", {batch, 3, 13, 13});
  x = net.Relu("r1", net.BatchNorm("b1", net.Conv("c1", x, 17, {{3}, {1}, {1}})));
  std::string y = net.Relu("r2", net.BatchNorm("b2", net.Conv("c2", x, 17, {{3}, {1}, {1}})));
  y = net.BatchNorm("b3", net.Conv("c3", y, 17, {}));
  x = net.MaxPool("pool", net.Relu("r3", net.Add("add", y, x)), {{3}, {2}, {1}});
  x = net.Unary("flat", "flatten", net.Unary("gap", "global_avg_pool", x));
  return net.Finish({net.Dense("fc", x, units)});
}

// The input for building a library of `graph` for this host and two threads.
inline BuildInput HostInput(graph::Graph graph, const std::string& name) {
  BuildInput input;
  input.graph = std::move(graph);
  input.target = Must(HostTarget());
  input.target.threads = input.threads = 2;
  input.name = name;
  return input;
}

inline std::vector<float> RandomValues(int64_t count, uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = static_cast<float>(rng.UniformDouble() * 2 - 1);
  return values;
}

// The reference's first output for random inputs of this seed.
inline std::vector<double> Expected(const graph::Graph& graph, uint64_t seed) {
  std::map<std::string, TensorData> inputs;
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    inputs[graph.inputs[i].name] = RandomValues(graph.inputs[i].type.Elements(), seed + i);
  return Must(graph::RunReference(graph, Must(graph::MakeParameters(graph, nullptr)), inputs, 1)).at(graph.outputs[0]);
}

}  // namespace hone::library

// A small residual network for tests: awkward channel counts and sizes, everything that the passes fuse, built with
// defaults.
#pragma once

#include <thread>

#include "base/file.h"
#include "base/rng.h"
#include "common/expect.h"
#include "graph/network_builder.h"
#include "graph/reference.h"
#include "library/build.h"
#include "library/loaded_network.h"
#include "library/reference.h"
#include "library/time_network.h"

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
  BuildInput input{.graph = std::move(graph), .target = Must(HostTarget())};
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

inline void ExpectClose(const float* found, const std::vector<double>& expected) {
  double scale = 0;
  for (double x : expected) scale = std::max(scale, std::abs(x));
  for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(found[i], expected[i], 2e-5 * scale) << i;
}

// Calls `work` with 0 and with 1, each in a thread of its own, and waits for both.
inline void InTwoThreads(const std::function<void(uint64_t)>& work) { std::jthread first(work, 0), second(work, 1); }

// An instance of a network, until the end of its scope. Creating it must give `code`.
class Instance {
 public:
  Instance(const LoadedNetwork& net, const std::string& params, HoneNetOptions options = {}, int code = HONE_NET_OK)
      : net_(net) {
    if (!params.empty()) options.params_path = params.c_str();
    const int found = net_.create(&options, &instance_);
    EXPECT_EQ(found, code) << net_.strerror(found) << ": " << net_.error_detail();
    EXPECT_EQ(instance_ == nullptr, found != HONE_NET_OK);
  }
  ~Instance() { net_.destroy(instance_); }
  Instance(const Instance&) = delete;
  operator HoneNet*() const { return instance_; }

 private:
  const LoadedNetwork& net_;
  HoneNet* instance_ = nullptr;
};

// Builds the graph into `dir`, runs it, and compares with the reference of the graph as it was written, not the
// normalised one.
inline TimeReply ExpectAgreement(const graph::Graph& graph, double error,
                                 const TempDir& dir = Must(TempDir::Create())) {
  Must(WriteLibrary(Must(BuildLibrary(HostInput(graph, "other"))), dir.path()));
  const TimeRequest request{.dir = dir.path(), .outputs = true};
  TimeReply reply = Must(TimeNetwork(request));
  const auto expected = Must(ReferenceOutputs(graph, nullptr, request.seed, 2, dir.Join("reference")));
  EXPECT_EQ(reply.outputs.size(), expected.size());
  for (size_t i = 0; i < reply.outputs.size(); ++i) {
    EXPECT_LT(RelativeError(reply.outputs[i].Doubles(), expected.at(i)), error) << i;
  }
  return reply;
}

inline void ExpectSameBytes(const BuiltLibrary& a, const BuiltLibrary& b) {
  EXPECT_EQ(Digest128(a.library), Digest128(b.library));
  EXPECT_EQ(Digest128(a.params), Digest128(b.params));
  EXPECT_EQ(a.manifest, b.manifest);
}

}  // namespace hone::library

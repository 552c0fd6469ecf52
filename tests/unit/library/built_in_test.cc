// A built-in network with several images, from its graph to what its library computes.
#include "graph/networks.h"
#include "library/network_plan.h"
#include "semantics/semantics.h"
#include "small_network.h"

namespace hone::library {
namespace {

// The same nodes with images of `extent` x `extent`.
graph::Graph WithImagesOf(graph::Graph graph, int64_t extent) {
  std::vector<int64_t>& image = graph.inputs[0].type.shape;
  image[2] = image[3] = extent;
  for (graph::Node& node : graph.nodes) {
    for (size_t i = 0; i < node.workload.inputs.size(); ++i) node.workload.inputs[i] = *graph.FindType(node.inputs[i]);
    node.output = Must(semantics::InferOutput(node.workload));
  }
  return graph;
}

// All of its layers, with images of 65 x 65, as the reference of larger ones takes long. With two images its
// concatenations are copies.
TEST(BuiltIn, SqueezeNetOfTwoImagesAgreesWithTheReference) {
  const graph::Graph graph = WithImagesOf(Must(graph::BuildNetwork("squeezenet_v1.1", 2)), 65);
  ASSERT_EQ(graph.FindType(graph.outputs[0])->shape, (std::vector<int64_t>{2, 1000}));
  const TempDir dir = *TempDir::Create();
  const TimeReply reply = ExpectAgreement(graph, 1e-4, dir);
  EXPECT_EQ(Must(ReadLibraryFolder(dir.path())).batch, 2);
  ASSERT_EQ(reply.outputs[0].Doubles().size(), 2000u);
  // Each image has its own scores.
  const std::vector<double> scores = reply.outputs[0].Doubles();
  EXPECT_NE(std::vector<double>(scores.begin(), scores.begin() + 1000),
            std::vector<double>(scores.begin() + 1000, scores.end()));
}

// 12 heads of 64 channels, with an odd number of tokens. Only the last reshape is a copy, into the output.
TEST(BuiltIn, EncoderOfTwoSequencesAgreesWithTheReference) {
  const graph::Graph graph = Must(graph::BuildNetwork("encoder-7", 2));
  const NetworkPlan plan = Must(PlanNetwork(graph, Must(HostTarget()), true));
  EXPECT_EQ(std::ranges::count_if(plan.nodes, [](const PlannedNode& n) { return n.workload.op == "reshape"; }), 1);
  const TimeReply reply = ExpectAgreement(graph, 1e-5);
  EXPECT_EQ(reply.outputs[0].type.shape, (std::vector<int64_t>{2, 7, 768}));
}

}  // namespace
}  // namespace hone::library

// A graph's canonical form, and a built-in network with several images, from its graph to what its library computes.
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

// What kernels pack once must be there before they run.
TEST(Canonicalise, ConstantsMustBeParameters) {
  const auto refusal = [](const std::string& workload, std::vector<std::string> inputs) {
    graph::Graph graph{.name = "g"};
    const Workload w = Must(Workload::Parse(workload));
    const std::vector<TensorType> types = Must(semantics::OperandTypes(w));
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i][0] == 'p') graph.parameters.push_back({inputs[i], types[i], {}});
      if (inputs[i][0] == 'x') graph.inputs.push_back({inputs[i], types[i]});
      if (inputs[i][0] != 'n') continue;
      graph.inputs.push_back({inputs[i] + ".x", types[i]});
      graph.nodes.push_back({inputs[i], {"identity", {types[i]}, {}, {}}, {inputs[i] + ".x"}, {}});
    }
    graph.nodes.push_back({"y", w, std::move(inputs), {}});
    graph.outputs = {"y"};
    Must(graph::CheckGraph(&graph));
    const Status canonical = Canonicalise(&graph);
    // Alternatives come later.
    EXPECT_EQ(PlanNetwork(graph, *HostTarget(), true).ok(), canonical.ok());
    return canonical.message();
  };
  EXPECT_EQ(refusal("dense(i8[1,8], i8[4,8]) + bias + shift(i8)", {"x", "p1", "p2", "p3", "p4"}), "");
  EXPECT_EQ(refusal("dense(i8[1,8], i8[4,8]) + bias + shift(i8)", {"x", "x1", "p2", "p3", "p4"}),
            "node `y`: its weight must be a parameter, but `x1` is an input of the network");
  EXPECT_EQ(refusal("dense(i8[1,8], i8[4,8]) + bias + shift(i8)", {"x", "p1", "p2", "n3", "p4"}),
            "node `y`: its shift must be a parameter, but `n3` is computed");
  EXPECT_EQ(refusal("conv2d(f32[1,8,3,3], f32[4,8,1,1]) + bias", {"p0", "p1", "x2"}),
            "node `y`: its bias must be a parameter, but `x2` is an input of the network");
  EXPECT_EQ(refusal("matmul(f32[2,3], f32[3,4])", {"x", "n1"}), "") << "both are data";
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

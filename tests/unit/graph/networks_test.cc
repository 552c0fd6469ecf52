#include "graph/networks.h"

#include "common/expect.h"
#include "graph/graph.h"
#include "graph/normalise.h"
#include "semantics/semantics.h"

namespace hone::graph {
namespace {

// Multiply-accumulates of convolutions and dense layers; the published figures count the same.
double GigaMacs(const Graph& graph) {
  double sum = 0;
  for (const Node& node : graph.nodes) {
    if (node.workload.op != "conv2d" && node.workload.op != "conv3d" && node.workload.op != "dense") continue;
    double inner = 1;
    const auto& weight = node.workload.inputs[1].shape;
    for (size_t i = 1; i < weight.size(); ++i) inner *= static_cast<double>(weight[i]);
    sum += inner * static_cast<double>(node.output.Elements());
  }
  return sum * 1e-9;
}

// Learned values, as the papers and torchvision count them: no running statistics.
int64_t LearnedParameters(const Graph& graph) {
  int64_t sum = 0;
  for (const Parameter& p : graph.parameters) {
    if (p.name.ends_with(".mean") || p.name.ends_with(".variance") || p.init.kind == InitKind::kConstant) continue;
    sum += p.type.Elements();
  }
  return sum;
}

std::map<std::string, int> DistinctConvolutions(const Graph& graph, bool with_epilogue) {
  std::map<std::string, int> found;
  for (const Node& node : graph.nodes) {
    if (node.workload.op == "conv2d") ++found[with_epilogue ? node.workload.Text() : node.workload.AnchorText()];
  }
  return found;
}

TEST(Networks, SizesArePublishedOnes) {
  // torchvision's documentation: parameters, and GMACs ("GFLOPS" there) for one 224x224 image.
  struct {
    const char* name;
    int64_t parameters;
    double gmacs;
    int64_t classes = 1000;
  } const table[] = {
      {"resnet-18", 11689512, 1.81},
      {"resnet-34", 21797672, 3.66},
      {"resnet-50", 25557032, 4.09},
      {"vgg-16", 138357544, 15.47},
      {"mobilenet_v2", 3504872, 0.3},
      {"squeezenet_v1.1", 1235496, 0.35},
      // MXNet's 11,695,796 count running statistics and a norm of the data, and it has no shortcut in the first stage.
      {"resnet18_v2", 11695796 - 12 - 2 * 3968 + 4096, 1.83},
      {"mobilenet", 4231976, 0.57},      // of its paper, and Keras's count
      {"inception_v3", 23834568, 5.71},  // without the auxiliary classifier
      {"resnet3d-18", 33371472, 40.70, 400},
  };
  for (const auto& row : table) {
    auto graph = Must(BuildNetwork(row.name, 1));
    EXPECT_EQ(LearnedParameters(graph), row.parameters) << row.name;
    EXPECT_NEAR(GigaMacs(graph), row.gmacs, 0.01) << row.name;
    EXPECT_EQ(graph.FindType(graph.outputs[0])->shape, (std::vector<int64_t>{1, row.classes}));
  }
}

TEST(Networks, AllBecomeWorkloadsOnly) {
  for (const std::string& name : NetworkNames()) {
    auto one = Must(BuildNetwork(name, 1)), graph = Must(BuildNetwork(name, 2));
    SCOPED_TRACE(name);
    Must(Normalise(&one));
    Must(Normalise(&graph));
    for (const Node& node : graph.nodes) {
      EXPECT_NE(node.workload.op, "batch_norm") << node.name;
      EXPECT_NE(node.workload.op, "dropout") << node.name;
      EXPECT_EQ(node.output.Elements(), 2 * one.FindType(node.name)->Elements()) << node.name;
    }
  }
}

TEST(Networks, ResNet18HasElevenAnchors) {
  auto graph = BuildNetwork("resnet-18", 1);
  ASSERT_TRUE(Normalise(&*graph).ok());
  EXPECT_EQ(DistinctConvolutions(*graph, false).size(), 11u);
  // With epilogues: each of the four block shapes occurs with and without an addition.
  const auto full = DistinctConvolutions(*graph, true);
  EXPECT_EQ(full.size(), 15u);
  int convolutions = 0;
  for (const auto& [text, count] : full) convolutions += count;
  EXPECT_EQ(convolutions, 20);
  EXPECT_EQ(full.at("conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1,1,1,1) + bias + add + relu"), 2);
  // Only convolutions, pooling, flatten and dense are left.
  EXPECT_EQ(graph->nodes.size(), 20u + 4u);
}

TEST(Networks, ResNet34AddsNoTask) {
  auto small = BuildNetwork("resnet-18", 1), large = BuildNetwork("resnet-34", 1);
  ASSERT_TRUE(Normalise(&*small).ok() && Normalise(&*large).ok());
  EXPECT_EQ(DistinctConvolutions(*small, true).size(), DistinctConvolutions(*large, true).size());
  for (const auto& [text, count] : DistinctConvolutions(*large, true))
    EXPECT_EQ(DistinctConvolutions(*small, true).count(text), 1u) << text;
}

// Norms that precede a convolution are one kernel with their activation.
TEST(Networks, ResNet18V2HasPreActivation) {
  auto graph = Must(BuildNetwork("resnet18_v2", 1));
  Must(Normalise(&graph));
  std::map<std::string, int> norms, three, others;
  for (const Node& node : graph.nodes) {
    const Workload& w = node.workload;
    if (w.op != "conv2d") {
      ++others[w.op];
    } else if (w.inputs[1].shape[1] == 1) {
      ++norms[w.Text()];
    } else {
      ++three[w.inputs[1].shape[2] == 3 ? w.Text() : ""];
    }
  }
  // At the stem and in each unit, and behind the last: all are of four shapes.
  EXPECT_EQ(norms.size(), 4u);
  EXPECT_EQ(norms["conv2d(f32[1,64,56,56], f32[64,1,1,1], groups=64) + bias + relu"], 3);
  EXPECT_EQ(norms["conv2d(f32[1,512,7,7], f32[512,1,1,1], groups=512) + bias + relu"], 2);
  EXPECT_EQ(three[""], 1 + 4) << "7x7, and a shortcut in each stage";
  EXPECT_EQ(three.size(), 1 + 4 * 2 + 3u) << "the norm's bias with relu, or a sum; three with a stride";
  EXPECT_EQ(three["conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1,1,1,1) + bias + relu"], 2);
  EXPECT_EQ(three["conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1,1,1,1) + add"], 2);
  EXPECT_EQ(others, (std::map<std::string, int>{
                        {"max_pool2d", 1}, {"global_avg_pool", 1}, {"flatten", 1}, {"dense", 1}, {"softmax", 1}}));
}

TEST(Networks, BottlenecksStrideInTheMiddle) {
  auto graph = BuildNetwork("resnet-50", 1);
  EXPECT_EQ(graph->FindNode("layer2.0.conv1")->workload.Find("stride"), nullptr);
  EXPECT_EQ(graph->FindNode("layer2.0.conv2")->workload.Numbers("stride", {}), (std::vector<int64_t>{2, 2}));
}

TEST(Networks, UnknownOnesAndBatchesAreRefused) {
  auto unknown = BuildNetwork("resnet18", 1);
  EXPECT_THAT(unknown.status().message(), HasSubstr("did you mean `resnet-18`"));
  EXPECT_EQ(CheckNetworkName("resnet18").message(), unknown.status().message());
  EXPECT_EQ(CheckNetworkName("model.pt").message(), "`model.pt` is not an ONNX model: export it to ONNX first");
  for (const std::string& name : NetworkNames()) EXPECT_TRUE(CheckNetworkName(name).ok()) << name;
  EXPECT_FALSE(BuildNetwork("resnet-18", 0).ok());
  EXPECT_FALSE(BuildNetwork("resnet-18", 5000).ok());
  EXPECT_THAT(BuildNetwork("vgg-16", 1024).status().message(),
              HasSubstr("batch 1024: the output of `conv1_1` in vgg-16"));
}

}  // namespace
}  // namespace hone::graph

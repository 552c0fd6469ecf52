// Libraries of networks in other layouts than blocked.
#include "graph/networks.h"
#include "library/header_text.h"
#include "small_network.h"

namespace hone::library {
namespace {

constexpr Layout kOthers[] = {Layout::kPlain, Layout::kChannelsLast};

Attribute Number(const char* name, std::vector<int64_t> values) { return {name, std::move(values), ',', ""}; }

// Operators with and without a form for channels last, two outputs of four axes, a second input.
graph::Graph Mixed(int64_t batch, Layout layout) {
  graph::NetworkBuilder net("mixed", 5);
  const std::string image = net.Input("image", {batch, 3, 11, 9}), other = net.Input("other", {batch, 16, 6, 5});
  std::string x = net.Relu("r1", net.ConvBn("c1", image, 16, {{3}, {2}, {1}}));
  const std::string depthwise = net.Relu("r2", net.ConvBn("c2", x, 16, {{3}, {1}, {1}}, 16));
  const std::string grouped = net.Conv("c3", x, 24, {{3}, {1}, {1}}, {.groups = 8, .bias = true});
  x = net.Concat("cat", {depthwise, grouped, net.Add("sum", x, other)});
  x = net.Op("norm", "lrn", {x}, {Number("size", {3})});
  x = net.Op("padded", "pad2d", {x}, {Number("pad", {1, 0, 0, 2})});
  const std::string pooled = net.MaxPool("max", x, {{3}, {2}, {1}});
  x = net.AvgPool("avg", x, {{2}, {2}, {0}}, {.ceil_mode = true});
  x = net.Concat("cat2", {x, net.Op("soft", "softmax", {pooled}, {Number("axis", {1})})});
  const std::string last = net.BatchNorm("bn", x);
  graph::Graph graph = net.Finish({last, pooled, net.Dense("fc", net.Unary("flat", "flatten", x), 7)});
  graph.layout = layout;
  return graph;
}

// ExpectAgreement compares outputs in the order of the caller.
TEST(Layouts, LibrariesAgreeWithTheReference) {
  for (const Layout layout : kOthers) {
    for (const int64_t batch : {1, 2}) {
      SCOPED_TRACE(std::string(LayoutName(layout)) + ", batch " + std::to_string(batch));
      const TimeReply reply = ExpectAgreement(Mixed(batch, layout), 2e-5);
      ASSERT_EQ(reply.outputs.size(), 3u);
      const bool last = layout == Layout::kChannelsLast;
      EXPECT_EQ(reply.outputs[0].type.shape,
                (last ? std::vector<int64_t>{batch, 4, 4, 112} : std::vector<int64_t>{batch, 112, 4, 4}));
      EXPECT_EQ(reply.outputs[2].type.shape, (std::vector<int64_t>{batch, 7}));
    }
  }
}

TEST(Layouts, VolumesHaveChannelsLastToo) {
  for (const Layout layout : kOthers) {
    graph::NetworkBuilder net("volumes", 5);
    std::string x = net.Relu("r1", net.ConvBn("c1", net.Input("data", {1, 3, 4, 9, 7}), 17, {{3}, {1, 2, 2}, {1}}));
    x = net.MaxPool("max", net.Conv("c2", x, 16, {{3}, {1}, {1}}, {.groups = 1, .bias = true}), {{2}, {2}, {1}});
    graph::Graph graph = net.Finish({net.AvgPool("avg", x, {{2}, {1}, {0}}), net.Unary("gap", "global_avg_pool", x)});
    graph.layout = layout;
    SCOPED_TRACE(LayoutName(layout));
    ExpectAgreement(graph, 2e-5);
  }
}

// A library sees the same image, and gives the same values, in another order.
TEST(Layouts, ANetworkIsTheSameInAll) {
  const TensorData plain = BenchInputs(SmallNetwork(1), 3)[0];
  graph::Graph graph = SmallNetwork(1);
  graph.layout = Layout::kChannelsLast;
  const TensorData last = BenchInputs(graph, 3)[0];
  EXPECT_EQ(last.type.shape, (std::vector<int64_t>{1, 13, 13, 3}));
  const std::vector<double> from = plain.Doubles(), to = last.Doubles();
  for (size_t c = 0; c < 3; ++c) {
    for (size_t p = 0; p < 169; ++p) ASSERT_EQ(to[p * 3 + c], from[c * 169 + p]);
  }
}

TEST(Layouts, HeaderManifestAndTableSayTheOrder) {
  const BuiltLibrary built = Must(BuildLibrary(HostInput(Mixed(1, Layout::kChannelsLast), "mixed")));
  EXPECT_THAT(built.header, HasSubstr("input  0: image f32[1,11,9,3] NHWC, 1188 bytes"));
  EXPECT_THAT(built.header, HasSubstr("output 2: fc f32[1,7], 28 bytes"));
  EXPECT_THAT(built.manifest, HasSubstr("\"layout\": \"nhwc\""));
  const BuiltLibrary blocked = Must(BuildLibrary(HostInput(SmallNetwork(1), "small")));
  EXPECT_THAT(blocked.header, HasSubstr("input  0: data f32[1,3,13,13], 2028 bytes"));
  EXPECT_THAT(blocked.manifest, Not(HasSubstr("layout\": \"")));
}

// A single pixel is stored alike in all layouts: no kernel moves it.
TEST(Layouts, APixelIsNotMoved) {
  graph::Graph graph = SmallNetwork(1);
  graph.layout = Layout::kChannelsLast;
  const BuildInput input = HostInput(graph, "small");
  const BuiltLibrary built = Must(BuildLibrary(input));
  for (const NetworkKernel& kernel : built.kernels) {
    EXPECT_THAT(kernel.workload.op, Not(HasSubstr("channels_")));
    EXPECT_NE(kernel.workload.op, "flatten");
  }
}

}  // namespace
}  // namespace hone::library

// Howard et al.: "MobileNets: efficient convolutional neural networks for mobile vision applications", 2017, and
// Sandler et al.: "MobileNetV2: inverted residuals and linear bottlenecks", 2018; both at width 1, the second as
// torchvision's.
#include <fmt/format.h>

#include "graph/network_builder.h"
#include "graph/network_zoo.h"

namespace hone::graph {
namespace {

std::string ConvBn(NetworkBuilder* net, const std::string& name, const std::string& data, int64_t channels,
                   const WindowShape& window, int64_t groups = 1, double low = 0.8, double high = 1.2) {
  return net->BatchNorm(name + ".bn", net->Conv(name, data, channels, window, {.groups = groups}), low, high);
}

std::string Depthwise(NetworkBuilder* net, const std::string& name, const std::string& data, int64_t stride) {
  const int64_t channels = net->Channels(data);
  return ConvBn(net, name, data, channels, {{3}, {stride}, {1}}, channels);
}

Graph Classify(NetworkBuilder* net, std::string x) {
  x = net->Unary("flatten", "flatten", net->Unary("avgpool", "global_avg_pool", x));
  return net->Finish({net->Dense("fc", net->Unary("dropout", "dropout", x), 1000)});
}

}  // namespace

Graph BuildMobileNet(int64_t batch) {
  struct Block {
    int64_t channels, stride;
  };
  constexpr Block kBlocks[] = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                               {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};
  NetworkBuilder net("mobilenet", 1);
  std::string x = net.Input("data", {batch, 3, 224, 224});
  x = net.Relu("conv1.relu", ConvBn(&net, "conv1", x, 32, {{3}, {2}, {1}}));
  int index = 2;
  for (const Block& block : kBlocks) {
    const std::string name = fmt::format("conv{}", index++);
    x = net.Relu(name + ".dw.relu", Depthwise(&net, name + ".dw", x, block.stride));
    x = net.Relu(name + ".pw.relu", ConvBn(&net, name + ".pw", x, block.channels, {}));
  }
  return Classify(&net, x);
}

Graph BuildMobileNetV2(int64_t batch) {
  struct Stage {
    int64_t expand, channels;
    int blocks;
    int64_t stride;
  };
  constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                               {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  NetworkBuilder net("mobilenet_v2", 1);
  auto relu6 = [&](const std::string& name, const std::string& data) { return net.Unary(name, "relu6", data); };
  std::string x = net.Input("data", {batch, 3, 224, 224});
  x = relu6("conv1.relu", ConvBn(&net, "conv1", x, 32, {{3}, {2}, {1}}));
  int index = 1;
  for (const Stage& stage : kStages) {
    for (int i = 0; i < stage.blocks; ++i) {
      const std::string name = fmt::format("block{}", index++);
      const int64_t stride = i == 0 ? stage.stride : 1;
      const int64_t in = net.Channels(x);
      const bool residual = stride == 1 && in == stage.channels;
      std::string y = x;
      if (stage.expand != 1) {
        y = relu6(name + ".expand.relu", ConvBn(&net, name + ".expand", y, in * stage.expand, {}));
      }
      y = relu6(name + ".dw.relu", Depthwise(&net, name + ".dw", y, stride));
      // As in residual networks: the sums must not grow.
      y = residual ? ConvBn(&net, name + ".project", y, stage.channels, {}, 1, 0.2, 0.5)
                   : ConvBn(&net, name + ".project", y, stage.channels, {});
      x = residual ? net.Add(name + ".add", y, x) : y;
    }
  }
  return Classify(&net, relu6("head.relu", ConvBn(&net, "head", x, 1280, {})));
}

}  // namespace hone::graph

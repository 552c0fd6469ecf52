// Residual networks, those with pre-activation, and those of three dimensions.

#include <fmt/format.h>

#include "graph/network_builder.h"

namespace hone::graph {
namespace {

// He, Zhang, Ren, Sun: "Deep residual learning for image recognition", 2015, with the stride of a bottleneck on its 3x3
// convolution ("v1.5"), as torchvision has it. Its 3-D form: Tran et al.: "A closer look at spatiotemporal convolutions
// for action recognition", 2018 (R3D), as torchvision's r3d_18.
struct ResNet {
  const char* name;
  int blocks[4];
  bool bottleneck;
};

// The last batch norm of a branch is scaled down, as the sums would otherwise double their variance in each block.
constexpr double kBranchLow = 0.2, kBranchHigh = 0.5;

std::string SquareConvBn(NetworkBuilder* net, const std::string& name, const std::string& data, int64_t channels,
                         int64_t kernel, int64_t stride, double low = 0.8, double high = 1.2) {
  return net->ConvBn(name, data, channels, {{kernel}, {stride}, {kernel / 2}}, 1, low, high);
}

// The shortcut precedes the main branch, so that the addition fuses into the branch's last convolution, which runs
// last.
std::string Block(NetworkBuilder* net, const std::string& name, const std::string& data, int64_t channels,
                  int64_t stride, bool bottleneck, bool project) {
  const int64_t width = bottleneck ? channels * 4 : channels;
  std::string shortcut = project ? SquareConvBn(net, name + ".downsample", data, width, 1, stride) : data;
  std::string x = data;
  if (bottleneck) {
    x = net->Relu(name + ".relu1", SquareConvBn(net, name + ".conv1", x, channels, 1, 1));
    x = net->Relu(name + ".relu2", SquareConvBn(net, name + ".conv2", x, channels, 3, stride));
    x = SquareConvBn(net, name + ".conv3", x, width, 1, 1, kBranchLow, kBranchHigh);
  } else {
    x = net->Relu(name + ".relu1", SquareConvBn(net, name + ".conv1", x, channels, 3, stride));
    x = SquareConvBn(net, name + ".conv2", x, channels, 3, 1, kBranchLow, kBranchHigh);
  }
  return net->Relu(name + ".out", net->Add(name + ".add", x, shortcut));
}

// The four stages, the pooling and the classifier behind the stem `x`.
Graph FinishResNet(NetworkBuilder* net, const ResNet& spec, std::string x, int64_t classes) {
  for (int layer = 0; layer < 4; ++layer) {
    for (int i = 0; i < spec.blocks[layer]; ++i) {
      const bool first = i == 0;
      x = Block(net, fmt::format("layer{}.{}", layer + 1, i), x, int64_t{64} << layer, first && layer > 0 ? 2 : 1,
                spec.bottleneck, first && (layer > 0 || spec.bottleneck));
    }
  }
  x = net->Unary("flatten", "flatten", net->Unary("avgpool", "global_avg_pool", x));
  return net->Finish({net->Dense("fc", x, classes)});
}

Graph BuildResNet(const ResNet& spec, int64_t batch) {
  NetworkBuilder net(spec.name, 1);
  std::string x = net.Input("data", {batch, 3, 224, 224});
  x = net.Relu("relu", SquareConvBn(&net, "conv1", x, 64, 7, 2));
  x = net.MaxPool("maxpool", x, {{3}, {2}, {1}});
  return FinishResNet(&net, spec, x, 1000);
}

// He, Zhang, Ren, Sun: "Identity mappings in deep residual networks", 2016: norm and activation precede each
// convolution ("pre-activation"), so nothing stands between the sums. The first unit of each stage has a convolution as
// its shortcut, and a softmax ends the network, as in TVM's and MXNet's examples.
std::string PreActivationBlock(NetworkBuilder* net, const std::string& name, const std::string& x, int64_t channels,
                               int64_t stride, bool project) {
  const std::string active = net->Relu(name + ".relu1", net->BatchNorm(name + ".bn1", x));
  const std::string shortcut = project ? net->Conv(name + ".downsample", active, channels, {{1}, {stride}, {0}}) : x;
  std::string y = net->Conv(name + ".conv1", active, channels, {{3}, {stride}, {1}});
  y = net->Relu(name + ".relu2", net->BatchNorm(name + ".bn2", y, kBranchLow, kBranchHigh));
  return net->Add(name + ".add", net->Conv(name + ".conv2", y, channels, {{3}, {1}, {1}}), shortcut);
}

}  // namespace

Graph BuildResNet18(int64_t batch) { return BuildResNet({"resnet-18", {2, 2, 2, 2}, false}, batch); }
Graph BuildResNet34(int64_t batch) { return BuildResNet({"resnet-34", {3, 4, 6, 3}, false}, batch); }
Graph BuildResNet50(int64_t batch) { return BuildResNet({"resnet-50", {3, 4, 6, 3}, true}, batch); }

Graph BuildResNet18V2(int64_t batch) {
  NetworkBuilder net("resnet18_v2", 1);
  std::string x = net.Input("data", {batch, 3, 224, 224});
  x = net.MaxPool("maxpool", net.Relu("relu", SquareConvBn(&net, "conv1", x, 64, 7, 2)), {{3}, {2}, {1}});
  for (int layer = 0; layer < 4; ++layer) {
    for (int i = 0; i < 2; ++i) {
      x = PreActivationBlock(&net, fmt::format("layer{}.{}", layer + 1, i), x, int64_t{64} << layer,
                             i == 0 && layer > 0 ? 2 : 1, i == 0);
    }
  }
  x = net.Relu("relu5", net.BatchNorm("bn5", x));
  x = net.Dense("fc", net.Unary("flatten", "flatten", net.Unary("avgpool", "global_avg_pool", x)), 1000);
  return net.Finish({net.Unary("probabilities", "softmax", x)});
}

Graph BuildResNet3d18(int64_t batch) {
  const ResNet spec = {"resnet3d-18", {2, 2, 2, 2}, false};
  NetworkBuilder net(spec.name, 1);
  std::string x = net.Input("data", {batch, 3, 16, 112, 112});
  x = net.Conv("stem", x, 64, {{3, 7, 7}, {1, 2, 2}, {1, 3, 3}});
  x = net.Relu("relu", net.BatchNorm("stem.bn", x));
  return FinishResNet(&net, spec, x, 400);
}

}  // namespace hone::graph

#include "graph/networks.h"

#include <fmt/format.h>

#include <optional>

#include "base/text.h"
#include "graph/network_builder.h"
#include "semantics/attributes.h"

namespace hone::graph {

// network_resnet.cc
Graph BuildResNet18(int64_t batch);
Graph BuildResNet34(int64_t batch);
Graph BuildResNet50(int64_t batch);
Graph BuildResNet18V2(int64_t batch);
Graph BuildResNet3d18(int64_t batch);
Graph BuildInceptionV3(int64_t batch);              // network_inception.cc
Graph BuildEncoder(int64_t batch, int64_t length);  // network_encoder.cc

namespace {

// Howard et al.: "MobileNets: efficient convolutional neural networks for mobile vision applications", 2017, and
// Sandler et al.: "MobileNetV2: inverted residuals and linear bottlenecks", 2018; both at width 1, the second as
// torchvision's.
std::string Depthwise(NetworkBuilder* net, const std::string& name, const std::string& data, int64_t stride) {
  const int64_t channels = net->Channels(data);
  return net->ConvBn(name, data, channels, {{3}, {stride}, {1}}, channels);
}

Graph Classify(NetworkBuilder* net, std::string x) {
  x = net->Unary("flatten", "flatten", net->Unary("avgpool", "global_avg_pool", x));
  return net->Finish({net->Dense("fc", net->Unary("dropout", "dropout", x), 1000)});
}

Graph BuildMobileNet(int64_t batch) {
  struct Block {
    int64_t channels, stride;
  };
  constexpr Block kBlocks[] = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                               {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};
  NetworkBuilder net("mobilenet", 1);
  std::string x = net.Input("data", {batch, 3, 224, 224});
  x = net.Relu("conv1.relu", net.ConvBn("conv1", x, 32, {{3}, {2}, {1}}));
  int index = 2;
  for (const Block& block : kBlocks) {
    const std::string name = fmt::format("conv{}", index++);
    x = net.Relu(name + ".dw.relu", Depthwise(&net, name + ".dw", x, block.stride));
    x = net.Relu(name + ".pw.relu", net.ConvBn(name + ".pw", x, block.channels, {}));
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
  x = relu6("conv1.relu", net.ConvBn("conv1", x, 32, {{3}, {2}, {1}}));
  int index = 1;
  for (const Stage& stage : kStages) {
    for (int i = 0; i < stage.blocks; ++i) {
      const std::string name = fmt::format("block{}", index++);
      const int64_t stride = i == 0 ? stage.stride : 1;
      const int64_t in = net.Channels(x);
      const bool residual = stride == 1 && in == stage.channels;
      std::string y = x;
      if (stage.expand != 1) {
        y = relu6(name + ".expand.relu", net.ConvBn(name + ".expand", y, in * stage.expand, {}));
      }
      y = relu6(name + ".dw.relu", Depthwise(&net, name + ".dw", y, stride));
      // As in residual networks, small scales keep the sums from growing.
      y = residual ? net.ConvBn(name + ".project", y, stage.channels, {}, 1, 0.2, 0.5)
                   : net.ConvBn(name + ".project", y, stage.channels, {});
      x = residual ? net.Add(name + ".add", y, x) : y;
    }
  }
  return Classify(&net, relu6("head.relu", net.ConvBn("head", x, 1280, {})));
}

// Simonyan, Zisserman: "Very deep convolutional networks for large-scale image recognition", 2014: configuration D, as
// torchvision's vgg16 (without batch norm).
Graph BuildVgg16(int64_t batch) {
  struct Stage {
    int layers;
    int64_t channels;
  };
  constexpr Stage kStages[] = {{2, 64}, {2, 128}, {3, 256}, {3, 512}, {3, 512}};
  NetworkBuilder net("vgg-16", 1);
  std::string x = net.Input("data", {batch, 3, 224, 224});
  for (int stage = 0; stage < 5; ++stage) {
    for (int i = 0; i < kStages[stage].layers; ++i) {
      const std::string at = fmt::format("{}_{}", stage + 1, i + 1);
      x = net.Relu("relu" + at, net.Conv("conv" + at, x, kStages[stage].channels, {{3}, {1}, {1}}, {.bias = true}));
    }
    x = net.MaxPool(fmt::format("pool{}", stage + 1), x, {{2}, {2}});
  }
  x = net.Unary("flatten", "flatten", x);
  for (int i = 6; i <= 7; ++i) {
    x = net.Relu(fmt::format("relu{}", i), net.Dense(fmt::format("fc{}", i), x, 4096));
    x = net.Unary(fmt::format("dropout{}", i), "dropout", x);
  }
  return net.Finish({net.Dense("fc8", x, 1000)});
}

// Iandola et al.: "SqueezeNet: AlexNet-level accuracy with 50x fewer parameters and <0.5MB model size", 2016;
// version 1.1 as torchvision's squeezenet1_1.
Graph BuildSqueezeNetV11(int64_t batch) {
  NetworkBuilder net("squeezenet_v1.1", 1);
  auto conv = [&](const std::string& name, const std::string& data, int64_t channels, const WindowShape& window) {
    return net.Relu(name + ".relu", net.Conv(name, data, channels, window, {.bias = true}));
  };
  std::string x = net.Input("data", {batch, 3, 224, 224});
  x = conv("conv1", x, 64, {{3}, {2}});
  constexpr int64_t kSqueeze[] = {16, 16, 32, 32, 48, 48, 64, 64};
  for (int i = 0; i < 8; ++i) {
    if (i == 0 || i == 2 || i == 4) {
      x = net.MaxPool(fmt::format("pool{}", i + 1), x, {{3}, {2}}, {.ceil_mode = true});
    }
    const std::string name = fmt::format("fire{}", i + 2);
    const std::string squeezed = conv(name + ".squeeze", x, kSqueeze[i], {});
    const std::string narrow = conv(name + ".expand1x1", squeezed, kSqueeze[i] * 4, {});
    const std::string wide = conv(name + ".expand3x3", squeezed, kSqueeze[i] * 4, {{3}, {1}, {1}});
    x = net.Concat(name + ".concat", {narrow, wide});
  }
  x = conv("conv10", net.Unary("dropout", "dropout", x), 1000, {});
  return net.Finish({net.Unary("flatten", "flatten", net.Unary("avgpool", "global_avg_pool", x))});
}

Graph BuildEncoder128(int64_t batch) { return BuildEncoder(batch, 128); }

struct NamedNetwork {
  const char* name;
  Graph (*build)(int64_t batch);
  Graph (*build_length)(int64_t batch, int64_t length) = nullptr;  // for a name with a length, "encoder-197"
};
constexpr NamedNetwork kNetworks[] = {
    {"resnet-18", BuildResNet18},
    {"resnet-34", BuildResNet34},
    {"resnet-50", BuildResNet50},
    {"resnet18_v2", BuildResNet18V2},
    {"vgg-16", BuildVgg16},
    {"mobilenet", BuildMobileNet},
    {"mobilenet_v2", BuildMobileNetV2},
    {"squeezenet_v1.1", BuildSqueezeNetV11},
    {"inception_v3", BuildInceptionV3},
    {"resnet3d-18", BuildResNet3d18},
    {"encoder", BuildEncoder128, BuildEncoder},
};

constexpr int64_t kMostTokens = 4096;

struct Named {
  const NamedNetwork* network;
  std::optional<int64_t> length;

  Graph Build(int64_t batch) const { return length ? network->build_length(batch, *length) : network->build(batch); }
};

Result<Named> FindNetwork(const std::string& name) {
  for (const NamedNetwork& entry : kNetworks) {
    if (name == entry.name) return Named{&entry, {}};
    const std::string prefix = std::string(entry.name) + "-";
    if (entry.build_length == nullptr || !StartsWith(name, prefix)) continue;
    const Result<int64_t> length = ParseInt(name.substr(prefix.size()));
    if (length.ok() && *length >= 1 && *length <= kMostTokens && name == prefix + std::to_string(*length)) {
      return Named{&entry, *length};
    }
    return Status::NotFound("no built-in network `{}`; the length in `{}LENGTH` must be from 1 to {}", name, prefix,
                            kMostTokens);
  }
  for (const char* ending : {".pt", ".pth", ".h5", ".keras", ".pb", ".tflite", ".safetensors"}) {
    if (EndsWith(name, ending)) return Status::NotFound("`" + name + "` is not an ONNX model: export it to ONNX first");
  }
  return Status::NotFound("no built-in network `" + name + "`" + SuggestionText(name, NetworkNames()));
}

}  // namespace

std::vector<std::string> NetworkNames() {
  std::vector<std::string> names;
  for (const NamedNetwork& entry : kNetworks) names.emplace_back(entry.name);
  return names;
}

Status CheckNetworkName(const std::string& name) { return FindNetwork(name).status(); }

Result<Graph> BuildNetwork(const std::string& name, int64_t batch) {
  if (batch < 1 || batch > 1024) return Status::Invalid("batch {}: must be between 1 and 1024", batch);
  HONE_ASSIGN_OR_RETURN(const Named named, FindNetwork(name));
  Graph one = named.Build(1);
  if (batch == 1) return one;
  for (const Node& node : one.nodes) {
    if (node.output.Elements() <= semantics::kMaxElements / batch) continue;
    return Status::Invalid("batch {}: the output of `{}` in {} would have more than 2^29 elements; use a smaller batch",
                           batch, node.name, name);
  }
  return named.Build(batch);
}

}  // namespace hone::graph

// Iandola et al.: "SqueezeNet: AlexNet-level accuracy with 50x fewer parameters and <0.5MB model size", 2016;
// version 1.1 as torchvision's squeezenet1_1.
#include <fmt/format.h>

#include "graph/network_builder.h"
#include "graph/network_zoo.h"

namespace hone::graph {

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

}  // namespace hone::graph

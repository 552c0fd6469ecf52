// Simonyan, Zisserman: "Very deep convolutional networks for large-scale image recognition", 2014: configuration D, as
// torchvision's vgg16 (without batch norm).
#include <fmt/format.h>

#include "graph/network_builder.h"
#include "graph/network_zoo.h"

namespace hone::graph {

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

}  // namespace hone::graph

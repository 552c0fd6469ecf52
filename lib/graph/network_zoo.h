// One function a built-in network; networks.cc has them by name.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace hone::graph {

Graph BuildResNet18(int64_t batch);
Graph BuildResNet34(int64_t batch);
Graph BuildResNet50(int64_t batch);
Graph BuildResNet3d18(int64_t batch);
Graph BuildVgg16(int64_t batch);
Graph BuildMobileNet(int64_t batch);
Graph BuildMobileNetV2(int64_t batch);
Graph BuildSqueezeNetV11(int64_t batch);
Graph BuildInceptionV3(int64_t batch);

}  // namespace hone::graph

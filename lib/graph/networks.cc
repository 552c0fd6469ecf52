#include "graph/networks.h"

#include <fmt/format.h>

#include "base/suggest.h"
#include "graph/network_zoo.h"

namespace hone::graph {
namespace {

struct NamedNetwork {
  const char* name;
  Graph (*build)(int64_t batch);
};
constexpr NamedNetwork kNetworks[] = {
    {"resnet-18", BuildResNet18},
    {"resnet-34", BuildResNet34},
    {"resnet-50", BuildResNet50},
    {"vgg-16", BuildVgg16},
    {"mobilenet", BuildMobileNet},
    {"mobilenet_v2", BuildMobileNetV2},
    {"squeezenet_v1.1", BuildSqueezeNetV11},
    {"inception_v3", BuildInceptionV3},
    {"resnet3d-18", BuildResNet3d18},
};

}  // namespace

std::vector<std::string> NetworkNames() {
  std::vector<std::string> names;
  for (const NamedNetwork& entry : kNetworks) names.emplace_back(entry.name);
  return names;
}

Status CheckNetworkName(const std::string& name) {
  for (const NamedNetwork& entry : kNetworks) {
    if (name == entry.name) return Status();
  }
  return Status::NotFound("no built-in network `" + name + "`" + SuggestionText(name, NetworkNames()));
}

Result<Graph> BuildNetwork(const std::string& name, int64_t batch) {
  if (batch < 1 || batch > 1024) return Status::Invalid(fmt::format("batch {}: must be between 1 and 1024", batch));
  for (const NamedNetwork& entry : kNetworks) {
    if (name == entry.name) return entry.build(batch);
  }
  return CheckNetworkName(name);
}

}  // namespace hone::graph

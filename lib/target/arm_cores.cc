#include "target/arm_cores.h"

#include <algorithm>

namespace hone {
namespace {

struct Core {
  const char* name;
  std::vector<std::string> features;
};

const std::vector<Core>& Cores() {
  static const std::vector<Core> cores = {
      {"generic", {}},
      {"cortex-a53", {}},
      {"cortex-a55", {"dotprod", "fullfp16"}},
      {"cortex-a72", {}},
      {"cortex-a73", {}},
      {"cortex-a76", {"dotprod", "fullfp16"}},
      {"neoverse-n1", {"dotprod", "fullfp16"}},
      {"neoverse-v1", {"bf16", "dotprod", "fullfp16", "i8mm"}},
  };
  return cores;
}

}  // namespace

std::optional<std::vector<std::string>> ArmCoreFeatures(const std::string& cpu) {
  const auto found = std::ranges::find(Cores(), cpu, &Core::name);
  if (found == Cores().end()) return std::nullopt;
  return found->features;
}

bool ArmCoreIsInOrder(const std::string& cpu) { return cpu == "cortex-a53" || cpu == "cortex-a55"; }

std::vector<std::string> ArmCores() {
  std::vector<std::string> names;
  for (const Core& core : Cores()) names.emplace_back(core.name);
  return names;
}

const std::vector<std::string>& ArmFeatures() {
  static const std::vector<std::string> features = {"bf16", "dotprod", "fullfp16", "i8mm"};
  return features;
}

}  // namespace hone

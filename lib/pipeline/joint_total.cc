#include "pipeline/joint_total.h"

#include <map>

namespace hone::pipeline {

// What a second less is worth.
static double Worth(const JoinedNetwork& network, const std::string& objective) {
  int64_t unknown = 0;
  const double total = EstimatedTotal(network.tasks, &unknown);
  if (network.target_ms > 0 && unknown == 0 && 1e3 * total <= network.target_ms) return 0;
  return objective == "geomean" && total > 0 ? 1 / total : 1;
}

JoinedTasks JoinNetworks(const std::vector<JoinedNetwork>& networks, const std::string& objective) {
  JoinedTasks joined;
  std::map<std::string, size_t> places;
  for (const JoinedNetwork& network : networks) {
    const double worth = Worth(network, objective);
    for (size_t i = 0; i < network.tasks.size(); ++i) {
      const ShareTask& task = network.tasks[i];
      const auto [place, added] = places.emplace(network.ids[i], joined.tasks.size());
      if (added) {
        joined.ids.push_back(network.ids[i]);
        joined.tasks.push_back({.flop = task.flop, .optional = true, .search = task.search, .weight = 0});
      }
      ShareTask& sum = joined.tasks[place->second];
      sum.weight += worth * task.Weight();
      sum.optional = sum.optional && task.optional;
    }
  }
  return joined;
}

}  // namespace hone::pipeline

#include "pipeline/joint_total.h"

#include <algorithm>
#include <map>

namespace hone::pipeline {

// How much a second less in each network counts.
static std::vector<double> Worths(const std::vector<JoinedNetwork>& networks, const std::string& objective) {
  std::vector<double> worths;
  double most = 0;
  for (const JoinedNetwork& network : networks) {
    int64_t unknown = 0;
    const double total = EstimatedTotal(network.tasks, &unknown);
    const bool reached = network.target_ms > 0 && unknown == 0 && 1e3 * total <= network.target_ms;
    worths.push_back(reached ? 0 : objective == "sum" ? 1 : total > 0 ? 1 / total : -1);
    most = std::max(most, worths.back());
  }
  // Without any time, a network counts like the one that counts most.
  for (double& worth : worths) worth = worth < 0 ? (most > 0 ? most : 1) : worth;
  return worths;
}

JoinedTasks JoinNetworks(const std::vector<JoinedNetwork>& networks, const std::string& objective) {
  JoinedTasks joined;
  std::map<std::string, size_t> places;
  const std::vector<double> worths = Worths(networks, objective);
  for (size_t n = 0; n < networks.size(); ++n) {
    const JoinedNetwork& network = networks[n];
    for (size_t i = 0; i < network.tasks.size(); ++i) {
      const ShareTask& task = network.tasks[i];
      const auto [place, added] = places.emplace(network.ids[i], joined.tasks.size());
      if (added) {
        joined.ids.push_back(network.ids[i]);
        joined.tasks.push_back({.flop = task.flop, .optional = true, .search = task.search, .weight = 0});
      }
      ShareTask& sum = joined.tasks[place->second];
      sum.weight += worths[n] * task.Weight();
      sum.optional = sum.optional && task.optional;
    }
  }
  return joined;
}

}  // namespace hone::pipeline

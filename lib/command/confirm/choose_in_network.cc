#include "command/confirm/choose_in_network.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "graph/alternatives.h"

namespace hone::command {
namespace {

using library::Compared;
using pipeline::BestEntry;
using pipeline::BestFile;
using pipeline::Finalist;

constexpr double kWorthwhile = 0.99;
// Limit for all libraries together, which are in a temporary folder.
constexpr int64_t kMostBytes = int64_t{3} << 30;

// Times whole runs or layers.
Result<std::vector<Compared>> Time(const InNetworkTrial& trial, const std::vector<TrialNetwork>& networks,
                                   bool layers) {
  library::CompareOptions options = trial.compare;
  options.layers = layers;
  return trial.networks->Compare(networks, options);
}

// `rounds` are the networks with the task's first finalist, with the second, ..
void ChooseFinalist(const NetworkTrials& networks, const std::vector<Compared>& rounds, BestEntry* task) {
  const Finalist* chosen = nullptr;
  for (size_t k = 0; k < std::min(task->finalists.size(), rounds.size()); ++k) {
    const Compared& with = rounds[k];
    Finalist* finalist = &task->finalists[k];
    finalist->in_network = 0;
    for (size_t layer = 0; layer < with.workloads.size(); ++layer) {
      if (networks.TaskOf(with.workloads[layer]) == task->id) finalist->in_network += with.LayerSeconds(layer);
    }
    if (finalist->in_network <= 0) return;  // the network built here does not contain this task
    if (chosen == nullptr || finalist->in_network < chosen->in_network) chosen = finalist;
  }
  if (chosen == nullptr || !(chosen->in_network < kWorthwhile * task->finalists[0].in_network)) return;
  task->Choose(*chosen);
}

std::map<std::string, double> LayersByName(const Compared& network) {
  std::map<std::string, double> layers;
  for (size_t i = 0; i < network.names.size(); ++i) layers[network.names[i]] = network.LayerSeconds(i);
  return layers;
}

// A variant that differs from the combination in one respect.
struct Variant {
  std::string what;  // as ComparedChoice::what; "finalists" for the best alone
  double seconds = 0;
};

void Apply(const Variant& variant, BestFile* choice) {
  if (variant.what == "finalists") {
    for (BestEntry& task : choice->tasks) {
      if (!task.finalists.empty()) task.Choose(task.finalists[0]);
    }
  }
  if (variant.what == "alternatives") choice->alternatives.clear();
  if (variant.what == "slices") choice->share.slices = false;
  if (variant.what == "in_place") choice->share.in_place = false;
}

// Sharing memory has no other cost, so a variant without it must gain more than the scatter of the runs.
bool IsBetter(const Variant& variant, double combination) {
  const bool shares = variant.what == "slices" || variant.what == "in_place";
  return variant.seconds < (shares ? kWorthwhile : 1) * combination;
}

}  // namespace

Status ChooseFinalists(const InNetworkTrial& trial, size_t most, BestFile* best, pipeline::InNetwork* in_network) {
  std::vector<TrialNetwork> built;
  size_t count = std::max<size_t>(most, 1);
  for (size_t k = 0; k < count; ++k) {
    ShowLiveLine("{}: building with finalist {} of {}", best->network, k + 1, count);
    BestFile choice = *best;
    for (BestEntry& task : choice.tasks) {  // a task with fewer finalists keeps its first
      if (!task.finalists.empty()) task.Choose(task.finalists[k < task.finalists.size() ? k : 0]);
    }
    HONE_ASSIGN_OR_RETURN(TrialNetwork network, trial.networks->Build(choice));
    if (k == 0 && count > 1) {
      count = std::clamp<size_t>(static_cast<size_t>(kMostBytes / std::max<int64_t>(network.params_bytes, 1)), 2, most);
    }
    built.push_back(std::move(network));
  }
  ShowLiveLine("{}: timing {} finalists in the network", best->network, count);
  HONE_ASSIGN_OR_RETURN(const std::vector<Compared> rounds, Time(trial, built, /*layers=*/true));
  for (size_t k = 1; k < built.size(); ++k) trial.networks->Drop(built[k]);  // keep the first: it is needed again
  in_network->runs = static_cast<int64_t>(rounds[0].runs.size());
  in_network->alone_seconds = in_network->confirmed_seconds = rounds[0].RunSeconds();
  for (BestEntry& task : best->tasks) ChooseFinalist(*trial.networks, rounds, &task);
  return Status();
}

Status ChooseAlternatives(const InNetworkTrial& trial, BestFile* best) {
  std::map<std::string, std::pair<double, double>> kernels;  // seconds with and without, by the kernel's workload
  for (const pipeline::Alternative& a : best->alternatives) kernels[a.by.back().workload] = {0, 0};
  if (kernels.size() < 2) return Status();
  ShowLiveLine("{}: building without alternatives", best->network);
  BestFile without = *best;
  without.alternatives.clear();
  HONE_ASSIGN_OR_RETURN(TrialNetwork with_network, trial.networks->Build(*best));
  HONE_ASSIGN_OR_RETURN(TrialNetwork without_network, trial.networks->Build(without));
  ShowLiveLine("{}: timing {} alternatives in the network", best->network, best->alternatives.size());
  HONE_ASSIGN_OR_RETURN(const std::vector<Compared> both,
                        Time(trial, {with_network, without_network}, /*layers=*/true));
  std::map<std::string, double> with_layers = LayersByName(both[0]), without_layers = LayersByName(both[1]);
  for (const pipeline::Alternative& a : best->alternatives) {
    auto& [seconds, apart] = kernels[a.by.back().workload];
    for (const pipeline::AlternativeNode& node : a.by) {
      if (&node == &a.by.back() || !without_layers.count(node.name)) seconds += with_layers[node.name];
    }
    for (const std::string& name : a.replaces) {
      apart += without_layers[name];
      for (const std::string& input : trial.graph.FindNode(name)->inputs) {
        const graph::Node* before = trial.graph.FindNode(input);
        if (before == nullptr || !graph::IsTransform(before->workload) || with_layers.count(input)) continue;
        apart += without_layers[input];  // a transform that only the network without them needs
      }
    }
  }
  std::erase_if(best->alternatives, [&](const pipeline::Alternative& a) {
    const auto& [seconds, apart] = kernels[a.by.back().workload];
    return !(seconds < apart);
  });
  return Status();
}

Status ChooseWhole(const InNetworkTrial& trial, bool changed, BestFile* best, pipeline::InNetwork* in_network) {
  ShowLiveLine("{}: building the combination", best->network);
  HONE_ASSIGN_OR_RETURN(TrialNetwork combination, trial.networks->Build(*best));
  std::vector<Variant> variants;
  if (changed) variants.push_back({"finalists"});
  if (!best->alternatives.empty()) variants.push_back({"alternatives"});
  if (combination.slices > 0) variants.push_back({"slices"});
  if (combination.in_place > 0) variants.push_back({"in_place"});
  if (variants.empty()) return Status();
  std::vector<TrialNetwork> built = {combination};
  for (const Variant& variant : variants) {
    BestFile choice = *best;
    Apply(variant, &choice);
    HONE_ASSIGN_OR_RETURN(built.emplace_back(), trial.networks->Build(choice));
  }
  ShowLiveLine("{}: timing the combination", best->network);
  HONE_ASSIGN_OR_RETURN(const std::vector<Compared> runs, Time(trial, built, /*layers=*/false));
  const double with = runs[0].RunSeconds();
  in_network->runs = static_cast<int64_t>(runs[0].runs.size());
  in_network->alone_seconds = in_network->confirmed_seconds = with;
  in_network->kept = changed;
  std::vector<size_t> better;  // variants
  size_t fastest = 0;          // among these
  for (size_t i = 0; i < variants.size(); ++i) {
    Variant& variant = variants[i];
    variant.seconds = runs[i + 1].RunSeconds();
    if (IsBetter(variant, with)) {
      if (better.empty() || variant.seconds < variants[fastest].seconds) fastest = i;
      better.push_back(i);
    }
    if (variant.what == "finalists") {
      in_network->alone_seconds = variant.seconds;
    } else {
      const int64_t count = static_cast<int64_t>(runs[i + 1].runs.size());
      in_network->compared.push_back({variant.what, with, variant.seconds, count, true});
    }
  }
  if (better.empty()) return Status();
  BestFile together = *best;
  for (const size_t i : better) Apply(variants[i], &together);
  if (better.size() > 1) {
    HONE_ASSIGN_OR_RETURN(TrialNetwork network, trial.networks->Build(together));
    HONE_ASSIGN_OR_RETURN(const std::vector<Compared> last,
                          Time(trial, {built[fastest + 1], network}, /*layers=*/false));
    if (!(last[1].RunSeconds() < last[0].RunSeconds())) {
      better = {fastest};
      together = *best;
      Apply(variants[fastest], &together);
    }
  }
  for (const size_t i : better) {
    if (variants[i].what == "finalists") in_network->kept = false;
    for (pipeline::ComparedChoice& c : in_network->compared) c.kept = c.kept && c.what != variants[i].what;
  }
  *best = std::move(together);
  return Status();
}

}  // namespace hone::command

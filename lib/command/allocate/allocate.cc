#include "command/allocate/allocate.h"

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/text.h"
#include "command/common/network_rounds.h"
#include "pipeline/joint_total.h"
#include "pipeline/settings.h"
#include "pipeline/shares.h"
#include "pipeline/stamp_files.h"
#include "pipeline/task_list.h"

namespace hone::command {

namespace {

using pipeline::TaskEntry;

// A network with the settings of its pipeline.
struct Network {
  std::string job;  // "NET.TARGET"
  pipeline::TaskList list;
  pipeline::TuneSettings settings;
};

Result<std::vector<Network>> ReadNetworks(const AllocateOptions& options) {
  if (options.tasks.size() != options.settings.size()) {
    return Status::Invalid("{} of --tasks, but {} of --settings: each network has one of both", options.tasks.size(),
                           options.settings.size());
  }
  std::vector<Network> networks;
  for (size_t i = 0; i < options.tasks.size(); ++i) {
    constexpr std::string_view kEnding = ".tasks.json";
    std::string job = BaseName(options.tasks[i]);
    if (EndsWith(job, std::string(kEnding))) job.resize(job.size() - kEnding.size());
    HONE_ASSIGN_OR_RETURN(pipeline::TaskList list, pipeline::ReadTaskList(options.tasks[i]));
    HONE_ASSIGN_OR_RETURN(pipeline::TuneSettings settings, pipeline::ReadTuneSettings(options.settings[i]));
    networks.push_back({job, std::move(list), std::move(settings)});
  }
  return networks;
}

Result<pipeline::JoinedNetwork> ReadState(const AllocateOptions& options, const Network& network, bool by_time) {
  pipeline::JoinedNetwork state{.target_ms = network.settings.target_ms};
  for (const TaskEntry& entry : network.list.tasks) {
    pipeline::ShareTask task{entry.weight, entry.flop, entry.optional};
    task.weight = pipeline::WeightOf(network.settings, entry.id);
    if (options.round > 1) {
      const std::string path = pipeline::RoundStampPath(options.stamps, entry.id);
      HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
      auto search = pipeline::ParseStamp(text, path, by_time);
      if (!search.ok()) return search.status().WithContext("remove it: hone-tune writes it again");
      task.search = std::move(*search);
    }
    state.ids.push_back(entry.id);
    state.tasks.push_back(std::move(task));
  }
  return state;
}

// The state of the networks before this round, as a text for people; nothing if the folder has another name.
Result<std::string> StateText(const AllocateOptions& options, const std::vector<Network>& networks,
                              const std::map<std::string, double>& next) {
  const std::string name = BaseName(options.stamps), ending = pipeline::RoundName("", options.round - 1);
  std::string text;
  if (options.round == 1 || !EndsWith(name, ending)) return text;
  Total total{name.substr(0, name.size() - ending.size()), networks[0].settings, {}};
  for (const auto& [task, budget] : next) total.tasks.insert(task);
  for (const Network& network : networks) {
    std::vector<double> own;
    for (const TaskEntry& entry : network.list.tasks) own.push_back(next.at(entry.id));
    HONE_ASSIGN_OR_RETURN(const NetworkRounds rounds,
                          ReadRounds(DirName(options.stamps), network.job, total, network.list, options.round - 1));
    text += RoundsText(rounds, own);
  }
  return text;
}

Status Allocate(const AllocateOptions& options) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Network> networks, ReadNetworks(options));
  const pipeline::TuneSettings& base = networks[0].settings;
  if (options.round < 1 || options.round > base.rounds) {
    return Status::Invalid("--round {}: the rounds are 1 to {} ({})", options.round, base.rounds, options.settings[0]);
  }
  const bool by_time = base.seconds_total > 0;
  std::vector<pipeline::JoinedNetwork> states;
  for (const Network& network : networks) {
    HONE_ASSIGN_OR_RETURN(states.emplace_back(), ReadState(options, network, by_time));
  }
  const pipeline::JoinedTasks joined = pipeline::JoinNetworks(states, base.objective);
  if (const std::string problem = pipeline::BudgetProblem(base, joined.tasks.size()); !problem.empty()) {
    return Status::Invalid("{}: /{}", options.settings[0], problem);
  }
  const std::vector<double> budgets = pipeline::ShareOut(joined.tasks, base, options.round);
  HONE_RETURN_IF_ERROR(MakeDirs(options.out));
  double sum = 0;
  std::map<std::string, double> next;
  for (size_t i = 0; i < budgets.size(); ++i) {
    pipeline::TuneSettings settings = pipeline::WithoutTotal(base);
    settings.trials = by_time ? pipeline::kMostTrials : static_cast<int64_t>(budgets[i]);
    if (by_time) settings.seconds = budgets[i];
    if (options.round < base.rounds) settings.finalists = 0;
    const std::string path = JoinPath(options.out, joined.ids[i] + ".tune.json");
    HONE_RETURN_IF_ERROR(WriteFileIfChanged(path, pipeline::TuneSettingsText(settings)).status());
    sum += budgets[i];
    next[joined.ids[i]] = budgets[i];
  }
  HONE_ASSIGN_OR_RETURN(const std::string state, StateText(options, networks, next));
  PrintOut(state);
  const double total = by_time ? base.seconds_total : static_cast<double>(base.trials_total);
  LogInfo("round {} of {}: {:.{}f} of {:.{}f} {} over {} tasks{}", options.round, base.rounds, sum, by_time ? 1 : 0,
          total, by_time ? 1 : 0, by_time ? "seconds" : "trials", joined.tasks.size(),
          networks.size() == 1 ? "" : fmt::format(" of {} networks", networks.size()));
  return Status();
}

}  // namespace

std::string AllocateAbi() { return "allocate 3"; }

int RunAllocate(const AllocateOptions& options) { return ExitCodeOf(Allocate(options)); }

}  // namespace hone::command

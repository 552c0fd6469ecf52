#include "command/allocate/allocate.h"

#include <vector>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/text.h"
#include "command/common/network_rounds.h"
#include "pipeline/settings.h"
#include "pipeline/shares.h"
#include "pipeline/stamp_files.h"
#include "pipeline/task_list.h"

namespace hone::command {

using pipeline::ShareTask;
using pipeline::TaskEntry;

static Result<std::vector<ShareTask>> ReadState(const AllocateOptions& options, const pipeline::TaskList& list,
                                                const pipeline::TuneSettings& settings) {
  const bool by_time = settings.seconds_total > 0;
  std::vector<ShareTask> tasks;
  for (const TaskEntry& entry : list.tasks) {
    ShareTask task{entry.weight, entry.flop, entry.optional};
    task.weight = pipeline::WeightOf(settings, entry.id);
    if (options.round > 1) {
      const std::string path = pipeline::RoundStampPath(options.stamps, entry.id);
      HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
      auto search = pipeline::ParseStamp(text, path, by_time);
      if (!search.ok()) return search.status().WithContext("remove it: hone-tune writes it again");
      task.search = std::move(*search);
    }
    tasks.push_back(std::move(task));
  }
  return tasks;
}

// The state of the network before this round, for those who watch; nothing if the folder has another name.
static Result<std::string> StateText(const AllocateOptions& options, const pipeline::TuneSettings& settings,
                                     const pipeline::TaskList& list, const std::vector<double>& next) {
  const std::string name = BaseName(options.stamps), ending = pipeline::RoundName("", options.round - 1);
  if (options.round == 1 || !EndsWith(name, ending)) return std::string();
  const std::string job = name.substr(0, name.size() - ending.size());
  HONE_ASSIGN_OR_RETURN(const NetworkRounds network,
                        ReadRounds(DirName(options.stamps), job, settings, list, options.round - 1));
  return RoundsText(network, next);
}

static Status Allocate(const AllocateOptions& options) {
  HONE_ASSIGN_OR_RETURN(const pipeline::TaskList list, pipeline::ReadTaskList(options.tasks));
  HONE_ASSIGN_OR_RETURN(const pipeline::TuneSettings base, pipeline::ReadTuneSettings(options.settings));
  if (options.round < 1 || options.round > base.rounds) {
    return Status::Invalid("--round {}: the rounds are 1 to {} ({})", options.round, base.rounds, options.settings);
  }
  if (const std::string problem = pipeline::BudgetProblem(base, list.tasks.size()); !problem.empty()) {
    return Status::Invalid("{}: /{}", options.settings, problem);
  }
  const bool by_time = base.seconds_total > 0;
  HONE_ASSIGN_OR_RETURN(const std::vector<ShareTask> tasks, ReadState(options, list, base));
  const std::vector<double> budgets = pipeline::ShareOut(tasks, base, options.round);
  HONE_RETURN_IF_ERROR(MakeDirs(options.out));
  double sum = 0;
  for (size_t i = 0; i < budgets.size(); ++i) {
    pipeline::TuneSettings settings = pipeline::WithoutTotal(base);
    settings.trials = by_time ? pipeline::kMostTrials : static_cast<int64_t>(budgets[i]);
    if (by_time) settings.seconds = budgets[i];
    if (options.round < base.rounds) settings.finalists = 0;
    const std::string path = JoinPath(options.out, list.tasks[i].id + ".tune.json");
    HONE_RETURN_IF_ERROR(WriteFileIfChanged(path, pipeline::TuneSettingsText(settings)).status());
    sum += budgets[i];
  }
  HONE_ASSIGN_OR_RETURN(const std::string state, StateText(options, base, list, budgets));
  PrintOut(state);
  const double total = by_time ? base.seconds_total : static_cast<double>(base.trials_total);
  LogInfo("round {} of {}: {:.{}f} of {:.{}f} {} over {} tasks", options.round, base.rounds, sum, by_time ? 1 : 0, total,
          by_time ? 1 : 0, by_time ? "seconds" : "trials", list.tasks.size());
  return Status();
}

std::string AllocateAbi() { return "allocate 2"; }

int RunAllocate(const AllocateOptions& options) { return ExitCodeOf(Allocate(options)); }

}  // namespace hone::command

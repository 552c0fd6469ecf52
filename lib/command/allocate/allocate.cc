#include "command/allocate/allocate.h"

#include <vector>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "pipeline/settings.h"
#include "pipeline/shares.h"
#include "pipeline/stamp_files.h"
#include "pipeline/task_list.h"

namespace hone::command {

using pipeline::ShareTask;
using pipeline::TaskEntry;

static Result<std::vector<ShareTask>> ReadState(const AllocateOptions& options, const pipeline::TaskList& list) {
  std::vector<ShareTask> tasks;
  for (const TaskEntry& entry : list.tasks) {
    ShareTask task{entry.weight, entry.flop};
    if (options.round > 1) {
      const std::string path = pipeline::RoundStampPath(options.stamps, entry.id);
      HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
      const auto state = pipeline::ParseStamp(text, path);
      if (!state.ok()) return state.status().WithContext("remove it: hone-tune writes it again");
      task.given = state->given;
      task.spent = state->spent;
      task.seconds = state->seconds;
    }
    tasks.push_back(task);
  }
  return tasks;
}

static Status Allocate(const AllocateOptions& options) {
  HONE_ASSIGN_OR_RETURN(const pipeline::TaskList list, pipeline::ReadTaskList(options.tasks));
  HONE_ASSIGN_OR_RETURN(const pipeline::TuneSettings base, pipeline::ReadTuneSettings(options.settings));
  const int64_t count = static_cast<int64_t>(list.tasks.size());
  if (base.trials_total < count) {
    return Status::Invalid("{}: /trials_total is {}, fewer than the tasks ({}): each needs one trial at least",
                           options.settings, base.trials_total, count);
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<ShareTask> tasks, ReadState(options, list));
  const std::vector<int64_t> budgets = pipeline::ShareOut(tasks, base.trials_total, options.round, pipeline::kRounds);
  HONE_RETURN_IF_ERROR(MakeDirs(options.out));
  int64_t sum = 0;
  for (size_t i = 0; i < budgets.size(); ++i) {
    pipeline::TuneSettings settings = base;
    settings.trials_total = 0;
    settings.trials = budgets[i];
    if (options.round < pipeline::kRounds) settings.finalists = 0;
    const std::string path = JoinPath(options.out, list.tasks[i].id + ".tune.json");
    HONE_RETURN_IF_ERROR(WriteFileIfChanged(path, pipeline::TuneSettingsText(settings)).status());
    sum += budgets[i];
  }
  LogInfo("round {} of {}: {} of {} trials over {} tasks", options.round, pipeline::kRounds, sum, base.trials_total,
          count);
  return Status();
}

std::string AllocateAbi() { return "allocate 1"; }

int RunAllocate(const AllocateOptions& options) {
  if (options.round < 1 || options.round > pipeline::kRounds) {
    return ExitCodeOf(Status::Invalid("--round {}: the rounds are 1 to {}", options.round, pipeline::kRounds));
  }
  return ExitCodeOf(Allocate(options));
}

}  // namespace hone::command

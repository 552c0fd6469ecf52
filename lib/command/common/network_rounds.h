// A network whose tasks are tuned in the rounds of a total (pipeline/shares.h), as the stamps in its work folder tell:
// what each task has, and the estimated total of the network after each round.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/settings.h"
#include "pipeline/shares.h"
#include "pipeline/task_list.h"
#include "report/report_data.h"

namespace hone::command {

// The total of a job, which may also pay for others.
struct Total {
  std::string job;  // "NET.TARGET": rounds have its name
  pipeline::TuneSettings settings;
  std::set<std::string> tasks;  // ids of all tasks that it pays for
};

struct NetworkRounds {
  std::string job;  // "NET.TARGET"
  Total total;      // its own, or that of another job
  std::vector<pipeline::TaskEntry> tasks;
  std::vector<pipeline::ShareTask> state;  // one a task, from its newest stamp
  std::vector<report::RoundFact> history;  // of the rounds that have begun; what was spent is that of all networks
};

// Reads the stamps of the first `rounds` rounds below `stamps`, the folder WORK/stamps.
Result<NetworkRounds> ReadRounds(const std::string& stamps, const std::string& job, const Total& total,
                                 const pipeline::TaskList& list, int64_t rounds);

// Reads build.ninja, the settings, and the stamps of WORK. Nothing if no total pays for the job. Returns an error if a
// file cannot be read.
Result<std::optional<NetworkRounds>> FindRounds(const std::string& work, const std::string& job,
                                                const pipeline::TaskList& list);

// Adds trials of the running round, which has no stamp yet. `trials` counts those of earlier rounds as well; fewer than
// in the last stamp are ignored. `seconds` is the best time, 0 without a correct trial.
void AddRunning(size_t task, int64_t trials, double seconds, NetworkRounds* network);

// A table of at most 120 columns, the tasks that take most of the network's time first: task, name, uses, time,
// GFLOP/s, trials, and the last gain. Under it the estimated total after each round, what was spent, and what is next.
// `next`: the budgets of the next round, in the order of the tasks; may be empty.
std::string RoundsText(const NetworkRounds& network, const std::vector<double>& next = {});

// Returns the trials or seconds of the total that are not spent yet.
double Left(const NetworkRounds& network);

}  // namespace hone::command

// Replays of tasks that learn from each other, like the tasks of a pipeline with `transfer = true`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "pipeline/donors.h"
#include "record/replay_space.h"
#include "search/space/space.h"
#include "search/tuner/auto_donors.h"
#include "session/replay.h"
#include "session/saved_model.h"
#include "session/tuner_context.h"
#include "task/workload.h"

namespace hone::session {

// The data is owned elsewhere.
struct ReplayTask {
  const record::ReplaySpace* replay = nullptr;
  const search::TaskSpace* space = nullptr;
  search::LoopProgram loops;  // null: points are lowered anew in each run
};

struct ReplayPosition {
  std::string id;
  size_t task = 0;             // among those given
  std::vector<size_t> donors;  // likewise
};

// In an order in which they can be tuned: donors first.
inline Result<std::vector<ReplayPosition>> InOrder(const std::vector<ReplayTask>& tasks) {
  std::map<std::string, std::vector<ReplayPosition>> targets;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const record::ReplaySpace& replay = *tasks[i].replay;
    HONE_ASSIGN_OR_RETURN(const Workload workload, Workload::Parse(replay.workload));
    targets[replay.target].push_back({TaskId(workload, replay.target), i, {}});
  }
  std::vector<ReplayPosition> ordered;
  for (auto& [target, positions] : targets) {
    std::stable_sort(positions.begin(), positions.end(),
                     [](const ReplayPosition& a, const ReplayPosition& b) { return a.id < b.id; });
    std::vector<pipeline::DonorTask> asking;
    for (const ReplayPosition& p : positions) asking.push_back({p.id, tasks[p.task].replay->workload, {true, {}}});
    const std::vector<std::vector<size_t>> chosen = pipeline::ChooseDonors(asking);
    for (size_t i = 0; i < positions.size(); ++i) {
      for (const size_t donor : chosen[i]) positions[i].donors.push_back(positions[donor].task);
    }
    ordered.insert(ordered.end(), positions.begin(), positions.end());
  }
  return ordered;
}

// Lowers each point once and keeps it for all runs that share the returned function: for tuners that look at the loops
// of one space under many seeds. Thread-safe. A point takes some hundred kilobytes.
inline search::LoopProgram RememberLoops(search::LoopProgram loops) {
  struct Known {
    std::mutex mutex;
    std::map<std::string, Result<ir::Function>> functions;  // by workload and point
  };
  return [known = std::make_shared<Known>(), loops = std::move(loops)](const Workload& workload, const Config& config) {
    const std::string key = workload.Text() + "\n" + config.Text();
    {
      const std::lock_guard<std::mutex> lock(known->mutex);
      if (const auto at = known->functions.find(key); at != known->functions.end()) return at->second;
    }
    Result<ir::Function> function = loops(workload, config);
    const std::lock_guard<std::mutex> lock(known->mutex);
    return known->functions.emplace(key, std::move(function)).first->second;
  };
}

// Runs one tuner on all tasks with seeds 1 .. seeds. Returns each task's runs in the order of the seeds. Donors are
// chosen as hone-plan and hone-tune choose them (pipeline/donors.h, session/tuner_context.h): the nearest tasks of the
// same target and machine whose ids come before the task's own. They bring the trials that this tuner made on them
// under the same seed. The first task has no donor. `options.seed`, `options.donors` and `options.loops` are ignored.
inline Result<std::vector<std::vector<ReplayRun>>> ReplayWithDonors(const std::vector<ReplayTask>& tasks,
                                                                    const ReplayOptions& options, int64_t seeds) {
  HONE_ASSIGN_OR_RETURN(const std::vector<ReplayPosition> order, InOrder(tasks));
  std::vector<std::vector<ReplayRun>> runs(tasks.size());
  for (int64_t seed = 1; seed <= seeds; ++seed) {
    for (const ReplayPosition& position : order) {
      const ReplayTask& task = tasks[position.task];
      ReplayOptions one = options;
      one.seed = static_cast<uint64_t>(seed);
      one.loops = task.loops;
      one.donors.clear();
      std::set<std::string> templates;
      for (const record::ReplayTemplate& t : task.replay->templates) templates.insert(t.name);
      for (const size_t donor : position.donors) {
        const record::ReplaySpace& theirs = *tasks[donor].replay;
        if (theirs.machine != task.replay->machine) continue;
        HONE_ASSIGN_OR_RETURN(const Workload workload, Workload::Parse(theirs.workload));
        if (auto made = MakeDonor(workload, runs[donor].back().trials, templates)) {
          one.donors.push_back(std::move(*made));
        }
      }
      HONE_ASSIGN_OR_RETURN(ReplayRun run, Replay(*task.replay, *task.space, one));
      runs[position.task].push_back(std::move(run));
    }
  }
  return runs;
}

// The same, but each task learns from the trials that this tuner, without donors and under the same seed, made on all
// others: as with a saved model (`hone-records learn`) of other networks.
inline Result<std::vector<std::vector<ReplayRun>>> ReplayUnseen(const std::vector<ReplayTask>& tasks,
                                                                const ReplayOptions& options, int64_t seeds) {
  std::vector<std::vector<ReplayRun>> runs(tasks.size());
  for (int64_t seed = 1; seed <= seeds; ++seed) {
    ReplayOptions one = options;
    one.seed = static_cast<uint64_t>(seed);
    std::vector<search::Donor> donors;
    for (const ReplayTask& task : tasks) {
      one.loops = task.loops;
      HONE_ASSIGN_OR_RETURN(const Workload workload, Workload::Parse(task.replay->workload));
      HONE_ASSIGN_OR_RETURN(ReplayRun run, Replay(*task.replay, *task.space, one));
      std::vector<double> seconds;
      for (const Outcome& trial : run.trials) seconds.push_back(trial.state == TrialState::kOk ? trial.median : 0);
      donors.push_back({workload, {}});
      for (const size_t i : search::ChooseTrials(seconds, kMostOfTask)) donors.back().outcomes.push_back(run.trials[i]);
    }
    for (size_t t = 0; t < tasks.size(); ++t) {
      one.loops = tasks[t].loops;
      one.donors = donors;
      one.donors.erase(one.donors.begin() + static_cast<std::ptrdiff_t>(t));
      HONE_ASSIGN_OR_RETURN(runs[t].emplace_back(), Replay(*tasks[t].replay, *tasks[t].space, one));
    }
  }
  return runs;
}

}  // namespace hone::session

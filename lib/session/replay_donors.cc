#include "session/replay_donors.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "pipeline/donors.h"
#include "session/donors.h"
#include "task/workload.h"

namespace hone::session {
namespace {

struct Position {
  std::string id;
  size_t task = 0;             // among those given
  std::vector<size_t> donors;  // likewise
};

// In the order in which they can be tuned: donors first.
Result<std::vector<Position>> InOrder(const std::vector<ReplayTask>& tasks) {
  std::map<std::string, std::vector<Position>> targets;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const record::ReplaySpace& replay = *tasks[i].replay;
    HONE_ASSIGN_OR_RETURN(const Workload workload, Workload::Parse(replay.workload));
    targets[replay.target].push_back({TaskId(workload, replay.target), i, {}});
  }
  std::vector<Position> ordered;
  for (auto& [target, positions] : targets) {
    std::stable_sort(positions.begin(), positions.end(),
                     [](const Position& a, const Position& b) { return a.id < b.id; });
    std::vector<pipeline::DonorTask> asking;
    for (const Position& p : positions) asking.push_back({p.id, tasks[p.task].replay->workload, {true, {}}});
    const std::vector<std::vector<size_t>> chosen = pipeline::ChooseDonors(asking);
    for (size_t i = 0; i < positions.size(); ++i) {
      for (const size_t donor : chosen[i]) positions[i].donors.push_back(positions[donor].task);
    }
    ordered.insert(ordered.end(), positions.begin(), positions.end());
  }
  return ordered;
}

}  // namespace

Result<std::vector<std::vector<ReplayRun>>> ReplayWithDonors(const std::vector<ReplayTask>& tasks,
                                                             const ReplayOptions& options, int64_t seeds) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Position> order, InOrder(tasks));
  std::vector<std::vector<ReplayRun>> runs(tasks.size());
  for (int64_t seed = 1; seed <= seeds; ++seed) {
    for (const Position& position : order) {
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

}  // namespace hone::session

#include "session/replay.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/clock.h"
#include "session/tuner_context.h"

namespace hone::session {
namespace {

Outcome Try(const record::ReplayPoint& point, const search::TaskSpace& space, double incumbent, double prune_factor) {
  Outcome outcome;
  outcome.config = space.At(point.index);
  outcome.state = point.state;
  outcome.error = point.error;
  outcome.median = point.median;
  const bool hopeless = prune_factor > 0 && incumbent > 0 && point.median > prune_factor * incumbent;
  if (point.state == TrialState::kOk && hopeless) outcome.state = TrialState::kPruned;
  return outcome;
}

}  // namespace

Result<search::TunerContext> ReplayContext(const record::ReplaySpace& replay) {
  HONE_ASSIGN_OR_RETURN(const Workload workload, Workload::Parse(replay.workload));
  HONE_ASSIGN_OR_RETURN(const Target target, Target::Parse(replay.target));
  search::TunerContext context = ContextOf(workload, target);
  context.defaults = replay.Defaults();
  return context;
}

search::LoopProgram RememberLoops(search::LoopProgram loops) {
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

Result<ReplayRun> Replay(const record::ReplaySpace& replay, const search::TaskSpace& space,
                         const ReplayOptions& options) {
  const double best = replay.best();
  if (best <= 0) return Status::Invalid("no point of " + replay.workload + " is ok, so there is nothing to find");
  HONE_ASSIGN_OR_RETURN(search::TunerContext context, ReplayContext(replay));
  context.like_autotvm = options.like_autotvm;
  context.donors = options.donors;
  if (options.loops) context.loops = options.loops;
  ReplayRun run;
  Clock* clock = RealClock();
  double begin = clock->NowSeconds();
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<search::Tuner> tuner,
                        search::MakeTuner(options.tuner, space, options.seed, context));
  double incumbent = 0;
  while (static_cast<int64_t>(run.tried.size()) < options.trials) {
    const int64_t count = static_cast<int64_t>(run.tried.size());
    const int64_t room = std::min<int64_t>(options.batch - count % options.batch, options.trials - count);
    std::vector<uint64_t> batch;
    if (count == 0 && !context.defaults.empty()) {
      batch = {context.defaults[0]};  // alone, as in a session
    } else {
      begin = clock->NowSeconds();
      batch = tuner->NextBatch(static_cast<int>(room));
      run.tuner_seconds += clock->NowSeconds() - begin;
    }
    if (batch.empty()) break;
    std::vector<Outcome> outcomes;
    for (uint64_t index : batch) {
      const record::ReplayPoint* point = replay.Find(index);
      if (point == nullptr) return Status::Invalid(options.tuner + " proposed a point that is not legal");
      outcomes.push_back(Try(*point, space, incumbent, options.prune_factor));
      if (outcomes.back().state == TrialState::kOk && (incumbent == 0 || point->median < incumbent)) {
        incumbent = point->median;
      }
      run.tried.push_back(index);
      run.trials.push_back(outcomes.back());
      run.share.push_back(incumbent > 0 ? best / incumbent : 0);
    }
    begin = clock->NowSeconds();
    tuner->Update(outcomes);
    run.tuner_seconds += clock->NowSeconds() - begin;
  }
  return run;
}

int64_t TrialsTo(const ReplayRun& run, double share) {
  for (size_t i = 0; i < run.share.size(); ++i) {
    if (run.share[i] >= share) return static_cast<int64_t>(i) + 1;
  }
  return static_cast<int64_t>(run.share.size()) + 1;
}

}  // namespace hone::session

#include "session/replay.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/statistics.h"
#include "session/tuner_context.h"

namespace hone::session {

constexpr size_t kMarks[] = {4, 8, 16, 32, 64, 128};
constexpr double kGoal = 0.95;

static Outcome Try(const record::ReplayPoint& point, const search::TaskSpace& space, double incumbent,
                   double prune_factor) {
  Outcome outcome{.config = space.At(point.index), .state = point.state, .error = point.error, .median = point.median};
  const bool hopeless = prune_factor > 0 && incumbent > 0 && point.median > prune_factor * incumbent;
  if (point.state == TrialState::kOk && hopeless) outcome.state = TrialState::kPruned;
  return outcome;
}

Result<search::TunerContext> ReplayContext(const record::ReplaySpace& replay) {
  HONE_ASSIGN_OR_RETURN(const Workload workload, Workload::Parse(replay.workload));
  HONE_ASSIGN_OR_RETURN(const Target target, Target::Parse(replay.target));
  search::TunerContext context = ContextOf(workload, target);
  context.defaults = replay.Defaults();
  return context;
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
    std::vector<PointIndex> batch;
    if (count == 0 && !context.defaults.empty()) {
      batch = {context.defaults[0]};  // in its own batch, as in a session
    } else {
      begin = clock->NowSeconds();
      batch = tuner->NextBatch(static_cast<int>(room));
      run.tuner_seconds += clock->NowSeconds() - begin;
    }
    if (batch.empty()) break;
    std::vector<Outcome> outcomes;
    for (const PointIndex index : batch) {
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
    run.gains.resize(run.tried.size(), tuner->ExpectedGain().value_or(-1));
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

std::string ReplayTableHead(int64_t trials, const std::string& first_column) {
  std::string head = "| " + first_column, line = "| ---";
  for (const char* what : {"median", "worst"}) {
    for (const size_t mark : kMarks) {
      if (static_cast<int64_t>(mark) > trials) continue;
      head += fmt::format(" | {} {}", what, mark);
      line += " | ---";
    }
  }
  return head + " | to 95 % | to 95 %, 3 of 4 | ms a trial |\n" + line + " | --- | --- | --- |\n";
}

std::string ReplayTableRow(const std::string& label, const std::vector<ReplayRun>& runs, int64_t trials) {
  std::string row = "| " + label;
  for (const double q : {0.5, 0.0}) {
    for (const size_t mark : kMarks) {
      if (static_cast<int64_t>(mark) > trials) continue;
      std::vector<double> shares;
      for (const ReplayRun& run : runs) {
        if (!run.share.empty()) shares.push_back(run.share[std::min(mark, run.share.size()) - 1]);
      }
      row += fmt::format(" | {:.1f}", 100 * QuantileNearest(shares, q));
    }
  }
  std::vector<double> to;
  double seconds = 0, count = 0;
  for (const ReplayRun& run : runs) {
    to.push_back(static_cast<double>(TrialsTo(run, kGoal)));
    seconds += run.tuner_seconds;
    count += static_cast<double>(run.tried.size());
  }
  return row + fmt::format(" | {:.0f} | {:.0f} | {:.2f} |\n", QuantileNearest(to, 0.5), QuantileNearest(to, 0.75),
                           1e3 * seconds / std::max(count, 1.0));
}

Result<std::vector<ReplayRun>> ReplaySeeds(const record::ReplaySpace& replay, const search::TaskSpace& space,
                                           ReplayOptions options, int64_t seeds) {
  std::vector<ReplayRun> runs;
  for (int64_t seed = 1; seed <= seeds; ++seed) {
    options.seed = static_cast<uint64_t>(seed);
    HONE_ASSIGN_OR_RETURN(runs.emplace_back(), Replay(replay, space, options));
  }
  return runs;
}

}  // namespace hone::session

#include "command/plan/edge_seconds.h"

#include <vector>

#include "base/file.h"
#include "base/statistics.h"
#include "command/plan/tune_edge.h"
#include "pipeline/plan.h"
#include "pipeline/progress_file.h"

namespace hone::command {
namespace {

using pipeline::NinjaBuild;

constexpr double kTrialSeconds = 0.1;  // where nothing was tuned yet

double UsualSeconds(const std::string& rule) {
  if (rule == "extract") return 5;
  if (rule == "confirm" || rule == "bench") return 60;
  if (rule == "build" || rule == "build_untuned") return 15;
  return 1;
}

// Seconds a trial by what the task's progress file says; 0: it never ran.
double TrialSeconds(const std::string& work, const NinjaBuild& build) {
  const auto progress = pipeline::ReadProgress(JoinPath(work, pipeline::ProgressPath(Binding(build, "db"))));
  return progress.ok() ? progress->trial_seconds : 0;
}

}  // namespace

EdgeSeconds::EdgeSeconds(const std::string& work, const NinjaView& view)
    : work_(work), view_(view), usual_trial_seconds_(kTrialSeconds) {
  std::vector<double> known;
  for (const NinjaBuild& build : view.builds) {
    if (build.rule != "tune") continue;
    const double seconds = TrialSeconds(work, build);
    if (seconds > 0) known.push_back(seconds);
    trial_seconds_[&build] = seconds;
  }
  if (!known.empty()) usual_trial_seconds_ = Median(known);
}

double EdgeSeconds::Of(const NinjaBuild& build) const {
  if (build.rule == "tune") {
    const auto known = trial_seconds_.find(&build);
    const double trial = known != trial_seconds_.end() && known->second > 0 ? known->second : usual_trial_seconds_;
    return trial * static_cast<double>(pipeline::NewTrials(ReadStamp(work_, build), ReadTuneInputs(work_, build)));
  }
  const auto logged = view_.logged.find(build.outputs[0]);
  return logged == view_.logged.end() ? UsualSeconds(build.rule) : logged->second.seconds;
}

}  // namespace hone::command

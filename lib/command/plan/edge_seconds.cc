#include "command/plan/edge_seconds.h"

#include <vector>

#include "base/file.h"
#include "base/statistics.h"
#include "base/text.h"
#include "command/plan/tune_edge.h"
#include "pipeline/plan.h"
#include "pipeline/progress_file.h"

namespace hone::command {
namespace {

using pipeline::NinjaBuild;

constexpr double kTrialSeconds = 0.1;  // where nothing was tuned yet

// The seconds that an edge took the last time, by .ninja_log ("START END MTIME OUTPUT HASH", times in ms); the last
// line counts.
std::map<std::string, double> LoggedSeconds(const std::string& work) {
  std::map<std::string, double> seconds;
  const Result<std::string> text = ReadFile(JoinPath(work, ".ninja_log"));
  if (!text.ok()) return seconds;
  for (const std::string& line : Split(*text, '\n')) {
    const std::vector<std::string> fields = Split(line, '\t');
    if (fields.size() < 5) continue;
    const auto start = ParseInt(fields[0]), end = ParseInt(fields[1]);
    if (start.ok() && end.ok() && *end >= *start) seconds[fields[3]] = 1e-3 * static_cast<double>(*end - *start);
  }
  return seconds;
}

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
    : work_(work), logged_(LoggedSeconds(work)), usual_trial_seconds_(kTrialSeconds) {
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
  const auto logged = logged_.find(build.outputs[0]);
  return logged == logged_.end() ? UsualSeconds(build.rule) : logged->second;
}

}  // namespace hone::command

#include "command/jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "command/ninja_view.h"
#include "command/tune_edge.h"
#include "pipeline/plan.h"
#include "pipeline/progress_file.h"
#include "pipeline/task_list.h"

namespace hone::command {
namespace {

using pipeline::NinjaBuild;

constexpr double kTrialSeconds = 0.1;  // where nothing was tuned yet

// What an edge took the last time, by .ninja_log ("START END MTIME OUTPUT HASH", times in ms); the last line counts.
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

// Before it has ever run; of a network of usual size on a CPU.
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

class Estimates {
 public:
  Estimates(const std::string& work, const NinjaView& view) : work_(work), logged_(LoggedSeconds(work)) {
    std::vector<double> rates;
    for (const NinjaBuild& build : view.builds) {
      if (build.rule != "tune") continue;
      const double rate = TrialSeconds(work, build);
      if (rate > 0) rates.push_back(rate);
      rates_[&build] = rate;
    }
    std::sort(rates.begin(), rates.end());
    if (!rates.empty()) usual_ = rates[rates.size() / 2];
  }

  double Of(const NinjaBuild& build) const {
    if (build.rule == "tune") {
      const auto known = rates_.find(&build);
      const double rate = known != rates_.end() && known->second > 0 ? known->second : usual_;
      return rate * static_cast<double>(pipeline::NewTrials(ReadStamp(work_, build), ReadTuneInputs(work_, build)));
    }
    const auto logged = logged_.find(build.outputs[0]);
    return logged == logged_.end() ? UsualSeconds(build.rule) : logged->second;
  }

 private:
  const std::string& work_;
  std::map<std::string, double> logged_;
  std::map<const NinjaBuild*, double> rates_;
  double usual_ = kTrialSeconds;
};

// A tuning job that is done, whatever Ninja's log knows of it.
bool IsTuned(const std::string& work, const NinjaBuild& build) {
  const std::string stamp = ReadStamp(work, build);
  const pipeline::TuneInputs now = ReadTuneInputs(work, build);
  return !stamp.empty() && pipeline::StampChanges(stamp, now).empty();
}

std::vector<std::string> Outputs(const NinjaBuild& build) {
  std::vector<std::string> outputs = build.outputs;
  outputs.insert(outputs.end(), build.implicit_outputs.begin(), build.implicit_outputs.end());
  return outputs;
}

}  // namespace

Result<std::vector<Job>> DirtyJobs(const std::string& work, const std::vector<std::string>& targets) {
  HONE_ASSIGN_OR_RETURN(const NinjaView view, LookAtWork(work, targets));
  const Estimates estimates(work, view);
  std::map<const NinjaBuild*, size_t> index;
  std::vector<Job> jobs;
  std::vector<std::set<size_t>> after;
  for (const DirtyEdge& edge : view.dirty) {
    const NinjaBuild& build = *edge.build;
    if (build.rule == "extract") {
      return Status::Invalid(fmt::format(
          "{} is to be made first, and its tasks are not known until then: run `ninja -C {} build.ninja`, then export",
          build.outputs[0], work));
    }
    Job job;
    if (build.rule == "tune" && edge.reasons.size() > 0 && IsTuned(work, build)) continue;
    job.what = EdgeName(build);
    job.outputs = Outputs(build);
    job.seconds = estimates.Of(build);
    job.argv = pipeline::SplitCommand(edge.command);
    if (job.argv.empty()) continue;
    std::set<size_t> before;
    job.stage = build.rule == "tune" ? 1 : 0;
    for (const auto* inputs : {&build.inputs, &build.implicit_inputs, &build.order_only_inputs}) {
      for (const std::string& input : *inputs) {
        const auto made = index.find(view.Maker(input));
        if (made == index.end()) continue;
        before.insert(made->second);
        const int64_t stage = jobs[made->second].stage;
        if (job.stage > 0) job.stage = stage > 0 ? std::max(job.stage, stage + 1) : 0;
      }
    }
    index[&build] = jobs.size();
    jobs.push_back(std::move(job));
    after.push_back(std::move(before));
  }
  std::vector<size_t> order(jobs.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const auto place = [&](size_t i) { return std::pair(jobs[i].stage == 0, jobs[i].stage); };
    return place(a) < place(b);
  });
  for (size_t i = 0; i < order.size(); ++i) jobs[order[i]].number = static_cast<int64_t>(i) + 1;
  std::vector<Job> sorted;
  for (const size_t i : order) {
    for (const size_t before : after[i]) jobs[i].after.push_back(jobs[before].number);
    std::sort(jobs[i].after.begin(), jobs[i].after.end());
    sorted.push_back(std::move(jobs[i]));
  }
  return sorted;
}

std::string JobsText(const std::vector<Job>& jobs) {
  std::string text;
  for (const Job& job : jobs) {
    text += DumpJson({{"job", job.number},
                      {"stage", job.stage},
                      {"after", job.after},
                      {"what", job.what},
                      {"outputs", job.outputs},
                      {"seconds", job.seconds},
                      {"argv", job.argv}},
                     -1);
  }
  return text;
}

std::string StagesText(const std::vector<Job>& jobs) {
  std::string text;
  for (size_t first = 0; first < jobs.size();) {
    size_t last = first;
    double seconds = 0;
    std::set<std::string> rules;
    for (; last < jobs.size() && jobs[last].stage == jobs[first].stage; ++last) {
      seconds += jobs[last].seconds;
      rules.insert(jobs[last].what.substr(0, jobs[last].what.rfind(' ')));
    }
    const size_t count = last - first;
    text += fmt::format("{} {}-{} {} job{}: {}; about {} each\n",
                        jobs[first].stage == 0 ? "ninja" : std::to_string(jobs[first].stage), first + 1, last, count,
                        count == 1 ? "" : "s", Join({rules.begin(), rules.end()}, ", "),
                        FormatSeconds(seconds / static_cast<double>(count)));
    first = last;
  }
  return text;
}

Result<Job> ReadJob(const std::string& path, int64_t number) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  int64_t line_number = 0;
  for (const std::string& line : Split(text, '\n')) {
    if (++line_number != number || line.empty()) continue;
    const std::string where = fmt::format("{}:{}", path, number);
    HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(line, where));
    JsonReader reader(json, where);
    Job job;
    HONE_RETURN_IF_ERROR(reader.Read("job", &job.number));
    HONE_RETURN_IF_ERROR(reader.Read("what", &job.what));
    HONE_RETURN_IF_ERROR(reader.Read("stage", &job.stage));
    HONE_RETURN_IF_ERROR(reader.Read("outputs", &job.outputs));
    if (job.number != number) return reader.Error("job", fmt::format("is {} in line {}", job.number, number));
    if (job.outputs.empty()) return reader.Error("outputs", "names no file");
    return job;
  }
  return Status::Invalid(fmt::format("{}: no job {}; it has {}", path, number, std::max<int64_t>(line_number - 1, 0)));
}

Status RunJob(const std::string& work, const Job& job) {
  HONE_ASSIGN_OR_RETURN(const NinjaView view, LookAtWork(work, {}));
  const NinjaBuild* build = view.Maker(job.outputs[0]);
  const auto command = build == nullptr ? view.commands.end() : view.commands.find(build->outputs[0]);
  std::vector<std::string> words;
  if (command != view.commands.end()) words = pipeline::SplitCommand(command->second);
  const std::string tool = words.empty() ? "" : BaseName(words[0]);
  const auto* known = std::find(std::begin(pipeline::kTools), std::end(pipeline::kTools), tool);
  if (known == std::end(pipeline::kTools)) {
    return Status::NotFound(fmt::format("{}/build.ninja: no edge makes `{}` (any more); export the jobs again", work,
                                        Printable(job.outputs[0])));
  }
  if (build->rule != "tune") {
    return Status::Invalid(
        fmt::format("{} is no job of an array: `ninja -C {}` does it when the arrays are done", job.what, work));
  }
  const char* launcher = getenv("HONE_LAUNCHER");
  if (launcher != nullptr && StartsWith(command->second, "exec $HONE_LAUNCHER ")) {
    const std::vector<std::string> front = SplitWords(launcher);
    words.insert(words.begin(), front.begin(), front.end());
  }
  return ReplaceProcess(words, work);
}

}  // namespace hone::command

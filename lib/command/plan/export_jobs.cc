#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "base/file.h"
#include "base/log.h"
#include "base/statistics.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "command/plan/array_job.h"
#include "pipeline/progress_file.h"

namespace hone::command {
namespace {

using pipeline::NinjaBuild;

constexpr double kTrialSeconds = 0.1;  // if nothing was tuned yet

double UsualSeconds(const std::string& rule) {
  if (rule == "extract") return 5;
  if (rule == "confirm" || rule == "bench") return 60;
  if (rule == "build" || rule == "build_untuned") return 15;
  if (rule == "quantise") return 30;
  return 1;
}

// Estimated times of edges: their last times, or a guess.
class EdgeSeconds {
 public:
  // Reads the progress files of WORK; ignores those that cannot be read.
  EdgeSeconds(const std::string& work, const NinjaView& view)
      : work_(work), view_(view), usual_trial_seconds_(kTrialSeconds) {
    std::vector<double> known;
    for (const NinjaBuild& build : view.builds) {
      if (build.rule != "tune") continue;
      const auto progress = pipeline::ReadProgress(JoinPath(work, pipeline::ProgressPath(build.Binding("db"))));
      const double seconds = progress.ok() ? progress->trial_seconds : 0;
      if (seconds > 0) known.push_back(seconds);
      trial_seconds_[&build] = seconds;
    }
    if (!known.empty()) usual_trial_seconds_ = Median(known);
  }

  // For tuning: the missing seconds, or the missing trials times the seconds per trial of this task, or the median of
  // all tasks. For other edges that never ran: a typical value for a typical network on a CPU.
  double Of(const NinjaBuild& build) const {
    if (build.rule == "tune") {
      const double known = trial_seconds_.at(&build);
      const std::string stamp = ReadStamp(work_, build);
      const pipeline::TuneInputs inputs = ReadTuneInputs(work_, build);
      return (known > 0 ? known : usual_trial_seconds_) * static_cast<double>(pipeline::NewTrials(stamp, inputs)) +
             pipeline::NewSeconds(stamp, inputs);
    }
    const auto logged = view_.logged.find(build.outputs[0]);
    return logged == view_.logged.end() ? UsualSeconds(build.rule) : logged->second.seconds;
  }

 private:
  const std::string& work_;
  const NinjaView& view_;
  std::map<const NinjaBuild*, double> trial_seconds_;  // of tuning edges; 0: it never ran
  double usual_trial_seconds_;
};

std::vector<std::string> Outputs(const NinjaBuild& build) {
  std::vector<std::string> outputs = build.outputs;
  outputs.insert(outputs.end(), build.implicit_outputs.begin(), build.implicit_outputs.end());
  return outputs;
}

constexpr double kAllocateSeconds = 60;

// Runs an edge that distributes trials, which only writes small files from a few stamps. It runs the command itself:
// Ninja does not know what arrays have done, and would repeat that first on this machine, which has the queue.
bool ShareOut(const std::string& work, const DirtyEdge& edge) {
  const std::string what = fmt::format("round {} of {}", edge.build->Binding("round"), edge.build->Binding("job"));
  LogInfo("sharing out " + what);
  const std::vector<std::string> argv = pipeline::SplitCommand(edge.command);
  if (argv.empty()) return false;
  CommandOptions options{.cwd = work, .timeout_seconds = kAllocateSeconds};
  const Result<CommandResult> result = RunCommand(argv, options);
  if (result.ok() && result->status.ok()) return true;
  std::string said(result.ok() ? Trim(result->err + result->out) : result.status().message());
  said = said.substr(said.rfind('\n') + 1);
  LogWarning("{}: sharing out {} failed; it is left to the last `ninja`: {}", work, what, Printable(said));
  return false;
}

// Edges that Ninja would run needlessly: finished tuning with all its inputs, and rounds whose inputs are ready, which
// are distributed here, as the jobs of a round are unknown before.
std::set<const NinjaBuild*> FindDone(const std::string& work, const NinjaView& view) {
  std::set<const NinjaBuild*> done, undone;
  for (const DirtyEdge& edge : view.dirty) {
    const NinjaBuild& build = *edge.build;
    bool waits = false;
    for (const auto* inputs : {&build.inputs, &build.implicit_inputs, &build.order_only_inputs}) {
      for (const std::string& input : *inputs) {
        waits = waits || undone.count(view.Maker(input)) > 0;
      }
    }
    bool is_done = false;
    if (!waits && build.rule == "allocate") is_done = ShareOut(work, edge);
    if (!waits && build.rule == "tune") {  // whatever Ninja's log says
      const std::string stamp = ReadStamp(work, build);
      is_done = !stamp.empty() && pipeline::StampChanges(stamp, ReadTuneInputs(work, build)).empty();
    }
    (is_done ? done : undone).insert(&build);
  }
  return done;
}

}  // namespace

Result<std::vector<ArrayJob>> FindArrayJobs(const std::string& work, const NinjaView& view) {
  const std::set<const NinjaBuild*> done = FindDone(work, view);
  const EdgeSeconds seconds(work, view);
  std::map<const NinjaBuild*, size_t> index;
  std::vector<ArrayJob> jobs;
  std::vector<std::set<size_t>> after;
  std::map<std::string, size_t> writer;  // the last array job that writes into a record file
  for (const DirtyEdge& edge : view.dirty) {
    const NinjaBuild& build = *edge.build;
    if (build.rule == "extract") {
      return Status::Invalid(
          "{} is to be made first, and its tasks are not known until then: run `ninja -C {} build.ninja`, then export",
          build.outputs[0], work);
    }
    ArrayJob job;
    if (done.count(&build) > 0) continue;
    job.what = EdgeName(build);
    job.outputs = Outputs(build);
    job.seconds = seconds.Of(build);
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
    // In Ninja, a pool keeps edges that write the same records apart. Arrays have no pools, so these jobs run one after
    // the other.
    const std::string db = build.Binding("db");
    if (job.stage > 0 && !db.empty()) {
      const auto [last, first] = writer.try_emplace(db, jobs.size());
      if (!first) {
        before.insert(last->second);
        job.stage = std::max(job.stage, jobs[last->second].stage + 1);
        last->second = jobs.size();
      }
    }
    index[&build] = jobs.size();
    jobs.push_back(std::move(job));
    after.push_back(std::move(before));
  }
  std::vector<size_t> order(jobs.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](size_t i) { return std::pair(jobs[i].stage == 0, jobs[i].stage); });
  for (size_t i = 0; i < order.size(); ++i) jobs[order[i]].number = static_cast<int64_t>(i) + 1;
  std::vector<ArrayJob> sorted;
  for (const size_t i : order) {
    for (const size_t before : after[i]) jobs[i].after.push_back(jobs[before].number);
    std::sort(jobs[i].after.begin(), jobs[i].after.end());
    sorted.push_back(std::move(jobs[i]));
  }
  return sorted;
}

Status RunArrayJob(const std::string& work, const ArrayJob& job) {
  HONE_ASSIGN_OR_RETURN(const auto commands, ReadCommands(work));
  const auto command = commands.find(job.outputs[0]);
  std::vector<std::string> words;
  if (command != commands.end()) words = pipeline::SplitCommand(command->second);
  if (words.empty()) {
    return Status::NotFound("{}/build.ninja: no edge makes `{}` (any more); export the jobs again", work,
                            Printable(job.outputs[0]));
  }
  // An array job must be tuning: hone-tune that writes a stamp.
  if (BaseName(words[0]) != "hone-tune" || std::find(words.begin(), words.end(), "--stamp") == words.end()) {
    return Status::Invalid("{} cannot be an array job; `ninja -C {}` runs it after the arrays", Printable(job.what),
                           work);
  }
  const char* launcher = getenv("HONE_LAUNCHER");
  if (launcher != nullptr && StartsWith(command->second, "exec $HONE_LAUNCHER ")) {
    const std::vector<std::string> front = SplitWords(launcher);
    words.insert(words.begin(), front.begin(), front.end());
  }
  return ReplaceProcess(words, work);
}

}  // namespace hone::command

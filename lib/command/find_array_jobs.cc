#include "command/find_array_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/log.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "command/edge_seconds.h"
#include "command/ninja_view.h"
#include "command/tune_edge.h"

namespace hone::command {
namespace {

using pipeline::NinjaBuild;

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

// What shares a total of trials out and needs nothing that is not there: small files from a few stamps.
std::vector<std::string> ReadyToShareOut(const std::string& work, const NinjaView& view) {
  std::vector<std::string> ready;
  std::set<const NinjaBuild*> undone;
  for (const DirtyEdge& edge : view.dirty) {
    const NinjaBuild& build = *edge.build;
    bool waits = false;
    for (const auto* inputs : {&build.inputs, &build.implicit_inputs, &build.order_only_inputs}) {
      for (const std::string& input : *inputs) waits = waits || undone.count(view.Maker(input)) > 0;
    }
    if (build.rule == "allocate" && !waits) ready.push_back(build.outputs[0]);
    if (waits || build.rule != "tune" || !IsTuned(work, build)) undone.insert(&build);
  }
  return ready;
}

// The manifest's state, with that done: the jobs of a round are not known to anybody before.
Result<NinjaView> LookBehindRounds(const std::string& work, const std::vector<std::string>& targets) {
  HONE_ASSIGN_OR_RETURN(NinjaView view, LookAtWork(work, targets));
  std::vector<std::string> argv = ReadyToShareOut(work, view);
  if (argv.empty()) return view;
  argv.insert(argv.begin(), "ninja");
  CommandOptions options;
  options.cwd = work;
  options.timeout_seconds = 600;
  HONE_ASSIGN_OR_RETURN(const CommandResult result, RunCommand(argv, options));
  if (!result.status.ok()) {
    const std::string said(Trim(result.err + result.out));
    LogWarning(fmt::format("{}: sharing out the trials of a round failed; it is left to the last `ninja`: {}", work,
                           Printable(said.substr(said.rfind('\n') + 1))));
  }
  return LookAtWork(work, targets);
}

}  // namespace

Result<std::vector<ArrayJob>> FindArrayJobs(const std::string& work, const std::vector<std::string>& targets) {
  HONE_ASSIGN_OR_RETURN(const NinjaView view, LookBehindRounds(work, targets));
  const EdgeSeconds seconds(work, view);
  std::map<const NinjaBuild*, size_t> index;
  std::vector<ArrayJob> jobs;
  std::vector<std::set<size_t>> after;
  std::map<std::string, size_t> writer;  // of a record file: the job of an array that was the last to write into it
  for (const DirtyEdge& edge : view.dirty) {
    const NinjaBuild& build = *edge.build;
    if (build.rule == "extract") {
      return Status::Invalid(fmt::format(
          "{} is to be made first, and its tasks are not known until then: run `ninja -C {} build.ninja`, then export",
          build.outputs[0], work));
    }
    ArrayJob job;
    if (build.rule == "tune" && edge.reasons.size() > 0 && IsTuned(work, build)) continue;
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
    // Ninja keeps those that write into the same records apart by a pool. An array knows none: they follow one another.
    const std::string db = Binding(build, "db");
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
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const auto place = [&](size_t i) { return std::pair(jobs[i].stage == 0, jobs[i].stage); };
    return place(a) < place(b);
  });
  for (size_t i = 0; i < order.size(); ++i) jobs[order[i]].number = static_cast<int64_t>(i) + 1;
  std::vector<ArrayJob> sorted;
  for (const size_t i : order) {
    for (const size_t before : after[i]) jobs[i].after.push_back(jobs[before].number);
    std::sort(jobs[i].after.begin(), jobs[i].after.end());
    sorted.push_back(std::move(jobs[i]));
  }
  return sorted;
}

}  // namespace hone::command

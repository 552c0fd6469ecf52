#include "session/replay_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/text.h"
#include "op/operator.h"
#include "record/store.h"
#include "session/replay_table.h"

namespace hone::session {
namespace {

double MedianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Finalists are measured again later, in turns, with caches that the others have filled: their times are of another
// scale than those of points that were measured once. What re-measuring changed for the median of them is taken out of
// all of them; their order among themselves stays.
void ToOneScale(const std::vector<record::Trial>& trials, std::vector<Outcome>* outcomes) {
  std::set<std::string> again;
  std::vector<double> ratios;
  for (const record::Trial& trial : trials) {
    if (trial.rounds.empty() || trial.rounds.back() == 0 || trial.outcome.state != TrialState::kOk) continue;
    std::vector<double> first;
    for (size_t i = 0; i < trial.rounds.size() && trial.rounds[i] == 0; ++i) first.push_back(trial.outcome.samples[i]);
    again.insert(trial.outcome.artifact_digest);
    if (!first.empty()) ratios.push_back(trial.outcome.median / MedianOf(first));
  }
  if (ratios.empty()) return;
  const double scale = MedianOf(ratios);
  for (Outcome& outcome : *outcomes) {
    if (outcome.state == TrialState::kOk && again.count(outcome.artifact_digest)) outcome.median /= scale;
  }
}

Result<record::ReplaySpace> OfRecords(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const auto store, record::Store::OpenForReading(path));
  HONE_ASSIGN_OR_RETURN(const auto sessions, store->Sessions());
  HONE_ASSIGN_OR_RETURN(const auto trials, store->Trials());
  if (sessions.empty() || trials.empty()) return Status::Invalid(path + ": no trials");
  const record::Meta& meta = store->meta();
  HONE_ASSIGN_OR_RETURN(const auto templates, ReplayTemplates(meta.workload, meta.target));
  std::vector<std::string> versions;
  for (const record::ReplayTemplate& t : templates) versions.push_back(fmt::format("{}={}", t.name, t.version));
  if (Join(versions, ",") != meta.space_version) {
    return Status::Invalid(
        fmt::format("{}: records of the space {}, this program has {}; replay needs the program that "
                    "made them, or a replay file",
                    path, meta.space_version, Join(versions, ",")));
  }
  HONE_ASSIGN_OR_RETURN(const Workload workload, Workload::Parse(meta.workload));
  HONE_ASSIGN_OR_RETURN(const Target target, Target::Parse(meta.target));
  HONE_ASSIGN_OR_RETURN(const search::TaskSpace space, op::MakeTaskSpace(workload, target));
  // Finalists' sessions measure nothing new; trials say whose machine they are of.
  const auto session_of = [&](const record::Trial& trial) -> const record::Session* {
    for (const record::Session& s : sessions) {
      if (s.id == trial.session) return &s;
    }
    return nullptr;
  };
  const record::Session* last = session_of(trials.back());
  const std::string fingerprint = last != nullptr ? last->fingerprint : "";
  std::vector<Outcome> outcomes;
  for (const record::Trial& trial : trials) {
    const record::Session* session = session_of(trial);
    if (session != nullptr && session->fingerprint == fingerprint) outcomes.push_back(trial.outcome);
  }
  ToOneScale(trials, &outcomes);
  return record::MakeReplay(meta, fingerprint, space, templates, outcomes);
}

}  // namespace

Result<std::vector<record::ReplayTemplate>> ReplayTemplates(const std::string& workload_text,
                                                            const std::string& target_text) {
  HONE_ASSIGN_OR_RETURN(const Workload workload, op::ParseChecked(workload_text));
  HONE_ASSIGN_OR_RETURN(const Target target, Target::Parse(target_text));
  HONE_ASSIGN_OR_RETURN(const op::Operator* op, op::FindOperator(workload));
  std::vector<record::ReplayTemplate> templates;
  for (const op::Template* t : op->Templates(workload, target)) {
    HONE_ASSIGN_OR_RETURN(const search::Space space, t->MakeSpace(workload, target));
    record::ReplayTemplate replay{t->name(), t->version(), space.knobs(), {}};
    if (auto point = t->Default(space, workload, target); point.ok()) replay.default_index = point->index;
    templates.push_back(std::move(replay));
  }
  return templates;
}

Result<record::ReplaySpace> LoadReplay(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  if (StartsWith(text, "SQLite format 3")) return OfRecords(path);
  return record::ParseReplay(text, path);
}

int RunReplayJob(const ReplayJobOptions& options) {
  const auto run = [&]() -> Status {
    HONE_ASSIGN_OR_RETURN(const record::ReplaySpace replay, LoadReplay(options.path));
    const search::TaskSpace space = replay.MakeSpace();
    ReplayOptions one;
    one.tuner = options.tuner;
    one.trials = options.trials;
    one.like_autotvm = options.like == "autotvm";
    HONE_ASSIGN_OR_RETURN(const std::vector<ReplayRun> runs, ReplaySeeds(replay, space, one, options.seeds));
    std::printf("%s: %zu points, best %s, measured on %s; %lld seeds\n\n%s%s", replay.workload.c_str(),
                replay.points.size(), FormatSeconds(replay.best()).c_str(), replay.machine.c_str(),
                static_cast<long long>(options.seeds), ReplayTableHead(options.trials, "tuner").c_str(),
                ReplayTableRow(options.tuner, runs, options.trials).c_str());
    return Status();
  };
  const Status status = run();
  if (status.ok()) return kDone;
  LogError(status.message());
  return status.kind() == StatusKind::kInvalid || status.kind() == StatusKind::kNotFound ? kMisused : kFailed;
}

}  // namespace hone::session

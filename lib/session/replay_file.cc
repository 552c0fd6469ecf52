#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <set>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/statistics.h"
#include "base/text.h"
#include "op/operator.h"
#include "pipeline/settings.h"
#include "propose/propose.h"
#include "propose/versions.h"
#include "record/store.h"
#include "session/own_sketches.h"
#include "session/replay.h"
#include "session/tuner_context.h"

namespace hone::session {
namespace {

constexpr uint64_t kMostEnumerated = uint64_t{1} << 22;  // combinations, up to which the legal ones are counted
constexpr size_t kFewestOfAHeat = 8;                     // fewer cannot tell how fast the machine was

// A timed kernel: its median time in each round.
struct Timed {
  std::string digest;
  double median = 0, first = 0, again = 0;  // first: during the search; again: as a finalist, 0 if it was not one
};

// The number of finalists that the job measured again at a time, on that machine.
int64_t FinalistsOf(const std::vector<record::Session>& sessions, const std::string& fingerprint) {
  int64_t count = std::numeric_limits<int64_t>::max();
  for (const record::Session& session : sessions) {
    if (session.fingerprint != fingerprint) continue;
    if (const auto closing = record::Closing::FromSettings(session.settings)) count = closing->finalists;
  }
  return count;
}

// The time of each artifact on one scale, from the trials of one machine. Finalists are measured again later, one heat
// at a time and interleaved, with caches filled by the others: their times are on another scale than those of points
// measured once, and the machine differs between heats. So each heat's times are divided by the heat's change of its
// kernels' median, which keeps their order. Heats are reconstructed as session/finalists forms them: by the first
// medians, `count` each.
std::map<std::string, double> OnOneScale(const std::vector<record::Trial>& trials, int64_t count) {
  std::vector<Timed> timed;
  std::set<std::string> known;
  std::string anchor;
  for (const record::Trial& trial : trials) {
    if (trial.outcome.state != TrialState::kOk || trial.rounds.empty()) continue;
    if (!known.insert(trial.outcome.artifact_digest).second) continue;
    std::vector<double> first, again;
    for (size_t i = 0; i < trial.rounds.size(); ++i) {
      if (trial.rounds[i] == 0) first.push_back(trial.outcome.samples[i]);
      if (trial.rounds[i] == 1) again.push_back(trial.outcome.samples[i]);
    }
    if (first.empty()) continue;
    if (&trial == &trials.front()) anchor = trial.outcome.artifact_digest;
    timed.push_back(
        {trial.outcome.artifact_digest, Median(first), LowerQuartile(first), again.empty() ? 0 : LowerQuartile(again)});
  }
  std::stable_sort(timed.begin(), timed.end(), [](const Timed& a, const Timed& b) { return a.median < b.median; });
  std::vector<std::vector<const Timed*>> heats(1);
  int64_t places = count;  // places left in the heat
  for (const Timed& t : timed) {
    if (t.again == 0) continue;
    if (t.digest == anchor) {  // the anchor is in every heat, and takes a place in the first if it is fast enough
      heats[0].push_back(&t);
      if (heats.size() == 1 && places > 0) --places;
      continue;
    }
    if (places == 0) {
      heats.emplace_back();
      places = count;
    }
    heats.back().push_back(&t);
    --places;
  }
  std::map<std::string, double> seconds;
  for (const Timed& t : timed) seconds[t.digest] = t.first;
  for (const auto& heat : heats) {
    if (heat.size() < kFewestOfAHeat) continue;
    std::vector<double> ratios;
    for (const Timed* t : heat) ratios.push_back(t->again / t->first);
    const double scale = Median(ratios);
    for (const Timed* t : heat) seconds[t->digest] = t->again / scale;
  }
  return seconds;
}

// A line if `replay` lacks legal points of `space`: the best tried point may not be the best.
std::string WhatIsMissing(const std::string& path, const record::ReplaySpace& replay, const search::TaskSpace& space) {
  const auto legal = space.LegalIndices(kMostEnumerated);
  const size_t tried = replay.points.size();
  if (legal && tried >= legal->size()) return "";
  const std::string of =
      legal ? fmt::format("{} legal points", legal->size()) : fmt::format("a space of {} combinations", space.size());
  return fmt::format(
      "{}: {} points of {} were tried: the others do not exist in this replay, and shares are of the best "
      "of those that do",
      path, tried, of);
}

Result<record::ReplaySpace> OfRecords(const std::string& path, std::string* missing,
                                      const pipeline::TuneSettings& settings) {
  HONE_ASSIGN_OR_RETURN(const auto store, record::Store::OpenForReading(path));
  HONE_ASSIGN_OR_RETURN(const auto sessions, store->Sessions());
  HONE_ASSIGN_OR_RETURN(const auto trials, store->AllTrials());
  if (sessions.empty() || trials.empty()) return Status::Invalid(path + ": no trials");
  const record::Meta& meta = store->meta();
  HONE_ASSIGN_OR_RETURN(const Workload workload, op::ParseChecked(meta.workload));
  HONE_ASSIGN_OR_RETURN(const Target target, Target::Parse(meta.target));
  HONE_ASSIGN_OR_RETURN(const propose::Proposers proposers,
                        ProposersOf({.workload = workload, .target = target}, settings));
  HONE_ASSIGN_OR_RETURN(const auto templates, ReplayTemplates(proposers));
  HONE_ASSIGN_OR_RETURN(const search::TaskSpace space, propose::MakeTaskSpace(proposers));
  const TemplateVersions versions = propose::VersionsOf(proposers);
  // Finalists' sessions add no trials; trials tell whose machine they are from.
  std::map<int64_t, std::string> machines;
  for (const record::Session& session : sessions) machines[session.id] = session.fingerprint;
  const auto last = machines.find(trials.back().session);
  const std::string fingerprint = last != machines.end() ? last->second : "";
  // Another machine's time of an artifact says nothing here.
  std::vector<record::Trial> ours;
  std::vector<Outcome> outcomes;
  for (const record::Trial& trial : trials) {
    const auto machine = machines.find(trial.session);
    if (machine == machines.end() || machine->second != fingerprint) continue;
    // Nor does a time of another version of the template.
    if (trial.template_version != VersionIn(versions, trial.outcome.config.template_name)) continue;
    ours.push_back(trial);
    outcomes.push_back(trial.outcome);
  }
  if (ours.empty()) {
    return Status::Invalid(path +
                           ": its trials are of other versions of their templates than this program has; replay "
                           "needs the program that made them, or a replay file");
  }
  const std::map<std::string, double> seconds = OnOneScale(ours, FinalistsOf(sessions, fingerprint));
  for (Outcome& outcome : outcomes) {
    const auto at = seconds.find(outcome.artifact_digest);
    if (outcome.state == TrialState::kOk && at != seconds.end()) outcome.median = at->second;
  }
  HONE_ASSIGN_OR_RETURN(record::ReplaySpace replay, record::MakeReplay(meta, fingerprint, space, templates, outcomes));
  if (missing != nullptr) *missing = WhatIsMissing(path, replay, space);
  return replay;
}

}  // namespace

Result<std::vector<record::ReplayTemplate>> ReplayTemplates(const propose::Proposers& proposers) {
  std::vector<record::ReplayTemplate> templates;
  for (const propose::Proposer& p : proposers) {
    HONE_ASSIGN_OR_RETURN(const search::Space space, p.MakeSpace());
    record::ReplayTemplate replay{p.name(), p.version(), space.knobs(), {}};
    if (auto point = p.Default(space); point.ok()) replay.default_index = point->index;
    templates.push_back(std::move(replay));
  }
  return templates;
}

Result<record::ReplaySpace> LoadReplay(const std::string& path, std::string* missing,
                                       const pipeline::TuneSettings& settings) {
  if (missing != nullptr) missing->clear();
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  if (StartsWith(text, "SQLite format 3")) return OfRecords(path, missing, settings);
  return record::ParseReplay(text, path);
}

int RunReplayJob(const ReplayJobOptions& options) {
  const auto run = [&]() -> Status {
    pipeline::TuneSettings settings{.tuner = options.tuner, .like = options.like};
    const std::string problem = pipeline::CheckValues(settings);
    if (!problem.empty()) return Status::Invalid("--" + problem);
    std::string missing;
    HONE_ASSIGN_OR_RETURN(const record::ReplaySpace replay, LoadReplay(options.path, &missing));
    if (!missing.empty()) LogWarning(missing);
    const search::TaskSpace space = replay.MakeSpace();
    ReplayOptions one{
        .tuner = settings.TunerName(), .trials = options.trials, .like_autotvm = options.like == "autotvm"};
    HONE_ASSIGN_OR_RETURN(const Workload workload, Workload::Parse(replay.workload));
    HONE_ASSIGN_OR_RETURN(const Target target, Target::Parse(replay.target));
    HONE_ASSIGN_OR_RETURN(DonorRecords donors, LoadDonors(options.donor_paths, workload, target, replay.machine));
    for (const std::string& refused : donors.refused) LogWarning("donor rejected: " + refused);
    one.donors = std::move(donors.donors);
    HONE_ASSIGN_OR_RETURN(const std::vector<ReplayRun> runs, ReplaySeeds(replay, space, one, options.seeds));
    std::printf("%s: %zu points, best %s, measured on %s; %lld seeds\n\n%s%s", replay.workload.c_str(),
                replay.points.size(), FormatSeconds(replay.best()).c_str(), replay.machine.c_str(),
                static_cast<long long>(options.seeds), ReplayTableHead(options.trials, "tuner").c_str(),
                ReplayTableRow(one.tuner, runs, options.trials).c_str());
    return Status();
  };
  const Status status = run();
  if (status.ok()) return kDone;
  LogError(status.message());
  return status.kind() == StatusKind::kInvalid || status.kind() == StatusKind::kNotFound ? kMisused : kFailed;
}

}  // namespace hone::session

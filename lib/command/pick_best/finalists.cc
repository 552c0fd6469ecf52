#include "command/pick_best/finalists.h"

#include <algorithm>
#include <set>

#include "base/clock.h"
#include "base/hash.h"
#include "command/pick_best/possible_time.h"
#include "op/operator.h"

namespace hone::command {

using pipeline::Finalist;

static Finalist Of(const record::Trial& trial, const std::map<int64_t, record::Session>& sessions,
                   const CandidateOfTrial& candidate) {
  Finalist f;
  f.config = trial.outcome.config;
  f.median = trial.outcome.median;
  f.trial = trial.ordinal;
  f.steps_digest = Digest128(trial.outcome.steps).Hex();
  f.artifact_digest = trial.outcome.artifact_digest;
  if (Result<Candidate> made = candidate(trial.outcome); made.ok()) f.candidate = *std::move(made);
  if (auto session = sessions.find(trial.session); session != sessions.end()) {
    f.host = session->second.host;
    f.recorded = FormatIso8601(session->second.started);
  }
  return f;
}

static double Hope(const record::Trial& t) {
  if (t.outcome.disturbed == 0 || t.outcome.samples.empty()) return t.outcome.median;
  const std::vector<double> last = t.LastRound();
  return *std::ranges::min_element(last);
}

Result<CorrectTrials> FindCorrectTrials(const record::Store& store, const Allows& allows,
                                        const std::string& fingerprint) {
  CorrectTrials found;
  HONE_ASSIGN_OR_RETURN(const std::vector<record::Session> all, store.Sessions());
  HONE_ASSIGN_OR_RETURN(found.trials, store.Trials());
  if (all.empty()) return CorrectTrials();
  found.fingerprint = fingerprint.empty() ? all.back().fingerprint : fingerprint;
  for (const record::Session& s : all) {
    if (s.fingerprint == found.fingerprint) found.sessions[s.id] = s;
  }
  const Result<Workload> workload = op::ParseChecked(store.meta().workload);
  const Result<Target> parsed = Target::Parse(store.meta().target);
  const Target target = parsed.ok() ? *parsed : Target();
  const double most_flops = parsed.ok() ? MostFlops(target, found.fingerprint) : 0;
  std::erase_if(found.trials, [&](const record::Trial& t) {
    if (t.outcome.state != TrialState::kOk || !found.sessions.count(t.session)) return true;
    const auto why = WhyImpossible(workload.ok() ? &*workload : nullptr, target, most_flops, t.outcome);
    if (why) found.impossible.push_back(fmt::format("trial {}: {}", t.ordinal, *why));
    return why || !allows(t.outcome);
  });
  std::ranges::stable_sort(found.trials, {}, [](const record::Trial& trial) { return trial.outcome.median; });
  return found;
}

Result<FoundFinalists> FindFinalists(const record::Store& store, int count, const Allows& allows,
                                     const CandidateOfTrial& candidate, const std::string& fingerprint) {
  HONE_ASSIGN_OR_RETURN(CorrectTrials correct, FindCorrectTrials(store, allows, fingerprint));
  const std::vector<record::Trial>& trials = correct.trials;
  FoundFinalists found{.fingerprint = correct.fingerprint, .impossible = std::move(correct.impossible)};
  std::set<std::string> artifacts, templates;
  std::vector<const record::Trial*> first, second;
  for (const record::Trial& t : trials) {
    if (Hope(t) > kFinalistReach * trials[0].outcome.median) continue;
    const std::string& artifact = t.outcome.artifact_digest;
    if (!artifact.empty() && !artifacts.insert(artifact).second) continue;
    (templates.insert(t.outcome.config.template_name).second ? first : second).push_back(&t);
  }
  first.insert(first.end(), second.begin(), second.end());
  if (first.size() > static_cast<size_t>(count)) first.resize(static_cast<size_t>(count));
  std::ranges::stable_sort(first, {}, [](const record::Trial* trial) { return trial->outcome.median; });
  for (const record::Trial* t : first) found.finalists.push_back(Of(*t, correct.sessions, candidate));
  found.marked = !first.empty() && first[0]->outcome.disturbed > 0;
  return found;
}

}  // namespace hone::command

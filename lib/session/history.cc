#include "session/history.h"

#include <algorithm>
#include <cstddef>

#include "base/json.h"
#include "base/statistics.h"

namespace hone::session {

// The limits that a session proposed under, from its settings; the defaults without settings.
static op::Numerics NumericsOfSession(const record::Session& session) {
  const op::Numerics plain;
  const auto json = ParseJson(session.settings, "settings");
  if (!json.ok()) return plain;
  JsonReader reader(*json, "settings"), inner;
  if (!reader.Has("numerics") || !reader.Read("numerics", &inner).ok()) return plain;
  op::Numerics numerics;
  const bool read =
      inner.ReadOptional("winograd", &numerics.winograd).ok() && inner.ReadOptional("tf32", &numerics.tf32).ok();
  return read ? numerics : plain;
}

// Whether `a` excludes something that `b` allows.
static bool Narrower(const op::Numerics& a, const op::Numerics& b) {
  return a.winograd < b.winograd || (b.tf32 && !a.tf32);
}

double SearchTimes::Take(const Outcome& outcome, const std::vector<int64_t>& rounds) {
  std::vector<double> first;
  for (size_t i = 0; i < outcome.samples.size(); ++i) {
    if (i >= rounds.size() || rounds[i] == 0) first.push_back(outcome.samples[i]);
  }
  if (first.empty()) {
    const auto twin = by_artifact_.find(outcome.artifact_digest);
    return twin == by_artifact_.end() ? outcome.median : twin->second;
  }
  // The recorded time need not be the median of these: for a pruned trial it is the fastest.
  const bool again = first.size() < outcome.samples.size();
  const double seconds = !again ? outcome.median : trimmed_means_ ? TrimmedMean(first) : Median(first);
  if (!outcome.artifact_digest.empty()) by_artifact_.emplace(outcome.artifact_digest, seconds);
  return seconds;
}

std::string RecordedFingerprint(const std::vector<record::Session>& sessions, const std::string& fingerprint) {
  std::string same;
  for (const record::Session& session : sessions) {
    if (session.fingerprint == fingerprint) return fingerprint;
    if (SameMachine(session.fingerprint, fingerprint)) same = session.fingerprint;
  }
  return same.empty() ? fingerprint : same;
}

Status History::Load(const record::Store& store) {
  HONE_ASSIGN_OR_RETURN(const std::vector<record::Session> sessions, store.Sessions());
  HONE_ASSIGN_OR_RETURN(const std::vector<record::Trial> trials, store.AllTrials());
  std::map<int64_t, op::Numerics> ours;  // for each session of this machine
  for (const record::Session& session : sessions) {
    if (session.fingerprint != fingerprint_) continue;
    const auto closing = Closing::FromSettings(session.settings);
    op::Numerics numerics = NumericsOfSession(session);
    if (closing) numerics = {static_cast<int>(closing->winograd), closing->tf32};
    if (!scope_.matter.winograd) numerics.winograd = scope_.numerics.winograd;
    if (!scope_.matter.tf32) numerics.tf32 = scope_.numerics.tf32;
    ours[session.id] = numerics;
    if (numerics != scope_.numerics) continue;
    if (closing && session.ended > 0) closing_ = closing;
    if (closing && closing->tuner_gain >= 0) tuner_gains_[closing->trials] = closing->tuner_gain;
    past_[session.id].seconds = session.tuning_seconds;
    past_seconds_ += session.tuning_seconds;
  }
  for (const record::Trial& trial : trials) {
    next_ordinal_ = trial.ordinal;
    const auto numerics = ours.find(trial.session);
    if (numerics == ours.end()) {
      ++foreign_;
      continue;
    }
    const Outcome& outcome = trial.outcome;
    const double searched = search_times_.Take(outcome, trial.rounds);
    if (trial.superseded) ++superseded_;
    if (trial.superseded || Narrower(numerics->second, scope_.numerics) ||
        (scope_.allowed && !scope_.allowed(outcome))) {
      if (!outcome.artifact_digest.empty() && outcome.error != TrialError::kDevice) {
        uncounted_artifacts_.emplace(outcome.artifact_digest, uncounted_.size());
      }
      uncounted_.push_back(outcome);
      continue;
    }
    Append(outcome, searched);
    ++past_[trial.session].trials;
  }
  next_ordinal_ = static_cast<int64_t>(trials.size());
  return Status();
}

double History::SearchSeconds(int64_t count) const {
  double best = 0;
  for (size_t i = 0; i < search_seconds_.size() && static_cast<int64_t>(i) < count; ++i) {
    const double seconds = search_seconds_[i];
    if (seconds > 0 && (best == 0 || seconds < best)) best = seconds;
  }
  return best;
}

std::vector<History::Improvement> History::Improvements(int64_t count) const {
  std::vector<Improvement> found;
  for (size_t i = 0; i < search_seconds_.size() && static_cast<int64_t>(i) < count; ++i) {
    const double seconds = search_seconds_[i];
    if (seconds <= 0 || (!found.empty() && seconds >= found.back().seconds)) continue;
    found.push_back({static_cast<int64_t>(i) + 1, seconds});
  }
  return found;
}

int64_t History::CountWithin(double seconds) const {
  if (seconds <= 0) return count();
  int64_t within = count();
  double begin = 0;
  for (const auto& [id, session] : past_) {
    if (begin >= seconds) within -= session.trials;
    begin += session.seconds;
  }
  return within;
}

double History::TuningSeconds(int64_t count) const {
  double sum = 0;
  for (const auto& [id, session] : past_) {
    if (session.trials == 0) continue;
    const int64_t taken = std::clamp<int64_t>(count, 0, session.trials);
    sum += session.seconds * static_cast<double>(taken) / static_cast<double>(session.trials);
    count -= taken;
  }
  return sum;
}

double History::TunerGain(int64_t count) const {
  const auto found = tuner_gains_.find(count);
  return found == tuner_gains_.end() ? -1 : found->second;
}

std::vector<Outcome> History::AsSearched(size_t from) const {
  std::vector<Outcome> outcomes(outcomes_.begin() + static_cast<std::ptrdiff_t>(from), outcomes_.end());
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].state == TrialState::kOk) outcomes[i].median = search_seconds_[from + i];
  }
  return outcomes;
}

void History::Add(const Outcome& outcome) { Append(outcome, search_times_.Take(outcome)); }

void History::Append(const Outcome& outcome, double searched) {
  const size_t position = outcomes_.size();
  outcomes_.push_back(outcome);
  ordinals_.push_back(next_ordinal_++);
  search_seconds_.push_back(outcome.state == TrialState::kOk ? searched : 0);
  known_.insert(outcome.config.ValueDigest());
  if (!outcome.artifact_digest.empty() && outcome.error != TrialError::kDevice) {
    artifacts_.emplace(outcome.artifact_digest, position);
  }
  const bool better = outcome.state == TrialState::kOk && (!best_ || outcome.median < outcomes_[*best_].median);
  if (better) {
    best_ = position;
    since_best_ = 0;
  } else if (outcome.error != TrialError::kDevice) {  // a device failure says nothing about the search
    ++since_best_;
  }
}

void History::Replace(size_t position, const Outcome& outcome) {
  outcomes_[position] = outcome;
  best_.reset();
  for (size_t i = 0; i < outcomes_.size(); ++i) {
    const bool ok = outcomes_[i].state == TrialState::kOk;
    if (ok && (!best_ || outcomes_[i].median < outcomes_[*best_].median)) best_ = i;
  }
}

const Outcome* History::OfArtifact(const std::string& digest) const {
  const auto found = artifacts_.find(digest);
  if (found != artifacts_.end()) return &outcomes_[found->second];
  const auto uncounted = uncounted_artifacts_.find(digest);
  return uncounted == uncounted_artifacts_.end() ? nullptr : &uncounted_[uncounted->second];
}

bool History::Closed(int64_t finalists) const {
  return closing_ && closing_->trials == count() && closing_->finalists >= finalists;
}

StopReason History::Met(const Budget& budget, double session_seconds) const {
  if (count() >= budget.trials) return StopReason::kTrials;
  if (budget.seconds > 0 && past_seconds_ + session_seconds >= budget.seconds) return StopReason::kSeconds;
  if (closing_ && closing_->trials == count()) {
    if (closing_->reason == StopReason::kExhausted) return StopReason::kExhausted;
    const bool patient = closing_->early_stop >= budget.early_stop;
    if (closing_->reason == StopReason::kEarlyStop && budget.early_stop > 0 && patient) return StopReason::kEarlyStop;
    const bool modest = budget.expected_gain >= closing_->expected_gain;
    if (closing_->reason == StopReason::kExpectedGain && budget.expected_gain > 0 && modest) {
      return StopReason::kExpectedGain;
    }
  }
  if (budget.early_stop > 0 && since_best_ >= budget.early_stop) return StopReason::kEarlyStop;
  return StopReason::kNone;
}

}  // namespace hone::session

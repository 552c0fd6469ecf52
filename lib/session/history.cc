#include "session/history.h"

#include <set>

namespace hone::session {
Status History::Load(const record::Store& store) {
  HONE_ASSIGN_OR_RETURN(const std::vector<record::Session> sessions, store.Sessions());
  HONE_ASSIGN_OR_RETURN(const std::vector<record::Trial> trials, store.Trials());
  std::set<int64_t> ours;
  for (const record::Session& session : sessions) {
    if (session.fingerprint != fingerprint_) continue;
    ours.insert(session.id);
    const auto closing = Closing::FromSettings(session.settings);
    if (closing && session.ended > 0) closing_ = closing;
    past_seconds_ += session.tuning_seconds;
  }
  for (const record::Trial& trial : trials) {
    next_ordinal_ = trial.ordinal;
    if (!ours.count(trial.session)) {
      ++foreign_;
      continue;
    }
    Add(trial.outcome);
  }
  next_ordinal_ = static_cast<int64_t>(trials.size());
  return Status();
}

void History::Add(const Outcome& outcome) {
  const size_t position = outcomes_.size();
  outcomes_.push_back(outcome);
  ordinals_.push_back(next_ordinal_++);
  indices_.insert(outcome.config.index);
  if (!outcome.artifact_digest.empty() && outcome.error != TrialError::kDevice) {
    artifacts_.emplace(outcome.artifact_digest, position);
  }
  const bool better = outcome.state == TrialState::kOk && (!best_ || outcome.median < outcomes_[*best_].median);
  if (better) best_ = position;
  since_best_ = better ? 0 : since_best_ + 1;
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
  return found == artifacts_.end() ? nullptr : &outcomes_[found->second];
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
  }
  if (budget.early_stop > 0 && best_ && since_best_ >= budget.early_stop) return StopReason::kEarlyStop;
  return StopReason::kNone;
}

}  // namespace hone::session

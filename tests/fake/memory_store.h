// A record store in memory that counts its calls, and can fail from a given Append on.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "record/store.h"

namespace hone::fake {

class MemoryStore : public record::Store {
 public:
  const record::Meta& meta() const override { return meta_; }

  Result<int64_t> BeginSession(const record::Session& session) override {
    sessions_.push_back(session);
    sessions_.back().id = static_cast<int64_t>(sessions_.size());
    return sessions_.back().id;
  }
  Status EndSession(int64_t id, double ended) override {
    sessions_[static_cast<size_t>(id - 1)].ended = ended;
    return Status();
  }
  Status Append(int64_t session, const std::vector<Outcome>& outcomes, double tuning_seconds) override {
    if (fail_after >= 0 && appends_++ >= fail_after) return Status::Io("records.db: disk full (fake)");
    for (const Outcome& outcome : outcomes) {
      trials_.push_back({static_cast<int64_t>(trials_.size()), session, outcome, {}});
      trials_.back().outcome.config = *Config::FromJson(outcome.config.ToJson());  // round trip, as in a file
      trials_.back().rounds.assign(outcome.samples.size(), 0);
    }
    record::Session& row = sessions_[static_cast<size_t>(session - 1)];
    row.tuning_seconds = std::max(row.tuning_seconds, tuning_seconds);
    return Status();
  }
  Status Remeasure(const std::vector<record::Remeasured>& finalists) override {
    for (const auto& [ordinal, outcome] : finalists) {
      record::Trial& trial = trials_.at(static_cast<size_t>(ordinal));
      const int64_t round = trial.rounds.empty() ? 1 : trial.rounds.back() + 1;
      for (const double seconds : outcome.samples) {
        trial.outcome.samples.push_back(seconds);
        trial.rounds.push_back(round);
      }
      trial.outcome.median = outcome.median;
      trial.outcome.state = outcome.state;
      ++remeasured;
    }
    ++heats;
    return Status();
  }
  Result<std::vector<record::Trial>> AllTrials() const override { return trials_; }
  Result<std::vector<record::Session>> Sessions() const override { return sessions_; }
  Result<int64_t> CountTrials() const override { return static_cast<int64_t>(trials_.size()); }
  Result<std::optional<record::Trial>> Best(const std::string& fingerprint) const override {
    std::optional<record::Trial> best;
    for (const record::Trial& trial : trials_) {
      if (trial.superseded) continue;
      const record::Session& session = sessions_[static_cast<size_t>(trial.session - 1)];
      if (trial.outcome.state != TrialState::kOk || session.fingerprint != fingerprint) continue;
      if (!best || trial.outcome.median < best->outcome.median) best = trial;
    }
    return best;
  }
  Result<std::vector<std::string>> Verify() const override { return std::vector<std::string>(); }

  // Marks a trial as superseded, as raising its template's version does.
  void Supersede(size_t ordinal) { trials_.at(ordinal).superseded = true; }
  // As after a kill: the first `count` trials, and sessions that did not end.
  void Truncate(size_t count) {
    trials_.resize(std::min(count, trials_.size()));
    std::vector<record::Session> kept;
    for (record::Session session : sessions_) {
      if (session.settings.find("closing") != std::string::npos) break;
      session.ended = 0;
      kept.push_back(session);
    }
    sessions_ = kept;
  }

  int fail_after = -1;  // number of successful Appends; negative: all
  int remeasured = 0;   // trials
  int heats = 0;        // calls of Remeasure

 private:
  record::Meta meta_;
  std::vector<record::Session> sessions_;
  std::vector<record::Trial> trials_;
  int appends_ = 0;
};

}  // namespace hone::fake

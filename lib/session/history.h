// The records so far for one fingerprint, and what follows from them: the incumbent, and whether the budget is met.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "op/numerics.h"
#include "record/store.h"
#include "task/outcome.h"
#include "task/protocol.h"

namespace hone::session {

struct Budget {
  int64_t trials = 128;
  double seconds = 0;        // compiling and measuring over all sessions; 0: no limit
  int64_t early_stop = 0;    // stops after this many trials without an improvement or first success; 0: never
  double expected_gain = 0;  // stops when the tuner expects to gain less than this share; 0: never
};

// Which trials count if the user limits the numerics: those that the limits allow and that were proposed under the same
// or wider limits, as narrower ones skipped points that are legal now. The others stay in the records, and their
// artifacts are not timed again.
struct Scope {
  op::Numerics numerics;
  op::NumericsMatter matter;                    // the limits that affect this task; the others do not matter
  std::function<bool(const Outcome&)> allowed;  // under the limits; null: all are
};

using record::Closing;
using record::StopReason;
using record::StopReasonName;

// The trials' times during the search, separate from the times of finalists that were measured again later.
//
// Finalists are measured again at another time and under other conditions (MeasureFinalists), and the new medians
// replace the old ones. The new times decide which finalist wins, but they are not comparable with the times of other
// trials. A tuner, or a task that learns from this one, needs comparable times: those of the search.
class SearchTimes {
 public:
  explicit SearchTimes(const std::string& fingerprint) : trimmed_means_(CountsTrimmedMeans(fingerprint)) {}

  // Takes the next trial of the fingerprint, in the order of the ordinals, and returns the median (for blocks, the
  // trimmed mean) of its own first samples; without samples, that of the trial in which its artifact was timed. If
  // nothing was measured again, or if the first samples are lost, this is exactly the recorded median. `rounds` has the
  // round of each sample (record::Trial), 0 for the first ones; empty: all 0.
  double Take(const Outcome& outcome, const std::vector<int64_t>& rounds = {});

 private:
  bool trimmed_means_;
  std::map<std::string, double> by_artifact_;
};

// The fingerprint under which this machine's trials are recorded: that of the newest session of the same machine, which
// an earlier version may have written (SameMachine), if no session has `fingerprint`; else `fingerprint`. One file then
// has one text for this machine, and records that only lack a field still count.
std::string RecordedFingerprint(const std::vector<record::Session>& sessions, const std::string& fingerprint);

// Trials of one fingerprint in order, and running figures. Not thread-safe.
class History {
 public:
  explicit History(std::string fingerprint, Scope scope = {})
      : fingerprint_(std::move(fingerprint)), scope_(std::move(scope)), search_times_(fingerprint_) {}

  // Reads everything. Only counts trials of other fingerprints, superseded trials, and trials outside the limits, but
  // uses the verdicts on the artifacts of the last two kinds.
  Status Load(const record::Store& store);
  // Adds a new trial. Its ordinal continues those in the store, but it is not stored.
  void Add(const Outcome& outcome);
  // Replaces the outcome of trial `position` (a finalist measured again).
  void Replace(size_t position, const Outcome& outcome);

  const std::vector<Outcome>& outcomes() const { return outcomes_; }
  int64_t ordinal(size_t position) const { return ordinals_[position]; }
  int64_t count() const { return static_cast<int64_t>(outcomes_.size()); }
  int64_t foreign() const { return foreign_; }
  int64_t superseded() const { return superseded_; }  // those whose template has another version now
  int64_t outside() const { return static_cast<int64_t>(uncounted_.size()) - superseded_; }  // those outside the scope
  const std::string& fingerprint() const { return fingerprint_; }
  const Scope& scope() const { return scope_; }
  // The fastest ok time among the first `count` trials during the search, before finalists were measured again: later
  // trials do not change it. 0 without a correct trial.
  double SearchSeconds(int64_t count) const;
  // A trial that was faster than all before it: the number of trials up to it, and its time, as SearchSeconds.
  struct Improvement {
    int64_t trials = 0;
    double seconds = 0;
  };
  std::vector<Improvement> Improvements(int64_t count) const;
  // The number of trials in the sessions that began before `seconds` of tuning were spent; a session under a budget of
  // `seconds` ends there. 0 seconds: all trials.
  int64_t CountWithin(double seconds) const;
  // Tuning time that the first `count` trials took. A session that made more of them counts in proportion.
  double TuningSeconds(int64_t count) const;
  // The share of the time that the tuner expected to gain when tuning ended after `count` trials
  // (Closing::tuner_gain); below 0: unknown.
  double TunerGain(int64_t count) const;
  // The outcomes from position `from` on with their times during the search, for tuners.
  std::vector<Outcome> AsSearched(size_t from) const;
  // Whether a trial had this template and these knob values, regardless of the index.
  bool Knows(const Config& config) const { return known_.count(config.ValueDigest()) != 0; }
  // The verdict on an identical artifact; null without one. Failures of the device are not verdicts on the artifact.
  const Outcome* OfArtifact(const std::string& digest) const;
  std::optional<size_t> best() const { return best_; }  // position of the fastest ok trial, the first of equals
  double best_seconds() const { return best_ ? outcomes_[*best_].median : 0; }
  double past_seconds() const { return past_seconds_; }  // tuning time of earlier sessions
  // Whether at least `finalists` finalists were measured after the last trial.
  bool Closed(int64_t finalists) const;

  // `session_seconds` is that of the running session. The reason recorded by a closing row holds until there are more
  // trials, because measuring finalists again may change which trial is the best and how long ago it was.
  StopReason Met(const Budget& budget, double session_seconds) const;

 private:
  void Append(const Outcome& outcome, double searched);

  std::string fingerprint_;
  Scope scope_;
  std::vector<Outcome> outcomes_;
  std::vector<Outcome> uncounted_;  // trials of this machine that are superseded or outside the scope
  SearchTimes search_times_;
  std::vector<double> search_seconds_;  // per trial; 0 if it is not ok
  std::vector<int64_t> ordinals_;
  int64_t next_ordinal_ = 0;
  int64_t foreign_ = 0, superseded_ = 0;
  std::set<Digest> known_;  // the trials' points, by value
  std::map<std::string, size_t> artifacts_;
  std::map<std::string, size_t> uncounted_artifacts_;
  std::optional<size_t> best_;
  int64_t since_best_ = 0;  // trials, without those that the device failed
  double past_seconds_ = 0;
  struct PastSession {
    int64_t trials = 0;
    double seconds = 0;
  };
  std::map<int64_t, PastSession> past_;    // by id; of this machine, under these numerics or wider ones
  std::map<int64_t, double> tuner_gains_;  // by number of trials
  std::optional<Closing> closing_;
};

}  // namespace hone::session

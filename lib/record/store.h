// Store: the records of one task on one target, in one SQLite file. db/README.md describes the format.
//
// Work folders live on shared file systems, so there is no WAL: one writer, which holds the job's lock (base/lock.h), a
// rollback journal (TRUNCATE), synchronous=FULL, and about one transaction a second, or one for each complete batch. A
// kill loses at most the trials since the last one. Other processes may read the file between two transactions;
// progress.json (session/progress.h) shows the progress of a running job without touching this file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/statistics.h"
#include "task/outcome.h"
#include "task/template_versions.h"

namespace hone::record {

inline constexpr int kSchemaVersion = 3;

// Describes a file. Task, workload and target are set when it is created and checked when it is opened again.
struct Meta {
  std::string task_id;
  std::string workload;        // canonical text
  std::string target;          // canonical text
  TemplateVersions templates;  // trials of other versions are superseded; set when opening for writing
};

struct Session {
  int64_t id = 0;
  double started = 0, ended = 0;  // unix seconds; ended is 0 if the session was killed
  double killed_before = 0;       // then: what RemoveTrials noted of its end; 0: nothing
  double tuning_seconds = 0;      // spent on trials, by a monotonic clock; updated with each batch
  std::string host, device, driver, fingerprint;
  std::string tool_version, codegen_version, protocol_version;
  uint64_t seed = 0;
  std::string settings;  // JSON
};

struct Trial {
  int64_t ordinal = 0;  // 0, 1, 2, .. over all sessions
  int64_t session = 0;
  Outcome outcome;               // with the samples of all rounds, in order
  std::vector<int64_t> rounds;   // of each sample: 0 during the search, 1, 2, .. when measured again as a finalist
  int64_t template_version = 0;  // of its template at that time
  bool superseded = false;       // the template has another version now, or is gone

  std::vector<double> LastRound() const;  // the samples behind the median
  // Whether the median may be too long: others used the machine, or the samples disagree.
  bool MayBeSlow() const { return outcome.disturbed > 0 || Unsteady(LastRound()); }
};

// The result of measuring a trial again: samples (of this round only), median, state, error, measure_seconds and how
// much others disturbed it.
struct Remeasured {
  int64_t ordinal = 0;
  Outcome outcome;
};

class Store {
 public:
  // Opens for writing. Creates the file and its folder, or migrates an older file. Sets the template versions of
  // `meta`: trials of other versions are superseded until their versions return. Returns kInvalid for a file of another
  // task or target (the message says what to do), kCorrupt for a damaged one, kUnsupported for a newer schema.
  static Result<std::unique_ptr<Store>> OpenForWriting(const std::string& path, const Meta& meta);
  // Read only; never creates a file. Returns kNotFound, kCorrupt or kUnsupported as above, kLocked if a writer is in a
  // transaction.
  static Result<std::unique_ptr<Store>> OpenForReading(const std::string& path);
  virtual ~Store() = default;

  virtual const Meta& meta() const = 0;
  virtual Result<int64_t> BeginSession(const Session& session) = 0;
  virtual Status EndSession(int64_t id, double ended) = 0;  // call it only if the session ended well
  // Appends all in one transaction, with the next ordinals. A trial whose artifact was timed before has no samples of
  // its own. `tuning_seconds` is the session's total so far; the row's value only grows.
  virtual Status Append(int64_t session, const std::vector<Outcome>& outcomes, double tuning_seconds = 0) = 0;
  // Stores finalists measured again, in one transaction: adds a round of samples to each and replaces its median and
  // state. Those without new samples, whose artifact another trial has, get only its median.
  virtual Status Remeasure(const std::vector<Remeasured>& finalists) = 0;

  // Trials() leaves out superseded trials. Both return trials by ordinal, with samples.
  Result<std::vector<Trial>> Trials() const;
  virtual Result<std::vector<Trial>> AllTrials() const = 0;
  virtual Result<std::vector<Session>> Sessions() const = 0;
  virtual Result<int64_t> CountTrials() const = 0;  // including superseded ones
  // The fastest kOk trial that counts under `fingerprint` (empty: the most recent session's). Times of different
  // fingerprints are never compared.
  virtual Result<std::optional<Trial>> Best(const std::string& fingerprint) const = 0;
  // Checks pages, foreign keys, ordinals, digests, and each median against its round of samples (its own, or those of
  // the trial with the same artifact). Returns one line per problem; empty if the file is whole.
  virtual Result<std::vector<std::string>> Verify() const = 0;
};

// Records as text for other programs: one JSON object per line and trial, which repeats the task so that lines of
// several files can be mixed. db/README.md describes the keys.
Result<std::string> ExportJsonLines(const Store& store);
// ordinal,state,error,median_seconds,samples,compile_seconds,measure_seconds,proposer,config
Result<std::string> ExportCsv(const Store& store);

// Why a tuning job is done. Written into records and stamps.
enum class StopReason { kNone, kTrials, kSeconds, kEarlyStop, kExhausted, kExpectedGain };
// "", "trials", "seconds", "early-stop", "space-exhausted", "expected-gain"
const char* StopReasonName(StopReason reason);

// Marks the end of tuning in the records: the settings of a session row without trials. `trials` counts those of the
// fingerprint. A job whose last closing row counts all of its trials need not be closed again.
struct Closing {
  int64_t trials = 0;
  StopReason reason = StopReason::kNone;
  int64_t early_stop = 0;  // the budget's, if it was the reason
  int64_t finalists = 0;
  double drift = 1;          // the anchor's time now relative to its time during tuning
  double expected_gain = 0;  // the budget's, if it was the reason
  double tuner_gain = -1;    // what the tuner expected of its next trial, as a share of the time; below 0: unknown
  int64_t winograd = 6;      // numerics (op::Numerics) under which trials counted
  bool tf32 = false;

  std::string ToSettings() const;
  static std::optional<Closing> FromSettings(const std::string& settings);  // nothing for a session that tuned
  // For people: "128 trials spent", "nothing better in the last 20 trials", "less than 1 % to be gained".
  std::string ReasonText() const;
};

}  // namespace hone::record

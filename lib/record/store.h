// Store: the records of one task on one target, in one SQLite file. db/README.md describes the format in prose.
//
// Work folders live on shared file systems, so there is no WAL: one writer, which holds the job's lock (base/lock.h), a
// rollback journal (TRUNCATE), synchronous=FULL, and one transaction for each measured batch. A kill loses at most the
// trials in flight. Other processes may read the file between two transactions; progress.json (session/progress.h) says
// how far a running job is without touching this file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "task/outcome.h"
#include "task/template_versions.h"

namespace hone::record {

inline constexpr int kSchemaVersion = 3;

// The subject of a file. Task, workload and target are set when it is created and checked when it is opened again.
struct Meta {
  std::string task_id;
  std::string workload;        // canonical text
  std::string target;          // canonical text
  TemplateVersions templates;  // trials of other versions are superseded; opening for writing sets these
};

struct Session {
  int64_t id = 0;
  double started = 0, ended = 0;  // unix seconds; ended 0: it did not end well
  double tuning_seconds = 0;      // spent on trials, by a clock that does not jump; kept up with each batch
  std::string host, device, driver, fingerprint;
  bool trimmed_means = false;  // blocks were timed in AutoTVM's way (Protocol::number): TrimmedMean of the samples
                               // counts, not the median. Not stored by itself: the fingerprint says so
  std::string tool_version, codegen_version, protocol_version;
  uint64_t seed = 0;
  std::string settings;  // JSON
};

struct Trial {
  int64_t ordinal = 0;  // 0, 1, 2, .. over all sessions
  int64_t session = 0;
  Outcome outcome;               // samples of all rounds, in order
  std::vector<int64_t> rounds;   // of each sample: 0 while searching, 1, 2, .. measured again as a finalist
  int64_t template_version = 0;  // of the template that made it
  bool superseded = false;       // that template has another version now, or is gone

  std::vector<double> LastRound() const;  // the samples that gave the median
};

// The result of measuring a trial again: samples (of this round alone), median, state, error, measure_seconds and how
// far others disturbed it.
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
  // Read only; never creates. kNotFound, kCorrupt, kUnsupported as above, kLocked if a writer is in a transaction.
  static Result<std::unique_ptr<Store>> OpenForReading(const std::string& path);
  virtual ~Store() = default;

  virtual const Meta& meta() const = 0;
  virtual Result<int64_t> BeginSession(const Session& session) = 0;
  virtual Status EndSession(int64_t id, double ended) = 0;  // and with it ended well
  // Appends in one transaction; ordinals follow on. All or none is stored. A trial whose artifact was timed before has
  // no samples of its own. `tuning_seconds`: the session's so far; the row's only grow.
  virtual Status Append(int64_t session, const std::vector<Outcome>& outcomes, double tuning_seconds = 0) = 0;
  // Finalists measured again, in one transaction: a round of samples is added to each and its median and state are
  // replaced. Those without new samples (twins of another one) get its median alone.
  virtual Status Remeasure(const std::vector<Remeasured>& finalists) = 0;

  // Trials() leaves out superseded trials. Both return them by ordinal, with samples.
  Result<std::vector<Trial>> Trials() const;
  virtual Result<std::vector<Trial>> AllTrials() const = 0;
  virtual Result<std::vector<Session>> Sessions() const = 0;
  virtual Result<int64_t> CountTrials() const = 0;  // all of them
  // The fastest kOk trial that counts measured under `fingerprint` (the most recent session's if empty). Times of
  // different fingerprints are never compared.
  virtual Result<std::optional<Trial>> Best(const std::string& fingerprint) const = 0;
  // Integrity of pages, foreign keys, ordinals, digests, and each median against the round of samples it is of (its
  // own, or those of the trial with the same artifact). One line a finding; empty if fine.
  virtual Result<std::vector<std::string>> Verify() const = 0;
};

}  // namespace hone::record

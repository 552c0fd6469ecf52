// Store: the records of one task on one target, in one SQLite file. db/README.md describes the format in prose.
//
// Constraints: work directories live on shared file systems, so no WAL: one writer, who holds the job's lock
// (base/lock.h), rollback journal (TRUNCATE), synchronous=FULL, and one transaction a measured batch. A kill at any
// moment loses at most the trials in flight. Others do not open a live file; they read progress.json.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "task/outcome.h"

namespace hone::record {

inline constexpr int kSchemaVersion = 1;

// What a file is about; fixed when it is created, checked when it is opened again.
struct Meta {
  std::string task_id;
  std::string workload;       // canonical text
  std::string target;         // canonical text
  std::string space_version;  // the templates' versions that the configs' indices belong to
};

struct Session {
  int64_t id = 0;
  double started = 0, ended = 0;  // unix seconds; ended 0: it did not end well
  std::string host, device, driver, fingerprint;
  std::string tool_version, codegen_version, protocol_version;
  uint64_t seed = 0;
  std::string settings;  // JSON
};

struct Trial {
  int64_t ordinal = 0;  // 0, 1, 2, .. over all sessions
  int64_t session = 0;
  Outcome outcome;
};

class Store {
 public:
  // Opens for writing, creating the file and its folder or migrating it forward. kInvalid if it is about another task,
  // target or space version (the message says what to do), kCorrupt if damaged (names `hone-records salvage`),
  // kUnsupported if of a newer schema.
  static Result<std::unique_ptr<Store>> OpenForWriting(const std::string& path, const Meta& meta);
  // Read only; never creates. kNotFound, kCorrupt, kUnsupported as above, kLocked if a writer is in a transaction.
  static Result<std::unique_ptr<Store>> OpenForReading(const std::string& path);
  virtual ~Store() = default;

  virtual const Meta& meta() const = 0;
  virtual Result<int64_t> BeginSession(const Session& session) = 0;
  virtual Status EndSession(int64_t id, double ended) = 0;
  // Appends in one transaction; ordinals follow on. All or none is stored.
  virtual Status Append(int64_t session, const std::vector<Outcome>& outcomes) = 0;
  // A finalist measured again: its samples are added and its median and state replaced.
  virtual Status Remeasure(int64_t ordinal, const Outcome& outcome) = 0;

  virtual Result<std::vector<Trial>> Trials() const = 0;  // by ordinal, samples included
  virtual Result<std::vector<Session>> Sessions() const = 0;
  virtual Result<int64_t> CountTrials() const = 0;
  // The fastest kOk trial measured under `fingerprint` (the most recent session's if empty). Times of different
  // fingerprints are never compared.
  virtual Result<std::optional<Trial>> Best(const std::string& fingerprint) const = 0;
  // Integrity of pages, foreign keys, ordinals, digests, medians against samples. One line a finding; empty if fine.
  virtual Result<std::vector<std::string>> Verify() const = 0;
};

}  // namespace hone::record

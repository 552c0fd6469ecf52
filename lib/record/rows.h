// Converts the rows of a record file to values and back: the only place that maps columns to fields. Only lib/record
// includes this.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "record/sqlite.h"
#include "record/store.h"

namespace hone::record {

// The keys of table meta and their fields.
std::vector<std::pair<const char*, std::string Meta::*>> MetaFields();
// The template versions that count, in a file of schema `version`.
Result<TemplateVersions> ReadTemplates(Database* db, int64_t version);

// The columns of a SELECT from table session, and the value of a row of its result.
inline constexpr char kSessionColumns[] =
    "id, started, ended, host, device, driver, fingerprint, tool_version, codegen_version, protocol_version, seed, "
    "settings, tuning_seconds";
Session SessionOfRow(const Statement& row);
// Inserts it under its id, or under the next one if that is 0.
Status InsertSession(Database* db, const Session& session);

// The same for table trial in a file of schema `version`; a statement may append further columns.
std::string TrialColumns(int64_t version);
inline constexpr int kTrialColumns = 15;
// Without samples. The caller sets `superseded` and, before schema 3, `template_version`. Returns kCorrupt with "trial
// N: .." for a malformed config, state or error.
Result<Trial> TrialOfRow(const Statement& row);
// Reads its samples and their rounds, in order, into a trial that has no samples yet.
Status ReadSamples(Database* db, Trial* trial);

// The median as its column holds it: nothing for a failed trial.
std::optional<double> MedianOf(const Outcome& outcome);

// Statements for many rows.
class TrialWriter {
 public:
  static Result<TrialWriter> Prepare(Database* db);  // must outlive it
  // `version` is the template's. `rounds` has the round of each sample; empty: all 0.
  Status Write(int64_t ordinal, int64_t session, int64_t version, const Outcome& outcome,
               const std::vector<int64_t>& rounds = {});
  // Writes the trial's sample number `sequence`, counted over all rounds.
  Status WriteSample(int64_t ordinal, int64_t sequence, int64_t round, double seconds);

 private:
  TrialWriter(Statement trial, Statement sample) : trial_(std::move(trial)), sample_(std::move(sample)) {}
  Statement trial_, sample_;
};

// The median that a trial must have according to its own last round of samples (for a pruned one, the fastest of its
// few), and whether a stored median equals that or, if CountsTrimmedMeans of the session's fingerprint, the TrimmedMean
// of the samples taken during the search. REQUIRES: it has samples.
double MedianOfSamples(const Trial& trial);
bool IsOfSamples(double stored, const Trial& trial, bool trimmed_means);

// The checks of `hone-records verify` beyond SQLite's own integrity check, for a file of schema `version`. Returns one
// line per problem, at most 100; empty if the file is whole. Returns an error only if the file cannot be read at all.
Result<std::vector<std::string>> VerifyRecords(Database* db, int64_t version);

}  // namespace hone::record

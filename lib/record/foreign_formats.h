// Records of other programs. doc/reference/formats.md describes the mappings.
//   AutoTVM's logs: one JSON object per line, version 0.2.
//   Ansor's (TVM's auto_scheduler): one JSON object per line, version v0.6.
//   T4 1.0, the results format of the autotuning community: one JSON document, {"schema_version", "results": [..]}.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/foreign_store.h"
#include "record/store.h"
#include "search/space/space.h"

namespace hone::record {

// Reads lines; caches the spaces that it needs.
class AutoTvmReader {
 public:
  // Returns kUnsupported for another version, kInvalid for other errors; messages do not include the place. Accepts NaN
  // and infinite times, as failed records.
  Result<ForeignRecord> Read(std::string_view line);

 private:
  std::map<std::string, std::optional<search::Space>> spaces_;  // by task, target's kind and arguments
};

// Imports all records of a log into `db` in one transaction. `report` gets each skipped line with its number from 1.
// Returns kInvalid, and writes nothing, if no line is a record, or if a line exceeds 64 MiB.
Result<ImportCounts> ImportAutoTvm(const std::string& path, const std::string& db,
                                   const std::function<void(int64_t line, const std::string& what)>& report);

// A line of Ansor; errors as of AutoTvmReader::Read. Steps of any kind are accepted.
Result<ForeignRecord> ReadAnsor(std::string_view line);
// The same as ImportAutoTvm for Ansor's logs.
Result<ImportCounts> ImportAnsor(const std::string& path, const std::string& db,
                                 const std::function<void(int64_t line, const std::string& what)>& report);

// A step of the schedule in Ansor's record.
struct AnsorStep {
  std::string kind;                             // "SP", ..; empty if the step is of a form that is not known here
  std::vector<std::vector<int64_t>> arguments;  // of that kind: a list, or one number; a text is empty here
  std::string text;                             // the argument that is a text
  std::string words;                            // for people, in one line; a step that is not known as in the log
};
std::vector<AnsorStep> AnsorSteps(const ForeignRecord& record);

// Hone's own trials as lines of AutoTVM. Pruned ones become timeouts, as their times are lower bounds. Indices are
// those of the template's own space if AutoTVM has it, else the recorded ones.
Result<std::string> ExportAutoTvm(const Store& store);

// Passes each result of the document `text`, from the file `path`, to `visit`; `report` as below. Returns kInvalid if
// it is not JSON or not T4, kUnsupported for another version, or the first error of `visit`.
Status ReadT4(std::string_view text, const std::string& path, const std::function<Status(const ForeignRecord&)>& visit,
              const std::function<void(int64_t result, const std::string& what)>& report);

// Imports all results of a document into `db` in one transaction; ImportCounts::lines counts results. `report` gets
// each skipped one with its number from 1. Returns kInvalid if it is not JSON or not T4, kUnsupported for another
// version.
Result<ImportCounts> ImportT4(const std::string& path, const std::string& db,
                              const std::function<void(int64_t result, const std::string& what)>& report);

// The T4 records of a foreign file as one document again. Returns kInvalid if there are none, or if their documents had
// different keys besides `results`.
Result<std::string> ExportT4(const ForeignStore& store);
// Hone's own trials, in milliseconds; a pruned trial becomes a timeout with its bound as `time_lower_bound`.
Result<std::string> ExportT4(const Store& store);

}  // namespace hone::record

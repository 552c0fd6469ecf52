// AutoTVM's logs: one JSON object per line, version 0.2. doc/reference/formats.md describes the mapping.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

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

// Hone's own trials as lines of AutoTVM. Pruned ones become timeouts, as their times are lower bounds. Indices are
// those of the template's own space if AutoTVM has it, else the recorded ones.
Result<std::string> ExportAutoTvm(const Store& store);

}  // namespace hone::record

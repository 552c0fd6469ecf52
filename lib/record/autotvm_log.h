// AutoTVM's logs: one JSON object a line, version 0.2. doc/reference/formats.md has the mapping.
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

// Reads lines; keeps the spaces it has met.
class AutoTvmReader {
 public:
  // kUnsupported for another version, kInvalid for anything else; messages without a place. NaN and infinite times are
  // read: such a record is a failed one.
  Result<ForeignRecord> Read(std::string_view line);

 private:
  std::map<std::string, std::optional<search::Space>> spaces_;  // by task, target's kind and arguments
};

// All records of a log into `db`, in one transaction. `report` gets each line that is skipped, with its number from 1.
// kInvalid if no line is a record: then nothing is written. Long lines: kInvalid above 64 MiB.
Result<ImportCounts> ImportAutoTvm(const std::string& path, const std::string& db,
                                   const std::function<void(int64_t line, const std::string& what)>& report);

// Hone's own trials as AutoTVM's lines: pruned ones as failures by timeout, as their times are bounds. Indices are
// those of the template's own space where AutoTVM has it, else those of the records.
Result<std::string> ExportAutoTvm(const Store& store);

}  // namespace hone::record

// T4 1.0, the results format of the autotuning community: one JSON document, {"schema_version", "results": [..]}.
// doc/reference/formats.md describes the mapping.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "record/foreign_store.h"
#include "record/store.h"

namespace hone::record {

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

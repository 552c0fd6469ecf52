// T4 1.0, the results format of the autotuning community: one JSON document, {"schema_version", "results": [..]}.
// doc/reference/formats.md has the mapping.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "record/foreign_store.h"
#include "record/store.h"

namespace hone::record {

// The results of the document `text`, which is the file `path`, each to `visit`; `report` as below. kInvalid if it is
// no JSON or no T4, kUnsupported for another version; or what `visit` says, which ends it.
Status ReadT4(std::string_view text, const std::string& path, const std::function<Status(const ForeignRecord&)>& visit,
              const std::function<void(int64_t result, const std::string& what)>& report);

// All results of a document into `db`, in one transaction; ImportCounts::lines counts results. `report` gets each that
// is skipped, with its number from 1. kInvalid if it is no JSON or no T4, kUnsupported for another version.
Result<ImportCounts> ImportT4(const std::string& path, const std::string& db,
                              const std::function<void(int64_t result, const std::string& what)>& report);

// The T4 records of a foreign file as one document again. kInvalid if there are none, or if they are of documents whose
// keys beside `results` differ.
Result<std::string> ExportT4(const ForeignStore& store);
// Hone's own trials. Times in milliseconds; a pruned trial is a timeout, with its bound as `time_lower_bound`.
Result<std::string> ExportT4(const Store& store);

}  // namespace hone::record

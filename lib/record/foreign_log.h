// Shared code of the readers of AutoTVM's and Ansor's logs: one JSON object in each line, with times and error numbers.
// Only lib/record includes this.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "record/foreign_store.h"

namespace hone::record {

inline constexpr double kFailedCost = 1e9;  // AutoTVM's time of a failure; Ansor's is 1e10

// A line's JSON object. Accepts Python's NaN and infinities, and numbers that no double can hold, as null. Returns
// kInvalid, without the place, for anything else.
Result<Json> ParseLogLine(std::string_view line);

// Sets ok, error and seconds from `[times, error, ..]`. REQUIRES: that form.
void ReadLogResult(const Json& result, ForeignRecord* record);
// Whether it has that form.
bool IsLogResult(const Json& result);

using ReadLine = std::function<Result<ForeignRecord>(std::string_view line)>;

// Imports all records of the log into `db` in one transaction, as foreign_formats.h says. `name` is the format's, for
// people.
Result<ImportCounts> ImportLines(const std::string& path, const std::string& db, const std::string& name,
                                 const ReadLine& read,
                                 const std::function<void(int64_t line, const std::string& what)>& report);

}  // namespace hone::record

// What `hone-records verify` checks beyond SQLite's own integrity check.
#pragma once

#include <string>
#include <vector>

#include "record/sqlite.h"

namespace hone::record {

// Of a file of schema `version`. One line a finding, at most 100; empty if all is well. An error only if the file
// cannot be read at all.
Result<std::vector<std::string>> VerifyRecords(Database* db, int64_t version);

}  // namespace hone::record

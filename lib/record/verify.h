// The checks of `hone-records verify` beyond SQLite's own integrity check.
#pragma once

#include <string>
#include <vector>

#include "record/sqlite.h"

namespace hone::record {

// For a file of schema `version`. Returns one line per problem, at most 100; empty if the file is whole. Returns an
// error only if the file cannot be read at all.
Result<std::vector<std::string>> VerifyRecords(Database* db, int64_t version);

}  // namespace hone::record

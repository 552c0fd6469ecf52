// hone-records on files of foreign records (record/foreign_store.h): import, and what list, show, compare, export and
// verify do with them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone::command {

struct ImportOptions {
  std::string format = "autotvm";  // or t4
  std::string file, db;
};

// Exit codes: 0 all records read, or all but a torn last line; 1 others were left out, each named on stderr; 2 misuse,
// or nothing in the file was a record.
int ImportRecords(const ImportOptions& options);
// The best times of two files of foreign records, for each task that both have for the same target.
int CompareRecords(const std::string& a, const std::string& b);

Status ListForeign(const std::string& path, int64_t limit);  // a line a task, at most `limit` (0: all)
Status ShowForeign(const std::string& path, int64_t number);
// The records of that format; how many others there are is said on stderr.
Result<std::string> ExportForeign(const std::string& path, const std::string& format);
Result<std::vector<std::string>> VerifyForeign(const std::string& path);

}  // namespace hone::command

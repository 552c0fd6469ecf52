// hone-records list, show, export and verify for files of foreign records (record/foreign_store.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone::command {

Status ListForeign(const std::string& path, int64_t limit);  // a line per task, at most `limit` (0: all)
Status ShowForeign(const std::string& path, int64_t number);
// The records in that format; says on stderr how many others there are.
Result<std::string> ExportForeign(const std::string& path, const std::string& format);
Result<std::vector<std::string>> VerifyForeign(const std::string& path);

}  // namespace hone::command

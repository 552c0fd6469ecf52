// What hone-records list, show, export and verify do with files of foreign records (record/foreign_store.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone::command {

Status ListForeign(const std::string& path, int64_t limit);  // a line a task, at most `limit` (0: all)
Status ShowForeign(const std::string& path, int64_t number);
// The records of that format; how many others there are is said on stderr.
Result<std::string> ExportForeign(const std::string& path, const std::string& format);
Result<std::vector<std::string>> VerifyForeign(const std::string& path);

}  // namespace hone::command

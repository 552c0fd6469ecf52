// Superseded records: if a task's templates change, its old records move to another file, because the indices in them
// mean nothing to the new templates.
#pragma once

#include <string>

#include "base/result.h"

namespace hone::session {

// Ensures that `db_path` holds records of `space_version` or does not exist. Records of another version move to
// DB.VERSION, or to DB.VERSION.2, .3, .. if that file exists; no file is ever overwritten. Records of this version that
// were moved to DB.VERSION earlier come back. Returns a line that says what was done, empty if nothing was.
// The caller must hold the records' lock. Returns kIo if renaming fails. Leaves `db_path` alone if it cannot be read or
// belongs to another task: opening it reports the error.
Result<std::string> SetAsideOldSpace(const std::string& db_path, const std::string& task_id,
                                     const std::string& space_version);

}  // namespace hone::session

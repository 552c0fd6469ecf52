// Records of a task whose templates have changed: kept, but elsewhere, since their indices mean nothing to this
// version.
#pragma once

#include <string>

#include "base/result.h"

namespace hone::session {

// Makes `db_path` a file of `space_version`, or none. Records of another version move to DB.VERSION, or DB.VERSION.2,
// .3, .. if such a file is there already: no records are ever replaced. Records of this version that were set aside
// before as DB.VERSION come back. A line for people that says what was done, "" if nothing. Only for the holder of the
// records' lock. kIo if renaming fails; a `db_path` that cannot be read, or is not of `task_id`, is left to
// those who open it: they refuse it.
Result<std::string> SetAsideOldSpace(const std::string& db_path, const std::string& task_id,
                                     const std::string& space_version);

}  // namespace hone::session

// The schema's versions: recognising a record file, creating one, bringing an old one forward.
#pragma once

#include <functional>

#include "record/sqlite.h"

namespace hone::record {

// "HONE" in ASCII; in the file's header, so that `file` and SQLite's own tools can identify it.
inline constexpr int64_t kApplicationId = 0x484F4E45;

// Is this one of ours, of a version that this program reads? Its version. kInvalid for another program's database,
// kUnsupported for a newer one, kCorrupt for a file shorter than its header says or with another schema
// than its version has.
Result<int64_t> CheckReadable(Database* db);

// The same, then creates the schema in an empty file, with what `begin` writes into it, or applies the missing
// migrations; in one transaction: an interruption leaves an empty file or a whole one.
Status Migrate(Database* db, const std::function<Status()>& begin);

}  // namespace hone::record

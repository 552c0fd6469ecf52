// The schema's versions: recognising a record file, creating one, bringing an old one forward.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "record/sqlite.h"

namespace hone::record {

// "HONE" in ASCII; in the file's header, so that `file` and SQLite's own tools can identify it.
inline constexpr int64_t kApplicationId = 0x484F4E45;

// Is this one of ours, of a version that this program reads? Its version. kInvalid for another program's database,
// kUnsupported for a newer one, kCorrupt for a file shorter than its header says or with another schema
// than its version has.
Result<int64_t> CheckReadable(Database* db);

// Is the schema of a database exactly the one that its version was created with? A database is input: a view that never
// ends in the place of a table, a trigger, or a generated column would otherwise run whenever the file is read.
// kCorrupt, naming the table, view, index or trigger that is missing, that differs or that should not be there, if the
// schema is not what `scripts`, run in order in an empty database, make. SQLite's own statistics tables may be there.
Status CheckSchema(Database* db, const std::vector<std::string>& scripts);

// CheckReadable, then creates the schema in an empty file, with what `begin` writes into it, or applies the missing
// migrations; in one transaction: an interruption leaves an empty file or a whole one.
Status Migrate(Database* db, const std::function<Status()>& begin);

}  // namespace hone::record

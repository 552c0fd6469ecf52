// The schema's versions: recognises a record file, creates one, migrates an old one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "record/sqlite.h"

namespace hone::record {

// "HONE" in ASCII; in the file's header, so that `file` and SQLite's own tools can identify it.
inline constexpr int64_t kApplicationId = 0x484F4E45;

// The version of a record file that this program can read. Returns kInvalid for another program's database,
// kUnsupported for a newer version, kCorrupt for a file shorter than its header says or with a schema that does not
// match its version.
Result<int64_t> CheckReadable(Database* db);

// Checks that the schema of a database is exactly the one that its version was created with. A database is untrusted
// input: an endless view in place of a table, a trigger, or a generated column would otherwise run whenever the file is
// read. Returns kCorrupt, naming the missing, different or additional table, view, index or trigger, if the schema
// differs from the one that `scripts` create in order in an empty database. SQLite's own statistics tables are allowed.
Status CheckSchema(Database* db, const std::vector<std::string>& scripts);

// After CheckReadable, creates the schema and the contents of `begin` in an empty file, or applies the missing
// migrations, in one transaction: an interruption leaves an empty file or a whole one.
Status Migrate(Database* db, const std::function<Status()>& begin);

}  // namespace hone::record

// Is the schema of a database exactly the one that its version was created with? A database is input: a view that never
// ends in the place of a table, a trigger, or a generated column would otherwise run whenever the file is read.
#pragma once

#include <string>
#include <vector>

#include "record/sqlite.h"

namespace hone::record {

// kCorrupt, naming the table, view, index or trigger that is missing, that differs or that should not be there, if the
// schema is not what `scripts`, run in order in an empty database, make. SQLite's own statistics tables may be there.
Status CheckSchema(Database* db, const std::vector<std::string>& scripts);

}  // namespace hone::record

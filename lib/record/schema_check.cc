#include "record/schema_check.h"

#include <fmt/format.h>

#include <map>

#include "base/text.h"

namespace hone::record {
namespace {

using Objects = std::map<std::string, std::string>;  // "table trial": its SQL

Result<Objects> ObjectsOf(Database* db) {
  HONE_ASSIGN_OR_RETURN(Statement s, db->Prepare("SELECT type, name, tbl_name, sql FROM sqlite_master"));
  Objects objects;
  for (;;) {
    HONE_ASSIGN_OR_RETURN(const bool row, s.Step());
    if (!row) return objects;
    const std::string name = s.Text(1);
    if (s.Text(0) == "table" && StartsWith(name, "sqlite_stat")) continue;
    objects[s.Text(0) + " " + name] = s.Text(2) + " " + s.Text(3);
  }
}

}  // namespace

Status CheckSchema(Database* db, const std::vector<std::string>& scripts) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Database> model, Database::Open(":memory:", OpenMode::kCreate));
  for (const std::string& script : scripts) HONE_RETURN_IF_ERROR(model->Execute(script));
  HONE_ASSIGN_OR_RETURN(const Objects wanted, ObjectsOf(model.get()));
  HONE_ASSIGN_OR_RETURN(const Objects found, ObjectsOf(db));
  const auto refuse = [&](const std::string& object, const char* how) {
    return Status::Corrupt(
        fmt::format("{}: its {} {}; restore a copy of the file, or move it away", db->path(), object, how));
  };
  for (const auto& [object, sql] : wanted) {
    const auto at = found.find(object);
    if (at == found.end()) return refuse(object, "is missing");
    if (at->second != sql) return refuse(object, "is not as Hone makes it");
  }
  for (const auto& [object, sql] : found) {
    if (!wanted.contains(object)) return refuse(object, "does not belong to Hone");
  }
  return Status();
}

}  // namespace hone::record

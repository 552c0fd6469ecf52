#include "record/schema.h"

#include <cstdint>
#include <cstring>
#include <map>

#include "base/file.h"
#include "base/text.h"
#include "record/migrations.h"
#include "record/store.h"

namespace hone::record {
namespace {

// Explains why SQLite rejects a file: its header holds the number of pages (bytes 28 to 31, big endian) and the page
// size (bytes 16 and 17). Ok if these match. Only for a file without a hot journal: an interrupted commit has a new
// header before its new pages, until SQLite rolls it back.
Status ExplainDamage(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const int64_t size, FileSize(path));
  HONE_ASSIGN_OR_RETURN(const std::string header, ReadStart(path, 100));
  const auto byte = [&](size_t i) { return static_cast<int64_t>(static_cast<unsigned char>(header[i])); };
  if (header.size() < 100 || std::memcmp(header.data(), "SQLite format 3", 16) != 0) {
    return Status::Corrupt("{}: not a record file (no SQLite header); move it away to start the task again", path);
  }
  int64_t page = byte(16) << 8 | byte(17);
  if (page == 1) page = 65536;
  const int64_t pages = byte(28) << 24 | byte(29) << 16 | byte(30) << 8 | byte(31);
  if (size >= page * pages) return Status();
  return Status::Corrupt(
      "{}: the record file is cut short ({} of {} bytes); restore a copy, or move it away to start the task again",
      path, size, page * pages);
}

// The first access: SQLite rolls back a killed writer's transaction and reads the header.
Status Recover(Database* db) {
  const Status status = db->QueryInt("PRAGMA schema_version").status();
  if (status.kind() == StatusKind::kCorrupt) HONE_RETURN_IF_ERROR(ExplainDamage(db->path()));
  return status;
}

Result<int64_t> CheckedVersion(Database* db) {
  HONE_ASSIGN_OR_RETURN(const int64_t version, db->QueryInt("PRAGMA user_version"));
  HONE_ASSIGN_OR_RETURN(const int64_t application, db->QueryInt("PRAGMA application_id"));
  HONE_ASSIGN_OR_RETURN(const int64_t objects, db->QueryInt("SELECT count(*) FROM sqlite_master"));
  if (application != kApplicationId && (application != 0 || objects != 0)) {
    return Status::Invalid("{}: a database of another program, not a record file of Hone", db->path());
  }
  if (version < 0) return Status::Corrupt("{}: no such record format: {}", db->path(), version);
  if (version > kSchemaVersion) {
    return Status::Unsupported("{}: record format {} is newer than this program's {}; use a newer Hone", db->path(),
                               version, kSchemaVersion);
  }
  return version;
}

using Objects = std::map<std::string, std::string>;  // "table trial" and its SQL

Result<Objects> ObjectsOf(Database* db) {
  Objects objects;
  HONE_RETURN_IF_ERROR(db->Each("SELECT type, name, tbl_name, sql FROM sqlite_master", [&](const Statement& row) {
    const std::string type = row.Text(0), name = row.Text(1);
    if (type == "table" && StartsWith(name, "sqlite_stat")) return;
    objects[type + " " + name] = row.Text(2) + " " + row.Text(3);
  }));
  return objects;
}

Status CheckSchemaOf(Database* db, int64_t version) {
  return CheckSchema(db, std::vector<std::string>(kMigrations, kMigrations + version));
}

}  // namespace

Status CheckSchema(Database* db, const std::vector<std::string>& scripts) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Database> model, Database::Open(":memory:", OpenMode::kCreate));
  for (const std::string& script : scripts) HONE_RETURN_IF_ERROR(model->Execute(script));
  HONE_ASSIGN_OR_RETURN(const Objects wanted, ObjectsOf(model.get()));
  HONE_ASSIGN_OR_RETURN(const Objects found, ObjectsOf(db));
  const auto refuse = [&](const std::string& object, const char* how) {
    return Status::Corrupt("{}: its {} {}; restore a copy of the file, or move it away", db->path(), object, how);
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

Result<int64_t> CheckReadable(Database* db) {
  HONE_RETURN_IF_ERROR(Recover(db));
  HONE_ASSIGN_OR_RETURN(const int64_t version, CheckedVersion(db));
  if (version == 0) return Status::Corrupt("{}: an empty record file; run its tuning job again", db->path());
  HONE_RETURN_IF_ERROR(CheckSchemaOf(db, version));
  return version;
}

Status Migrate(Database* db, const std::function<Status()>& begin) {
  HONE_RETURN_IF_ERROR(Recover(db));
  HONE_RETURN_IF_ERROR(
      db->Execute("PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON"));
  HONE_ASSIGN_OR_RETURN(const int64_t version, CheckedVersion(db));
  HONE_RETURN_IF_ERROR(CheckSchemaOf(db, version));
  if (version == kSchemaVersion) return Status();
  HONE_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db));
  for (int64_t next = version; next < kSchemaVersion; ++next) HONE_RETURN_IF_ERROR(db->Execute(kMigrations[next]));
  HONE_RETURN_IF_ERROR(
      db->Execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, kSchemaVersion)));
  if (version == 0) HONE_RETURN_IF_ERROR(begin());
  return transaction.Commit();
}

}  // namespace hone::record

#include "record/foreign_store.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>

#include "base/file.h"
#include "base/hash.h"
#include "record/schema.h"
#include "record/sqlite.h"

namespace hone::record {
namespace {

constexpr char kSchema[] = R"sql(
CREATE TABLE task (
  id       INTEGER PRIMARY KEY,
  format   TEXT NOT NULL,
  target   TEXT NOT NULL,
  name     TEXT NOT NULL,
  workload TEXT NOT NULL,
  UNIQUE (format, target, name, workload)
) STRICT;
CREATE TABLE record (
  number      INTEGER PRIMARY KEY,
  task        INTEGER NOT NULL REFERENCES task(id),
  space_index INTEGER NOT NULL,
  fit         TEXT NOT NULL CHECK (fit IN ('', 'yes', 'moved', 'no')),
  seconds     REAL,
  error       TEXT NOT NULL,
  text        TEXT NOT NULL,
  CHECK ((error = '') = (seconds IS NOT NULL)),
  CHECK (seconds > 0)
) STRICT;
)sql";

constexpr const char* kFitNames[] = {"", "yes", "moved", "no"};  // by Fit

Fit ParseFit(const std::string& text) {
  const auto found = std::find(std::begin(kFitNames), std::end(kFitNames), text);
  return found == std::end(kFitNames) ? Fit::kUnknown : static_cast<Fit>(found - std::begin(kFitNames));
}

// The file's version, 0 for an empty file.
Result<int64_t> CheckedForeignVersion(Database* db) {
  HONE_ASSIGN_OR_RETURN(const int64_t application, db->QueryInt("PRAGMA application_id"));
  HONE_ASSIGN_OR_RETURN(const int64_t version, db->QueryInt("PRAGMA user_version"));
  HONE_ASSIGN_OR_RETURN(const int64_t objects, db->QueryInt("SELECT count(*) FROM sqlite_master"));
  if (application != kForeignApplicationId && (application != 0 || objects != 0)) {
    return Status::Invalid("{}: no file of foreign records but {}; name another file", db->path(),
                           application == 0x484F4E45 ? "a record file of Hone's own" : "another database");
  }
  if (version < 0) return Status::Corrupt("{}: no such format of foreign records: {}", db->path(), version);
  if (version > kForeignVersion) {
    return Status::Unsupported("{}: format {} of foreign records is newer than this program's {}; use a newer Hone",
                               db->path(), version, kForeignVersion);
  }
  return version;
}

Digest DigestOf(const std::string& task, const std::string& workload, const std::string& text) {
  Hasher hasher;
  for (const std::string* field : {&task, &workload, &text}) hasher.AddField(*field);
  return hasher.Finish();
}

class SqliteForeignStore final : public ForeignStore {
 public:
  explicit SqliteForeignStore(std::unique_ptr<Database> db) : db_(std::move(db)) {}

  Status Begin() override {
    HONE_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db_.get()));
    HONE_RETURN_IF_ERROR(
        db_->Each("SELECT name, workload, text FROM record JOIN task ON task.id = record.task",
                  [&](const Statement& row) { ++counts_[DigestOf(row.Text(0), row.Text(1), row.Text(2))].stored; }));
    HONE_ASSIGN_OR_RETURN(Statement insert, db_->Prepare("INSERT INTO record(task, space_index, fit, seconds, error, "
                                                         "text) VALUES (?,?,?,?,?,?)"));
    insert_ = std::make_unique<Statement>(std::move(insert));
    transaction_ = std::make_unique<Transaction>(std::move(transaction));
    return Status();
  }

  Result<bool> Add(const ForeignRecord& record) override {
    Count& count = counts_[DigestOf(record.task, record.workload, record.text)];
    if (++count.seen <= count.stored) return false;
    HONE_ASSIGN_OR_RETURN(const int64_t task, TaskOf(record));
    insert_->Bind(task, record.index, FitName(record.fit), record.ok ? std::optional(record.seconds) : std::nullopt,
                  record.ok ? "" : record.error, record.text);
    HONE_RETURN_IF_ERROR(insert_->Run());
    return true;
  }

  Status Commit() override {
    insert_.reset();
    const Status status = transaction_->Commit();
    transaction_.reset();
    counts_.clear();
    tasks_.clear();
    return status;
  }

  Result<std::vector<ForeignTask>> Tasks() const override {
    std::vector<ForeignTask> tasks;
    // The bare columns beside min() are those of the row with the minimum.
    HONE_RETURN_IF_ERROR(db_->Each(
        "SELECT task.format, task.target, task.name, task.workload, count(seconds), count(*), min(seconds), "
        "space_index, number FROM record JOIN task ON task.id = record.task GROUP BY task.id ORDER BY task.id",
        [&](const Statement& s) {
          ForeignTask t{s.Text(0), s.Text(1), s.Text(2), s.Text(3), s.Int(4), s.Int(5) - s.Int(4), s.Real(6), -1, 0};
          if (t.ok > 0) t.best_index = s.Int(7), t.best_number = s.Int(8);
          tasks.push_back(std::move(t));
        }));
    return tasks;
  }

  Status ForEach(const std::string& format,
                 const std::function<bool(int64_t, const ForeignRecord&)>& visit) const override {
    HONE_ASSIGN_OR_RETURN(Statement s, db_->Prepare("SELECT number, format, target, name, workload, space_index, fit, "
                                                    "seconds, error, text FROM record JOIN task ON task.id = "
                                                    "record.task WHERE ?1 = '' OR format = ?1 ORDER BY number"));
    s.Bind(format);
    for (;;) {
      HONE_ASSIGN_OR_RETURN(const bool row, s.Step());
      if (!row) return Status();
      const ForeignRecord record{s.Text(1),           s.Text(2),    s.Text(3), s.Text(4), s.Int(5),
                                 ParseFit(s.Text(6)), !s.IsNull(7), s.Real(7), s.Text(8), s.Text(9)};
      if (!visit(s.Int(0), record)) return Status();
    }
  }

  Result<std::vector<std::string>> Verify() const override {
    std::vector<std::string> findings;
    for (const char* check : {"PRAGMA integrity_check", "PRAGMA foreign_key_check"}) {
      HONE_RETURN_IF_ERROR(db_->Each(check, [&](const Statement& row) {
        if (row.Text(0) != "ok") findings.push_back(row.Text(0));
      }));
    }
    return findings;
  }

 private:
  struct Count {
    int64_t stored = 0, seen = 0;
  };
  using TaskKey = std::tuple<std::string, std::string, std::string, std::string>;

  Result<int64_t> TaskOf(const ForeignRecord& r) {
    const auto [place, fresh] = tasks_.try_emplace({r.format, r.target, r.task, r.workload}, 0);
    if (!fresh) return place->second;
    HONE_RETURN_IF_ERROR(db_->Run("INSERT OR IGNORE INTO task(format, target, name, workload) VALUES (?,?,?,?)",
                                  r.format, r.target, r.task, r.workload));
    HONE_ASSIGN_OR_RETURN(
        place->second,
        db_->QueryInt("SELECT id FROM task WHERE format = ? AND target = ? AND name = ? AND workload = ?", r.format,
                      r.target, r.task, r.workload));
    return place->second;
  }

  // In this order: a transaction that was not committed is rolled back before the database closes.
  std::unique_ptr<Database> db_;
  std::unique_ptr<Transaction> transaction_;
  std::unique_ptr<Statement> insert_;
  std::unordered_map<Digest, Count> counts_;
  std::map<TaskKey, int64_t> tasks_;
};

}  // namespace

const char* FitName(Fit fit) { return kFitNames[static_cast<size_t>(fit)]; }

bool IsForeignFile(const std::string& path) {
  const Result<std::string> header = ReadStart(path, 100);
  if (!header.ok() || header->size() < 100 || std::memcmp(header->data(), "SQLite format 3", 16) != 0) return false;
  int64_t application = 0;  // bytes 68 to 71 of SQLite's header, big endian
  for (size_t i = 68; i < 72; ++i) application = application << 8 | static_cast<unsigned char>((*header)[i]);
  return application == kForeignApplicationId;
}

Result<std::unique_ptr<ForeignStore>> ForeignStore::OpenForWriting(const std::string& path) {
  if (IsDirectory(path)) return Status::Invalid(path + ": this is a folder; name a file for the foreign records");
  HONE_RETURN_IF_ERROR(MakeDirs(DirName(path)));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Database> db, Database::Open(path, OpenMode::kCreate));
  HONE_RETURN_IF_ERROR(db->QueryInt("PRAGMA schema_version").status());
  HONE_ASSIGN_OR_RETURN(const int64_t version, CheckedForeignVersion(db.get()));
  HONE_RETURN_IF_ERROR(
      db->Execute("PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON"));
  if (version != 0) HONE_RETURN_IF_ERROR(CheckSchema(db.get(), {kSchema}));
  if (version == 0) {
    HONE_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db.get()));
    HONE_RETURN_IF_ERROR(db->Execute(kSchema));
    HONE_RETURN_IF_ERROR(db->Execute(
        fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kForeignApplicationId, kForeignVersion)));
    HONE_RETURN_IF_ERROR(transaction.Commit());
  }
  return std::unique_ptr<ForeignStore>(new SqliteForeignStore(std::move(db)));
}

Status ForeignImport::Add(const ForeignRecord& record) {
  if (!store_) {
    HONE_ASSIGN_OR_RETURN(store_, ForeignStore::OpenForWriting(db_));
    HONE_RETURN_IF_ERROR(store_->Begin());
  }
  HONE_ASSIGN_OR_RETURN(const bool added, store_->Add(record));
  if (!added) {
    ++counts.known;
    return Status();
  }
  ++counts.added;
  ++(record.ok ? counts.ok : counts.failed);
  ++(record.fit == Fit::kYes     ? counts.fits
     : record.fit == Fit::kMoved ? counts.moved
     : record.fit == Fit::kNo    ? counts.outside
                                 : counts.no_space);
  return Status();
}

Result<std::unique_ptr<ForeignStore>> ForeignStore::OpenForReading(const std::string& path) {
  if (!Exists(path)) return Status::NotFound(path + ": no such file of foreign records");
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Database> db, Database::Open(path, OpenMode::kRead));
  HONE_ASSIGN_OR_RETURN(const int64_t version, CheckedForeignVersion(db.get()));
  if (version == 0) return Status::Corrupt(path + ": an empty file of foreign records; import into it again");
  HONE_RETURN_IF_ERROR(CheckSchema(db.get(), {kSchema}));
  return std::unique_ptr<ForeignStore>(new SqliteForeignStore(std::move(db)));
}

}  // namespace hone::record

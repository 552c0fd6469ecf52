#include "record/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <new>
#include <utility>

#include "base/check.h"
#include "base/file.h"
#include "base/os_error.h"

namespace hone::record {
namespace {

// SQLite opens databases and journals with this. Opening a pipe would wait, and a journal may appear at any time, so
// looking at the files before is not enough. SQLite opens folders to sync them.
int OpenRegularOrFolder(const char* path, int flags, int mode) {
  const int fd = ::open(path, flags | O_NONBLOCK | O_NOCTTY, mode);
  struct stat info;
  if (fd < 0 || (::fstat(fd, &info) == 0 && (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)))) return fd;
  if (std::string_view(path) == "/dev/urandom") return fd;
  ::close(fd);
  errno = ENXIO;
  return -1;
}

// EFBIG or EDQUOT of this thread's last write that failed so: SQLite keeps neither.
thread_local int limit_reached = 0;

template <auto kCall, typename... Rest>
ssize_t Write(int fd, const void* bytes, size_t count, Rest... offset) {
  const ssize_t written = kCall(fd, bytes, count, offset...);
  if (written < 0 && (errno == EFBIG || errno == EDQUOT)) limit_reached = errno;
  return written;
}

bool GuardFiles() {
  sqlite3_vfs* system = sqlite3_vfs_find(nullptr);
  const auto replace = [&](const char* call, auto* by) {
    // A build of SQLite uses one of the calls that write, and may lack the others.
    return system->xGetSystemCall(system, call) == nullptr ||
           system->xSetSystemCall(system, call, reinterpret_cast<sqlite3_syscall_ptr>(by)) == SQLITE_OK;
  };
  return replace("open", &OpenRegularOrFolder) && replace("write", &Write<::write>) &&
         replace("pwrite", &Write<::pwrite, off_t>) && replace("pwrite64", &Write<::pwrite, off_t>);
}

}  // namespace

Status Database::Error(int code) const {
  const std::string what = sqlite3_errmsg(db_);
  switch (code & 0xff) {
    case SQLITE_NOMEM:
      no_memory_ = true;
      return Status::Io("{}: not enough memory", path_);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Status::Corrupt(
          "{}: the record file is damaged ({}); restore a copy, save what is left with `hone-records salvage`, or move "
          "it away to start the task again",
          path_, what);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Status::Locked("{}: another process is writing to this record file ({}); wait for it or stop it", path_,
                            what);
    case SQLITE_FULL:
      return Status::Io("{}: no space left on the disk; free some and run the same command again", path_);
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return Status::Io("{}: cannot be written ({}); check the permissions of the file and its folder", path_, what);
    case SQLITE_CANTOPEN:
      for (const char* ending : {"-journal", "-wal", "-shm"}) {
        HONE_RETURN_IF_ERROR(CheckRegular(path_ + ending, /*follow=*/false));
      }
      return Status::Io("{}: cannot be opened ({})", path_, what);
    default:
      if (const int error = std::exchange(limit_reached, 0); error != 0 && (code & 0xff) == SQLITE_IOERR) {
        return ErrnoStatus(error, path_ + ": cannot be written");
      }
      return Status::Io("{}: {}", path_, what);
  }
}

Result<std::unique_ptr<Database>> Database::Open(const std::string& path, OpenMode mode) {
  HONE_RETURN_IF_ERROR(CheckRegular(path));
  const Status no_memory = Status::Io("{}: not enough memory to open it", path);
  if (sqlite3_initialize() != SQLITE_OK) return no_memory;
  static const bool guarded = GuardFiles();
  HONE_CHECK(guarded);
  // SQLite opens a file that is not writable for reading.
  const int flags = SQLITE_OPEN_READWRITE | (mode == OpenMode::kCreate ? SQLITE_OPEN_CREATE : 0);
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  if (raw == nullptr) return no_memory;
  std::unique_ptr<Database> db(new Database(path, raw));
  if (code != SQLITE_OK) return db->Error(code);
  // The file may be untrusted: its schema gets no rights beyond reading the file, and its pages are checked before use.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, mode != OpenMode::kSalvage, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  if (mode != OpenMode::kSalvage) HONE_RETURN_IF_ERROR(db->Execute("PRAGMA cell_size_check = ON"));
  if (mode == OpenMode::kRead) HONE_RETURN_IF_ERROR(db->Execute("PRAGMA query_only = ON"));
  // Only this switch makes SQLite read a truncated file. Nothing is written then.
  if (mode == OpenMode::kSalvage) {
    sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);  // its tables' names may stand for anything
    HONE_RETURN_IF_ERROR(db->Execute("PRAGMA writable_schema = ON"));
  }
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, 2000);
  return db;
}

Database::~Database() { sqlite3_close(db_); }

Status Database::Execute(const std::string& sql) {
  const int code = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Status() : Error(code);
}

Result<Statement> Database::Prepare(const std::string& sql) {
  sqlite3_stmt* stmt = nullptr;
  const int code = sqlite3_prepare_v2(db_, sql.c_str(), static_cast<int>(sql.size()), &stmt, nullptr);
  if (code != SQLITE_OK) return Error(code);
  return Statement(this, stmt);
}

int64_t Database::LastRowId() const { return sqlite3_last_insert_rowid(db_); }

Statement::~Statement() { sqlite3_finalize(stmt_); }

void Statement::BindInt(int64_t value) { HONE_CHECK(sqlite3_bind_int64(stmt_, next_++, value) == SQLITE_OK); }
void Statement::BindOther(double value) { HONE_CHECK(sqlite3_bind_double(stmt_, next_++, value) == SQLITE_OK); }
void Statement::BindOther(std::string_view value) {
  const char* text = value.data();
  const auto size = static_cast<int>(value.size());
  const int code = sqlite3_bind_text(stmt_, next_++, text, size, SQLITE_TRANSIENT);
  if (code == SQLITE_NOMEM) throw std::bad_alloc();
  HONE_CHECK(code == SQLITE_OK);
}
void Statement::BindNull() { HONE_CHECK(sqlite3_bind_null(stmt_, next_++) == SQLITE_OK); }

Result<bool> Statement::Step() {
  if (db_->no_memory_) return db_->Error(SQLITE_NOMEM);  // the text of an earlier row may be missing
  const int code = sqlite3_step(stmt_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return db_->Error(code);
}

Status Statement::Run() {
  HONE_RETURN_IF_ERROR(Each([](const Statement&) {}));
  sqlite3_reset(stmt_);
  next_ = 1;
  return Status();
}

int64_t Statement::Int(int column) const { return sqlite3_column_int64(stmt_, column); }
double Statement::Real(int column) const { return sqlite3_column_double(stmt_, column); }
bool Statement::IsNull(int column) const { return sqlite3_column_type(stmt_, column) == SQLITE_NULL; }

std::string Statement::Text(int column) const {
  const unsigned char* text = sqlite3_column_text(stmt_, column);
  if (text == nullptr && sqlite3_errcode(sqlite3_db_handle(stmt_)) == SQLITE_NOMEM) db_->no_memory_ = true;
  return text ? std::string(reinterpret_cast<const char*>(text), sqlite3_column_bytes(stmt_, column)) : std::string();
}

Result<Transaction> Transaction::Begin(Database* db) {
  if (db->in_doubt_) {
    return Status::Io("{}: an earlier commit failed, and may be stored all the same; run the same command again",
                      db->path());
  }
  HONE_RETURN_IF_ERROR(db->Execute("BEGIN IMMEDIATE"));
  return Transaction(db);
}

Transaction::~Transaction() {
  if (db_) (void)db_->Execute("ROLLBACK");
}

Status Transaction::Commit() {
  const Status status = db_->Execute("COMMIT");
  // The last step, a sync, may fail when all is on the disk: who writes the same again may have it twice. A file that
  // is busy, or a full disk, is known to have nothing of it.
  db_->in_doubt_ = !status.ok() && (sqlite3_errcode(db_->db_) & 0xff) == SQLITE_IOERR;
  if (status.ok()) db_ = nullptr;
  return status;
}

}  // namespace hone::record

// A thin wrapper of SQLite: three classes, statuses instead of codes. sqlite3.h stays in the .cc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace hone::record {

// kRead: statements cannot write, but opening rolls back the transaction of a killed writer if the file is writable.
// kSalvage: as kWrite, but whole pages can be read although the file is shorter than its header says.
enum class OpenMode { kRead, kWrite, kCreate, kSalvage };

class Database;

// A prepared statement. Bind in order, then Step until there are no more rows.
class Statement {
 public:
  Statement(Statement&& other) noexcept : db_(other.db_), stmt_(other.stmt_) { other.stmt_ = nullptr; }
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // The values of the next parameters: integers, doubles, texts; an optional without a value is null.
  template <typename... Values>
  Statement& Bind(const Values&... values) {
    (BindOne(values), ...);
    return *this;
  }

  Result<bool> Step();  // true: a row is available; false: done
  Status Run();         // steps to the end and resets, for reuse with new bindings
  // Calls visit(*this) for each remaining row. If it returns a Status, the first failure stops.
  template <typename Visit>
  Status Each(const Visit& visit) {
    for (;;) {
      HONE_ASSIGN_OR_RETURN(const bool row, Step());
      if (!row) return Status();
      if constexpr (std::is_void_v<decltype(visit(*this))>) {
        visit(*this);
      } else {
        HONE_RETURN_IF_ERROR(visit(*this));
      }
    }
  }

  int64_t Int(int column) const;
  double Real(int column) const;  // 0 for null
  std::string Text(int column) const;
  bool IsNull(int column) const;
  // The first columns.
  template <typename... Values>
  void Read(Values*... values) const {
    int column = 0;
    (ReadOne(column++, values), ...);
  }

 private:
  friend class Database;
  Statement(Database* db, sqlite3_stmt* stmt) : db_(db), stmt_(stmt) {}
  template <typename T>
  void BindOne(const T& value) {
    if constexpr (std::is_integral_v<T>) {
      BindInt(static_cast<int64_t>(value));
    } else {
      BindOther(value);
    }
  }
  template <typename T>
  void BindOne(const std::optional<T>& value) {
    value ? BindOne(*value) : BindNull();
  }
  void BindInt(int64_t value);
  void BindOther(double value);
  void BindOther(std::string_view value);
  void BindNull();
  void ReadOne(int column, int64_t* value) const { *value = Int(column); }
  void ReadOne(int column, double* value) const { *value = Real(column); }
  void ReadOne(int column, std::string* value) const { *value = Text(column); }

  Database* db_;
  sqlite3_stmt* stmt_;
  int next_ = 1;  // the parameter for the next Bind
};

class Database {
 public:
  // Errors name the file and what to do: kNotFound, kCorrupt, kLocked, kIo.
  static Result<std::unique_ptr<Database>> Open(const std::string& path, OpenMode mode);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  Status Execute(const std::string& sql);  // one or several statements without result rows
  Result<Statement> Prepare(const std::string& sql);
  // A statement without rows.
  template <typename... Values>
  Status Run(const std::string& sql, const Values&... values) {
    HONE_ASSIGN_OR_RETURN(Statement s, Prepare(sql));
    return s.Bind(values...).Run();
  }
  // The first column of the first row; 0 without a row.
  template <typename... Values>
  Result<int64_t> QueryInt(const std::string& sql, const Values&... values) {
    HONE_ASSIGN_OR_RETURN(Statement s, Prepare(sql));
    HONE_ASSIGN_OR_RETURN(const bool row, s.Bind(values...).Step());
    return row ? s.Int(0) : 0;
  }
  // Statement::Each for a query without parameters.
  template <typename Visit>
  Status Each(const std::string& sql, const Visit& visit) {
    HONE_ASSIGN_OR_RETURN(Statement s, Prepare(sql));
    return s.Each(visit);
  }
  int64_t LastRowId() const;
  const std::string& path() const { return path_; }
  Status Error(int code) const;  // for the last call
  // Whether a call failed for lack of memory. Whoever takes what cannot be read for damaged must ask.
  bool no_memory() const { return no_memory_; }

 private:
  Database(std::string path, sqlite3* db) : path_(std::move(path)), db_(db) {}
  friend class Statement;
  friend class Transaction;
  const std::string path_;
  sqlite3* db_;
  mutable bool no_memory_ = false;
  bool in_doubt_ = false;  // a commit failed, and may be stored all the same
};

// BEGIN IMMEDIATE; its destructor rolls back unless Commit was called.
class Transaction {
 public:
  // Fails after a commit whose result is unknown.
  static Result<Transaction> Begin(Database* db);
  Transaction(Transaction&& other) noexcept : db_(other.db_) { other.db_ = nullptr; }
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status Commit();

 private:
  explicit Transaction(Database* db) : db_(db) {}
  Database* db_;
};

}  // namespace hone::record

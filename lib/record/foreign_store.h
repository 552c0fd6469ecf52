// Records of other tuners, kept unchanged in a kind of SQLite file of their own. They are never mixed with Hone's
// records, because their times come from unknown machines and measuring rules. Each record's text is kept byte by byte,
// so that it can be exported again; the import also extracts fields for listing and comparing.
//
// application_id "HONF", user_version 1, tables `task` and `record` (db/README.md). One writer, rollback journal, one
// transaction per import: a kill leaves the file as it was.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace hone::record {

inline constexpr int64_t kForeignApplicationId = 0x484F4E46;
inline constexpr int kForeignVersion = 1;

// Whether a record's entity is at its index in the space of the same name here (search/autotvm).
enum class Fit {
  kUnknown,  // "": Hone lacks the space
  kYes,      // "yes"
  kMoved,    // "moved": at another index of the space
  kNo,       // "no": not a point of the space
};
const char* FitName(Fit fit);

struct ForeignRecord {
  std::string format;          // "autotvm", "t4"
  std::string target;          // as in the file; empty if the format has none
  std::string task, workload;  // the template's name and its arguments, as compact JSON
  int64_t index = -1;          // in the file's own space; -1 if missing
  Fit fit = Fit::kUnknown;
  bool ok = false;
  double seconds = 0;  // for an ok record: the mean of its times, finite and above 0
  std::string error;   // for a failed record: one word for what failed
  std::string text;    // the record itself
};

struct ForeignTask {
  std::string format, target, task, workload;
  int64_t ok = 0, failed = 0;
  double best_seconds = 0;  // 0 if no record is ok
  int64_t best_index = -1, best_number = 0;
};

// Whether it is a file of foreign records. False for anything else and for unreadable files.
bool IsForeignFile(const std::string& path);

// The counts of one import.
struct ImportCounts {
  int64_t lines = 0, comments = 0;                         // blank lines count as comments
  int64_t added = 0, known = 0;                            // known: already in the file
  int64_t ok = 0, failed = 0;                              // among the added ones
  int64_t skipped = 0;                                     // lines that are not records, except a torn one
  bool torn = false;                                       // the last line is incomplete and not a record
  int64_t fits = 0, moved = 0, outside = 0, no_space = 0;  // added ones by Fit
};

class ForeignStore {
 public:
  // Creates the file and its folder if needed. Returns kInvalid for a database of another kind, kUnsupported for a
  // newer version.
  static Result<std::unique_ptr<ForeignStore>> OpenForWriting(const std::string& path);
  static Result<std::unique_ptr<ForeignStore>> OpenForReading(const std::string& path);
  virtual ~ForeignStore() = default;

  // One import: Begin, Add for each record, Commit. Without Commit nothing is kept.
  virtual Status Begin() = 0;
  // Returns false if the record is known: of a text that occurs n times for its task in this import and m times in the
  // file, the n-th is added only if n > m. So importing the same file twice, or again after it has grown, is harmless.
  virtual Result<bool> Add(const ForeignRecord& record) = 0;
  virtual Status Commit() = 0;

  virtual Result<std::vector<ForeignTask>> Tasks() const = 0;  // ordered by their first record
  // In the order of import; record numbers count from 1. `visit` returns false to stop. An empty `format` means all.
  virtual Status ForEach(const std::string& format,
                         const std::function<bool(int64_t number, const ForeignRecord&)>& visit) const = 0;
  virtual Result<std::vector<std::string>> Verify() const = 0;  // one line per problem; empty if there is none
};

// One import into the file `db`, which is opened for the first record.
class ForeignImport {
 public:
  explicit ForeignImport(std::string db) : db_(std::move(db)) {}

  Status Add(const ForeignRecord& record);  // and counts it
  bool empty() const { return store_ == nullptr; }
  Status Commit() { return store_->Commit(); }  // REQUIRES: !empty()

  ImportCounts counts;

 private:
  std::string db_;
  std::unique_ptr<ForeignStore> store_;
};

}  // namespace hone::record

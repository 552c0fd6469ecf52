// Records of other tuners, kept as they came: a SQLite file of its own kind, beside Hone's record files and never mixed
// with them, as their times come from machines and measuring rules that Hone knows nothing of. Each record's text is
// kept byte by byte, so that it can be exported again; fields for listing and comparing are read from it once, at
// import.
//
// application_id "HONF", user_version 1, tables `task` and `record` (db/README.md). One writer, rollback journal, one
// transaction for each import: a kill leaves the file as it was.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone::record {

inline constexpr int64_t kForeignApplicationId = 0x484F4E46;
inline constexpr int kForeignVersion = 1;

// Whether a record's entity stands at its index in the space of the same name here (search/autotvm).
enum class Fit {
  kUnknown,  // "": Hone has no such space
  kYes,      // "yes"
  kMoved,    // "moved": a point of the space, at another index
  kNo,       // "no": no point of the space
};
const char* FitName(Fit fit);

struct ForeignRecord {
  std::string format;          // "autotvm", "t4"
  std::string target;          // as written there; empty if the format has none
  std::string task, workload;  // the template's name and its arguments, as compact JSON
  int64_t index = -1;          // of the space there; -1: none given
  Fit fit = Fit::kUnknown;
  bool ok = false;
  double seconds = 0;  // of an ok one: the mean of its times, finite and above 0
  std::string error;   // of a failed one: what failed, one word
  std::string text;    // the record itself
};

struct ForeignTask {
  std::string format, target, task, workload;
  int64_t ok = 0, failed = 0;
  double best_seconds = 0;  // 0: none is ok
  int64_t best_index = -1, best_number = 0;
};

// Is it a file of foreign records? False for anything else and for what cannot be read.
bool IsForeignFile(const std::string& path);

// The counts of one import.
struct ImportCounts {
  int64_t lines = 0, comments = 0;                         // blank lines count as comments
  int64_t added = 0, known = 0;                            // known: in the file already
  int64_t ok = 0, failed = 0;                              // of the added ones
  int64_t skipped = 0;                                     // lines that are no records, the torn one not among them
  bool torn = false;                                       // the last line has no end and is no record
  int64_t fits = 0, moved = 0, outside = 0, no_space = 0;  // of the added ones, by Fit
};

class ForeignStore {
 public:
  // Creates the file and its folder. kInvalid for a database of another kind, kUnsupported for a newer version.
  static Result<std::unique_ptr<ForeignStore>> OpenForWriting(const std::string& path);
  static Result<std::unique_ptr<ForeignStore>> OpenForReading(const std::string& path);
  virtual ~ForeignStore() = default;

  // One import: Begin, Add each record, Commit. Without Commit nothing of it stays.
  virtual Status Begin() = 0;
  // False if it is there already: of a text that occurs n times for its task in this import and m times in the file,
  // the n-th is added if n > m. Importing the same file twice, or again once it has grown, is therefore harmless.
  virtual Result<bool> Add(const ForeignRecord& record) = 0;
  virtual Status Commit() = 0;

  virtual Result<std::vector<ForeignTask>> Tasks() const = 0;  // by first record
  // In the order of import, record numbers from 1. `visit` returns false to stop. `format` empty: all.
  virtual Status ForEach(const std::string& format,
                         const std::function<bool(int64_t number, const ForeignRecord&)>& visit) const = 0;
  virtual Result<std::vector<std::string>> Verify() const = 0;  // one line a finding; empty if fine
};

}  // namespace hone::record

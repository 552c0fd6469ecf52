// Checked reading of a TOML file: the counterpart of base/json.h's JsonReader for hand-written files, so every message
// has the line: "pipelines/resnet18.toml:7: unknown key `trails` in [tune]; did you mean `trials`?"
//
// Read every key that the format knows, then call Finish(), which rejects keys that nobody asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace hone::pipeline {

class TomlTable {
 public:
  // Parses the whole file. Returns kInvalid with "PATH:LINE: what" for a syntax error, a date, or a number that is not
  // finite.
  static Result<TomlTable> Parse(std::string_view text, const std::string& path);

  // Sets *out to the value of `key`; if the key is missing, returns ok and leaves *out unchanged. Returns kInvalid for
  // another type. A double accepts an integer.
  Status Read(const std::string& key, std::string* out);
  Status Read(const std::string& key, int64_t* out);
  Status Read(const std::string& key, double* out);
  Status Read(const std::string& key, bool* out);
  Status Read(const std::string& key, std::vector<std::string>* out);
  Status Read(const std::string& key, std::vector<int64_t>* out);

  enum class Type { kMissing, kText, kList, kTable, kOther };
  Type TypeOf(const std::string& key) const;  // call it before Read for a key with several possible types
  std::vector<std::string> Keys() const;      // all, sorted: for a table whose keys are names

  bool Has(const std::string& key) const;
  // The table [key]; an empty one if it is missing. It shares the file with this object and may outlive it.
  Result<TomlTable> Table(const std::string& key);

  // Returns kInvalid, suggesting the closest known key, if the table has a key that was never read.
  Status Finish() const;

  // A kInvalid error at the line of `key`, or of the table if the key is missing.
  Status Error(const std::string& key, const std::string& what) const;

 private:
  struct Document;
  TomlTable(std::shared_ptr<const Document> document, std::string pointer)
      : document_(std::move(document)), pointer_(std::move(pointer)) {}
  const Json* Find(const std::string& key) const;  // null if it is missing
  template <typename T>
  Status ReadAs(const std::string& key, bool (*fits)(const Json&), const char* type, T* out);

  // Shared, because tables are views of the file that are copied.
  std::shared_ptr<const Document> document_;
  std::string pointer_;  // "" or "/tune"
  std::vector<std::string> known_;
};

}  // namespace hone::pipeline

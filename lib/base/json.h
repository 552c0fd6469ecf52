// Reading and writing JSON. Heavy: include in .cc files only; headers take base/json_fwd.h.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace hone {

// Returns kInvalid with "FILE:LINE:COLUMN: what" if `text` is not exactly one JSON value, and with "FILE: what" if
// values are nested more than 100 deep. Columns count bytes from 1.
Result<Json> ParseJson(std::string_view text, const std::string& file_name);

Result<Json> ReadJsonFile(const std::string& path);

// Indents by `indent` spaces (-1: all on one line) and ends with a newline. Bytes that are not UTF-8 become U+FFFD.
std::string DumpJson(const Json& value, int indent = 2);
// The same in ASCII, which is harmless to a terminal.
std::string DumpAsciiJson(const Json& value, int indent = 2);

// Checked access to one object or list of a document. Its messages name the file and the place:
//   tasks.json: /tasks/3/weight: expected an integer, found a string
// Read every key that the format knows (ReadOptional for optional ones), then call Finish(), which rejects keys that
// were never asked for. The document must outlive its readers.
class JsonReader {
 public:
  JsonReader() = default;  // reads nothing; assign it with Read(key, JsonReader*)
  JsonReader(const Json& value, std::string file_name, std::string pointer = "");

  // Sets *out to the value of `key`. Returns kInvalid, and leaves *out unchanged, if this is not an object, the key is
  // missing, or the value has another type or does not fit *out. A double also accepts an integer; an integer does not
  // accept 1.0.
  Status Read(const std::string& key, int64_t* out);
  Status Read(const std::string& key, int* out);
  Status Read(const std::string& key, double* out);
  Status Read(const std::string& key, bool* out);
  Status Read(const std::string& key, std::string* out);
  Status Read(const std::string& key, std::vector<int64_t>* out);
  Status Read(const std::string& key, std::vector<double>* out);
  Status Read(const std::string& key, std::vector<std::string>* out);
  Status Read(const std::string& key, JsonReader* out);               // an object
  template <typename T>  // lists of numbers; null, which stands for a non-finite number, becomes NaN
  Status Read(const std::string& key, std::vector<std::vector<T>>* out) {
    std::vector<JsonReader> lists;
    HONE_RETURN_IF_ERROR(Read(key, &lists));
    out->clear();
    for (const JsonReader& list : lists) {
      if (!list.value().is_array()) return list.Error("", "expected a list of numbers");
      std::vector<T>& numbers = out->emplace_back();
      for (const Json& number : list.value()) {
        if (!number.is_number() && !number.is_null()) return list.Error("", "expected numbers");
        numbers.push_back(number.is_null() ? std::numeric_limits<T>::quiet_NaN() : number.get<T>());
      }
    }
    return Status();
  }
  Status Read(const std::string& key, std::vector<JsonReader>* out);  // a list of any values, one reader an item

  // Reads the key "version". This program knows versions 1 to `newest` of the format: returns kUnsupported for a newer
  // version, kInvalid if the version is missing or malformed.
  Status ReadVersion(int64_t newest);

  // As Read, but returns ok and leaves *out unchanged if the key is missing or null.
  template <typename T>
  Status ReadOptional(const std::string& key, T* out) {
    if (!Has(key)) return Status();
    return Read(key, out);
  }

  bool Has(const std::string& key);  // present and not null; the key then counts as known

  // Returns kInvalid, suggesting the closest known key, if the object has a key that was never asked for.
  Status Finish() const;

  // A kInvalid error at this place, for the caller's own checks; an empty `key` means the object itself.
  Status Error(const std::string& key, const std::string& what) const;

  const Json& value() const { return *value_; }  // REQUIRES: not default-constructed
  const std::string& file() const { return file_; }
  std::string Where(const std::string& key = "") const;  // the JSON pointer of a key, "/" for the whole document

 private:
  Result<const Json*> Find(const std::string& key);
  Status Expected(const std::string& key, const char* type, const Json& found) const;
  template <typename T, typename Get>
  Status ReadList(const std::string& key, const char* what, std::vector<T>* out, Get get);

  const Json* value_ = nullptr;  // not owned
  std::string file_;
  std::string pointer_;
  std::set<std::string> known_;
};

}  // namespace hone

#include "base/json.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "base/check.h"
#include "base/file.h"
#include "base/text.h"

namespace hone {
namespace {

const char* TypeName(const Json& value) {
  // In the order of Json::value_t, which has two integer types.
  static constexpr const char* kNames[] = {"null",      "an object",  "a list",     "a string",
                                           "a boolean", "an integer", "an integer", "a number"};
  const size_t type = static_cast<size_t>(value.type());
  return type < std::size(kNames) ? kNames[type] : "something else";
}

// The parser's own text is "[json.exception.parse_error.101] parse error at line 1, column 5: WHAT".
std::string ReasonOf(std::string_view what) {
  if (size_t colon = what.find(": "); colon != std::string_view::npos) what.remove_prefix(colon + 2);
  return std::string(what);
}

bool GetInt(const Json& value, int64_t* out) {
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) return false;
  *out = value.get<int64_t>();
  return true;
}

bool GetDouble(const Json& value, double* out) {
  if (!value.is_number()) return false;
  *out = value.get<double>();
  return true;
}

bool GetString(const Json& value, std::string* out) {
  if (!value.is_string()) return false;
  *out = value.get<std::string>();
  return true;
}

// RFC 6901: '~' and '/' inside a key.
std::string Escape(const std::string& key) {
  std::string escaped;
  for (char c : key) escaped += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return escaped;
}

// Copying, comparing and writing a value recurse. The limit is far above any file of Hone, and far below what a stack
// allows.
constexpr size_t kMaxDepth = 100;
struct TooDeep {};  // thrown through the parser, which does not recurse, and caught by its caller

// Finds duplicate keys: the parser itself keeps the last one silently. Called at every step; sets `doubled` to the
// place of the first duplicate.
Json::parser_callback_t DoubledKeyFinder(std::optional<std::string>* doubled) {
  struct Level {  // an open object or list
    bool is_object = false;
    std::set<std::string> keys;
    std::string key;     // the last one
    int64_t values = 0;  // values completed in it
  };
  auto open = std::make_shared<std::vector<Level>>();
  return [open, doubled](int /*depth*/, Json::parse_event_t event, Json& parsed) {
    switch (event) {
      case Json::parse_event_t::object_start:
      case Json::parse_event_t::array_start:
        if (open->size() >= kMaxDepth) throw TooDeep();
        open->emplace_back().is_object = event == Json::parse_event_t::object_start;
        return true;
      case Json::parse_event_t::key:
        open->back().key = parsed.get<std::string>();
        if (open->back().keys.insert(open->back().key).second || *doubled) return true;
        *doubled = "";
        for (const Level& level : *open) {
          **doubled += "/" + (level.is_object ? Escape(level.key) : std::to_string(level.values));
        }
        return true;
      case Json::parse_event_t::object_end:
      case Json::parse_event_t::array_end:
        open->pop_back();
        break;
      case Json::parse_event_t::value:
        break;
    }
    if (!open->empty()) ++open->back().values;
    return true;
  };
}

}  // namespace

Result<Json> ParseJson(std::string_view text, const std::string& file_name) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return Status::Invalid(file_name + ":1:1: empty, where a JSON value is expected");
  }
  try {
    std::optional<std::string> doubled;
    Json json = Json::parse(text.begin(), text.end(), DoubledKeyFinder(&doubled));
    if (doubled) return Status::Invalid(file_name + ": " + *doubled + ": this key is there twice; keep one");
    return json;
  } catch (const Json::parse_error& error) {
    // `byte` counts from 1 and may point behind the end.
    size_t at = std::min(error.byte > 0 ? error.byte - 1 : 0, text.size());
    std::string_view before = text.substr(0, at);
    auto line = 1 + std::count(before.begin(), before.end(), '\n');
    size_t newline = before.rfind('\n');
    size_t column = newline == std::string_view::npos ? at + 1 : at - newline;
    return Status::Invalid("{}:{}:{}: {}", file_name, line, column, ReasonOf(error.what()));
  } catch (const TooDeep&) {
    return Status::Invalid("{}: lists and objects are nested more than {} deep", file_name, kMaxDepth);
  } catch (const Json::exception& error) {  // a number out of range
    return Status::Invalid(file_name + ": " + ReasonOf(error.what()));
  }
}

Result<Json> ReadJsonFile(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  return ParseJson(text, path);
}

std::string DumpJson(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string DumpAsciiJson(const Json& value, int indent) {
  return value.dump(indent, ' ', true, Json::error_handler_t::replace) + "\n";
}

JsonReader::JsonReader(const Json& value, std::string file_name, std::string pointer)
    : value_(&value), file_(std::move(file_name)), pointer_(std::move(pointer)) {}

std::string JsonReader::Where(const std::string& key) const {
  if (!key.empty()) return pointer_ + "/" + Escape(key);
  return pointer_.empty() ? "/" : pointer_;
}

Status JsonReader::Error(const std::string& key, const std::string& what) const {
  return Status::Invalid(file_ + ": " + Where(key) + ": " + what);
}

Status JsonReader::Expected(const std::string& key, const char* type, const Json& found) const {
  return Error(key, fmt::format("expected {}, found {}", type, TypeName(found)));
}

bool JsonReader::Has(const std::string& key) {
  known_.insert(key);
  if (value_ == nullptr || !value_->is_object()) return false;
  auto it = value_->find(key);
  return it != value_->end() && !it->is_null();
}

Result<const Json*> JsonReader::Find(const std::string& key) {
  HONE_CHECK(value_ != nullptr);
  known_.insert(key);
  if (!value_->is_object()) return Expected("", "an object", *value_);
  auto it = value_->find(key);
  if (it != value_->end()) return &*it;
  return Error(key, "missing");
}

Status JsonReader::Read(const std::string& key, int64_t* out) {
  HONE_ASSIGN_OR_RETURN(const Json* found, Find(key));
  return GetInt(*found, out) ? Status() : Expected(key, "an integer", *found);
}

Status JsonReader::Read(const std::string& key, int* out) {
  int64_t wide = 0;
  HONE_RETURN_IF_ERROR(Read(key, &wide));
  if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
    return Error(key, fmt::format("{} is out of range", wide));
  }
  *out = static_cast<int>(wide);
  return Status();
}

Status JsonReader::Read(const std::string& key, double* out) {
  HONE_ASSIGN_OR_RETURN(const Json* found, Find(key));
  return GetDouble(*found, out) ? Status() : Expected(key, "a number", *found);
}

Status JsonReader::Read(const std::string& key, bool* out) {
  HONE_ASSIGN_OR_RETURN(const Json* found, Find(key));
  if (!found->is_boolean()) return Expected(key, "true or false", *found);
  *out = found->get<bool>();
  return Status();
}

Status JsonReader::Read(const std::string& key, std::string* out) {
  HONE_ASSIGN_OR_RETURN(const Json* found, Find(key));
  return GetString(*found, out) ? Status() : Expected(key, "a string", *found);
}

Status JsonReader::Read(const std::string& key, JsonReader* out) {
  HONE_ASSIGN_OR_RETURN(const Json* found, Find(key));
  if (!found->is_object()) return Expected(key, "an object", *found);
  *out = JsonReader(*found, file_, Where(key));
  return Status();
}

Status JsonReader::ReadVersion(int64_t newest) {
  int64_t version = 0;
  HONE_RETURN_IF_ERROR(Read("version", &version));
  if (version > newest) {
    return Status::Unsupported("{}: {}: version {} is newer than this Hone reads ({}); use a newer Hone", file_,
                               Where("version"), version, newest);
  }
  return version < 1 ? Error("version", fmt::format("no such version: {}", version)) : Status();
}

template <typename T, typename Get>
Status JsonReader::ReadList(const std::string& key, const char* what, std::vector<T>* out, Get get) {
  HONE_ASSIGN_OR_RETURN(const Json* found, Find(key));
  if (!found->is_array()) return Expected(key, "a list", *found);
  std::vector<T> items(found->size());
  for (size_t i = 0; i < items.size(); ++i) {
    if (!get((*found)[i], &items[i])) {
      return JsonReader((*found)[i], file_, Where(key) + "/" + std::to_string(i)).Expected("", what, (*found)[i]);
    }
  }
  *out = std::move(items);
  return Status();
}

Status JsonReader::Read(const std::string& key, std::vector<int64_t>* out) {
  return ReadList(key, "an integer", out, GetInt);
}

Status JsonReader::Read(const std::string& key, std::vector<double>* out) {
  return ReadList(key, "a number", out, GetDouble);
}

Status JsonReader::Read(const std::string& key, std::vector<std::string>* out) {
  return ReadList(key, "a string", out, GetString);
}

Status JsonReader::Read(const std::string& key, std::vector<JsonReader>* out) {
  HONE_ASSIGN_OR_RETURN(const Json* found, Find(key));
  if (!found->is_array()) return Expected(key, "a list", *found);
  std::vector<JsonReader> items;
  for (size_t i = 0; i < found->size(); ++i) {
    items.emplace_back((*found)[i], file_, Where(key) + "/" + std::to_string(i));
  }
  *out = std::move(items);
  return Status();
}

Status JsonReader::Finish() const {
  HONE_CHECK(value_ != nullptr);
  if (!value_->is_object()) return Expected("", "an object", *value_);
  for (auto it = value_->begin(); it != value_->end(); ++it) {
    if (known_.count(it.key()) != 0) continue;
    std::vector<std::string> known(known_.begin(), known_.end());
    return Error("", "unknown key `" + it.key() + "`" + SuggestionText(it.key(), known));
  }
  return Status();
}

}  // namespace hone

#include "pipeline/toml_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include "base/json.h"
#include "base/suggest.h"
#include "base/text.h"

namespace hone::pipeline {

// The file as JSON, for its checked accessors, with the line of every key by its JSON pointer.
struct TomlTable::Document {
  std::string path;
  Json root;
  std::map<std::string, int> lines;

  const Json* Find(const std::string& pointer) const {
    const Json::json_pointer at(pointer);
    return root.contains(at) ? &root.at(at) : nullptr;
  }
};

namespace {

std::string Escaped(std::string_view key) {
  std::string out;
  for (char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

std::string At(const std::string& path, int line) { return fmt::format("{}:{}: ", path, line); }

class Converter {
 public:
  Converter(const std::string& path, std::map<std::string, int>* lines) : path_(path), lines_(lines) {}

  Result<Json> Convert(const toml::node& node, const std::string& pointer) {
    const int line = static_cast<int>(node.source().begin.line);
    lines_->emplace(pointer, line);  // the key's own line, if there is one, came first
    if (const auto* value = node.as_string()) return Json(value->get());
    if (const auto* value = node.as_integer()) return Json(value->get());
    if (const auto* value = node.as_boolean()) return Json(value->get());
    if (const auto* value = node.as_floating_point()) {
      if (!std::isfinite(value->get()))
        return Status::Invalid(At(path_, line) + pointer.substr(pointer.rfind('/') + 1) + ": not a finite number");
      return Json(value->get());
    }
    if (const auto* list = node.as_array()) {
      Json out = Json::array();
      for (const toml::node& item : *list) {
        HONE_ASSIGN_OR_RETURN(Json converted, Convert(item, fmt::format("{}/{}", pointer, out.size())));
        out.push_back(std::move(converted));
      }
      return out;
    }
    if (const auto* table = node.as_table()) return ConvertTable(*table, pointer);
    return Status::Invalid(At(path_, line) + "dates and times mean nothing here");
  }

 private:
  Result<Json> ConvertTable(const toml::table& table, const std::string& pointer) {
    Json out = Json::object();
    for (const auto& [key, value] : table) {
      const std::string below = pointer + "/" + Escaped(key.str());
      lines_->emplace(below, static_cast<int>(key.source().begin.line));
      HONE_ASSIGN_OR_RETURN(out[std::string(key.str())], Convert(value, below));
    }
    return out;
  }

  const std::string& path_;
  std::map<std::string, int>* lines_;
};

}  // namespace

Result<TomlTable> TomlTable::Parse(std::string_view text, const std::string& path) {
  const toml::parse_result parsed = toml::parse(text, path);
  if (parsed.failed()) {
    const toml::parse_error& error = parsed.error();
    return Status::Invalid(At(path, static_cast<int>(error.source().begin.line)) + std::string(error.description()));
  }
  auto document = std::make_shared<Document>();
  document->path = path;
  HONE_ASSIGN_OR_RETURN(document->root, Converter(path, &document->lines).Convert(parsed.table(), ""));
  return TomlTable(std::move(document), "");
}

Status TomlTable::Error(const std::string& key, const std::string& what) const {
  auto line = document_->lines.find(pointer_ + "/" + Escaped(key));
  if (line == document_->lines.end()) line = document_->lines.find(pointer_);
  const int number = line == document_->lines.end() ? 1 : std::max(line->second, 1);
  return Status::Invalid(At(document_->path, number) + what);
}

Status TomlTable::Expected(const std::string& key, const char* type) const {
  return Error(key, fmt::format("`{}` must be {}", key, type));
}

bool TomlTable::Has(const std::string& key) const { return document_->Find(pointer_ + "/" + Escaped(key)) != nullptr; }

Status TomlTable::Read(const std::string& key, std::string* out) {
  known_.push_back(key);
  const Json* value = document_->Find(pointer_ + "/" + Escaped(key));
  if (value == nullptr) return Status::Ok();
  if (!value->is_string()) return Expected(key, "a text in quotes");
  *out = value->get<std::string>();
  return Status::Ok();
}

Status TomlTable::Read(const std::string& key, int64_t* out) {
  known_.push_back(key);
  const Json* value = document_->Find(pointer_ + "/" + Escaped(key));
  if (value == nullptr) return Status::Ok();
  if (!value->is_number_integer()) return Expected(key, "a whole number");
  *out = value->get<int64_t>();
  return Status::Ok();
}

Status TomlTable::Read(const std::string& key, double* out) {
  known_.push_back(key);
  const Json* value = document_->Find(pointer_ + "/" + Escaped(key));
  if (value == nullptr) return Status::Ok();
  if (!value->is_number()) return Expected(key, "a number");
  *out = value->get<double>();
  return Status::Ok();
}

Status TomlTable::Read(const std::string& key, std::vector<std::string>* out) {
  known_.push_back(key);
  const Json* value = document_->Find(pointer_ + "/" + Escaped(key));
  if (value == nullptr) return Status::Ok();
  if (!value->is_array()) return Expected(key, "a list of texts, such as [\"cpu\"]");
  std::vector<std::string> items;
  for (const Json& item : *value) {
    if (!item.is_string()) return Expected(key, "a list of texts, such as [\"cpu\"]");
    items.push_back(item.get<std::string>());
  }
  *out = std::move(items);
  return Status::Ok();
}

Status TomlTable::Read(const std::string& key, bool* out) {
  known_.push_back(key);
  const Json* value = document_->Find(pointer_ + "/" + Escaped(key));
  if (value == nullptr) return Status::Ok();
  if (!value->is_boolean()) return Expected(key, "true or false");
  *out = value->get<bool>();
  return Status::Ok();
}

Status TomlTable::Read(const std::string& key, std::vector<int64_t>* out) {
  known_.push_back(key);
  const Json* value = document_->Find(pointer_ + "/" + Escaped(key));
  if (value == nullptr) return Status::Ok();
  if (!value->is_array()) return Expected(key, "a list of whole numbers, such as [1, 3]");
  std::vector<int64_t> items;
  for (const Json& item : *value) {
    if (!item.is_number_integer()) return Expected(key, "a list of whole numbers, such as [1, 3]");
    items.push_back(item.get<int64_t>());
  }
  *out = std::move(items);
  return Status::Ok();
}

TomlTable::Type TomlTable::TypeOf(const std::string& key) const {
  const Json* value = document_->Find(pointer_ + "/" + Escaped(key));
  if (value == nullptr) return Type::kMissing;
  if (value->is_string()) return Type::kText;
  if (value->is_boolean()) return Type::kTruth;
  if (value->is_number_integer()) return Type::kWhole;
  if (value->is_number()) return Type::kNumber;
  return value->is_array() ? Type::kList : Type::kTable;
}

std::vector<std::string> TomlTable::Keys() const {
  const Json* table = pointer_.empty() ? &document_->root : document_->Find(pointer_);
  std::vector<std::string> keys;
  if (table == nullptr) return keys;
  for (const auto& item : table->items()) keys.push_back(item.key());
  return keys;
}

Result<TomlTable> TomlTable::Table(const std::string& key) {
  known_.push_back(key);
  const std::string below = pointer_ + "/" + Escaped(key);
  const Json* value = document_->Find(below);
  if (value != nullptr && !value->is_object()) return Expected(key, fmt::format("a table: [{}]", key).c_str());
  return TomlTable(document_, below);
}

Status TomlTable::Finish() const {
  const Json* table = pointer_.empty() ? &document_->root : document_->Find(pointer_);
  if (table == nullptr) return Status::Ok();
  for (const auto& item : table->items()) {
    if (std::find(known_.begin(), known_.end(), item.key()) != known_.end()) continue;
    const std::string where = pointer_.empty() ? "" : fmt::format(" in [{}]", ReplaceAll(pointer_.substr(1), "/", "."));
    return Error(item.key(),
                 fmt::format("unknown key `{}`{}{}", item.key(), where, SuggestionText(item.key(), known_)));
  }
  return Status::Ok();
}

}  // namespace hone::pipeline

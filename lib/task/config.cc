#include "task/config.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/json.h"

namespace hone {
namespace {

constexpr const char* kTags[] = {"sp", "re", "an", "ot"};  // by KnobKind

Json ValueJson(const KnobValue& v) {
  if (v.kind != KnobKind::kOther) return v.kind == KnobKind::kAnnotate ? Json(v.words) : Json(v.numbers);
  return v.words.empty() ? Json(v.numbers.at(0)) : Json(v.words[0]);
}

// The items of a list, if they are all of one type.
template <typename T>
bool ReadList(const Json& list, bool (Json::*fits)() const noexcept, std::vector<T>* items) {
  if (!list.is_array() || !std::all_of(list.begin(), list.end(), std::mem_fn(fits))) return false;
  *items = list.get<std::vector<T>>();
  return true;
}

Status BadEntity(size_t i, const std::string& what) { return Status::Invalid("config: entity {}: {}", i, what); }

Result<KnobValue> KnobFromJson(const Json& e, size_t i) {
  if (!e.is_array() || e.size() != 3 || !e[0].is_string() || !e[1].is_string()) {
    return BadEntity(i, "expected [\"name\", \"sp\"|\"re\"|\"an\"|\"ot\", value]");
  }
  KnobValue v;
  v.name = e[0].get<std::string>();
  const std::string tag = e[1].get<std::string>();
  const Json& value = e[2];
  if (tag == "sp" || tag == "re") {
    v.kind = tag == "sp" ? KnobKind::kSplit : KnobKind::kReorder;
    if (!ReadList(value, &Json::is_number_integer, &v.numbers)) {
      return BadEntity(i, "`" + v.name + "`: expected a list of numbers");
    }
  } else if (tag == "an") {
    v.kind = KnobKind::kAnnotate;
    if (!ReadList(value, &Json::is_string, &v.words)) {
      return BadEntity(i, "`" + v.name + "`: expected a list of words");
    }
  } else if (tag == "ot") {
    if (value.is_number_integer()) {
      v.numbers.push_back(value.get<int64_t>());
    } else if (value.is_string()) {
      v.words.push_back(value.get<std::string>());
    } else {
      return BadEntity(i, "`" + v.name + "`: expected a whole number or a word");
    }
  } else {
    return BadEntity(i, "unknown kind `" + tag + "`; known: sp, re, an, ot");
  }
  return v;
}

const KnobValue& Get(const Config& config, std::string_view knob, KnobKind kind) {
  for (const KnobValue& v : config.values) {
    if (v.kind == kind && v.name == knob) return v;
  }
  // A template asked for a knob that it does not define.
  HONE_CHECK(false && "knob exists");
  return config.values[0];
}

}  // namespace

std::string KnobValue::Text() const {
  return words.empty() ? fmt::format("{}", fmt::join(numbers, ",")) : fmt::format("{}", fmt::join(words, ","));
}

const std::vector<int64_t>& Config::Sizes(std::string_view knob) const {
  return Get(*this, knob, KnobKind::kSplit).numbers;
}

int64_t Config::Number(std::string_view knob) const {
  const KnobValue& v = Get(*this, knob, KnobKind::kOther);
  HONE_CHECK(!v.numbers.empty());
  return v.numbers[0];
}

const std::string& Config::Word(std::string_view knob) const {
  const KnobValue& v = Get(*this, knob, KnobKind::kOther);
  HONE_CHECK(!v.words.empty());
  return v.words[0];
}

Result<PointIndex> ParseIndex(std::string_view text) {
  PointIndex index = 0;
  bool good = !text.empty();
  for (const char c : text) {
    good = good && c >= '0' && c <= '9' && !__builtin_mul_overflow(index, PointIndex{10}, &index) &&
           !__builtin_add_overflow(index, static_cast<PointIndex>(c - '0'), &index);
  }
  if (!good) return Status::Invalid("`" + std::string(text) + "` is not an index");
  return index;
}

std::string Config::IndexText() const { return index <= UINT64_MAX ? fmt::format("{}", index) : "-"; }

std::string Config::Text() const {
  std::string text = template_name;
  for (const KnobValue& v : values) {
    text += " " + v.name + "=" + (v.kind == KnobKind::kOther ? v.Text() : "[" + v.Text() + "]");
  }
  return text;
}

std::string Config::ToJson() const { return ConfigJson(*this).dump(); }

Result<Config> Config::FromJson(const std::string& json) {
  HONE_ASSIGN_OR_RETURN(const Json j, ParseJson(json, "config"));
  return ConfigFromJson(j);
}

Json ConfigJson(const Config& config) {
  Json entity = Json::array();
  for (const KnobValue& v : config.values)
    entity.push_back(Json::array({v.name, kTags[static_cast<size_t>(v.kind)], ValueJson(v)}));
  return {{"template", config.template_name},
          {"index", config.index <= UINT64_MAX ? Json(static_cast<uint64_t>(config.index)) : Json()},
          {"entity", std::move(entity)}};
}

Result<Config> ConfigFromJson(const Json& j) {
  if (!j.is_object() || !j.contains("template") || !j["template"].is_string() || !j.contains("index") ||
      !(j["index"].is_number_unsigned() || j["index"].is_null()) || !j.contains("entity") || !j["entity"].is_array()) {
    return Status::Invalid("config: expected {\"template\": word, \"index\": number, \"entity\": [...]}");
  }
  Config c;
  c.template_name = j["template"].get<std::string>();
  c.index = j["index"].is_null() ? kNoIndex : j["index"].get<uint64_t>();
  for (size_t i = 0; i < j["entity"].size(); ++i) {
    HONE_ASSIGN_OR_RETURN(KnobValue v, KnobFromJson(j["entity"][i], i));
    c.values.push_back(std::move(v));
  }
  return c;
}

Digest Config::ValueDigest() const { return Digest128(Text()); }

}  // namespace hone

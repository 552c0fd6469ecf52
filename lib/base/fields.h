// The fields of a struct in a JSON format, declared once: the same function reads, writes and checks them.
//
//   static void ListFields(Fields* f, Finalist* x) {
//     f->Value("median", &x->median).Above(0);
//     f->Value("trial", &x->trial);
//     f->Maybe("in_network", &x->in_network, x->in_network > 0).Above(0);
//   }
//   const std::string text = FieldsText(finalist);
//   HONE_ASSIGN_OR_RETURN(const Finalist finalist, ParseFields<Finalist>(text, path));
//
// A field may be a struct with a ListFields of its own, declared before and in the struct's namespace, or a vector of
// them. Reading stops at the first error, whose message is JsonReader's, and refuses keys that are not listed. Heavy:
// include in .cc files only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"

namespace hone {

// The texts of an enumeration's values in files.
template <typename T>
using ChoiceNames = std::vector<std::pair<T, const char*>>;
template <typename T>
const char* ChoiceName(const ChoiceNames<T>& names, T wanted) {
  for (const auto& [value, name] : names) {
    if (value == wanted) return name;
  }
  return "?";
}

// Cuts the first one off and returns its name: "median" for "x->median, x->trial".
std::string NextMember(std::string_view* members);

// The JSON object with these values: HONE_JSON(x.median, x.trial) names them "median" and "trial".
#define HONE_JSON(...) ::hone::MembersJson(#__VA_ARGS__, __VA_ARGS__)
template <typename... T>
Json MembersJson(std::string_view members, const T&... values) {
  Json json = Json::object();
  ((json[NextMember(&members)] = values), ...);
  return json;
}

class Fields;
template <typename T>
concept HasFields = requires(Fields* f, T* x) {
  ListFields(f, x);
};

// Types with a text of their own, which is what a file has.
template <typename T>
concept HasText = requires(const T& x, const std::string& text) {
  x.Text();
  T::Parse(text);
};

class Fields {
 public:
  explicit Fields(JsonReader* reader) : reader_(reader) {}
  explicit Fields(Json* json) : json_(json) {}
  // Reads fields that may be missing from another kind of file, and does not check their conditions.
  using Place = std::variant<bool*, int64_t*, double*, std::string*>;
  explicit Fields(std::function<Status(const std::string& key, Place)> take) : take_(std::move(take)) {}
  Fields() = default;  // only checks; status() names the field: "trials: must be at least 1, is 0"

  bool reading() const { return reader_ != nullptr; }
  const Status& status() const { return status_; }
  Status Finish();  // call it after reading

  Fields& Version(int64_t newest);  // JsonReader::ReadVersion
  void AllowOthers() { others_ = true; }

  // A required field.
  template <typename T>
  Fields& Value(const std::string& key, T* value) {
    return Field(key, value, true, true);
  }
  // A required field for each value, named as in HONE_JSON: HONE_VALUES(f, x->median, x->trial).
#define HONE_VALUES(fields, ...) (fields)->Values(#__VA_ARGS__, __VA_ARGS__)
  template <typename... T>
  void Values(std::string_view members, T&... values) {
    (Value(NextMember(&members), &values), ...);
  }
  // An optional field: if it is missing, *value keeps its value. Written only if `write`.
  template <typename T>
  Fields& Maybe(const std::string& key, T* value, bool write = true) {
    return Field(key, value, false, write);
  }
  template <typename T>
  Fields& Maybe(const std::string& key, std::optional<T>* value) {
    if (!Begin(key, false, value->has_value())) return *this;
    if (reading()) value->emplace();
    return value->has_value() ? Value(key, &**value) : *this;
  }
  // A list; `each(Fields*, T*)` lists the fields of an item.
  template <typename T, typename Each>
  Fields& List(const std::string& key, std::vector<T>* items, Each each) {
    if (!Begin(key, true, true)) return *this;
    if (reading()) items->clear();
    return Items(key, items->size(),
                 [&](Fields* f, size_t i) { each(f, reading() ? &items->emplace_back() : &(*items)[i]); });
  }
  // A nested JSON object whose fields belong to the same struct; `list(Fields*)` lists them.
  Fields& Object(const std::string& key, const std::function<void(Fields*)>& list);
  Fields& MaybeObject(const std::string& key, const std::function<void(Fields*)>& list, bool write = true) {
    return Begin(key, false, write) ? Object(key, list) : *this;
  }
  // A field stored as `to(*value)`. `from` converts it back and returns a T or a Result<T>.
  template <typename T, typename To, typename From>
  Fields& As(const std::string& key, T* value, To to, From from, bool must = true, bool write = true) {
    using Stored = std::decay_t<decltype(to(std::as_const(*value)))>;
    std::conditional_t<std::is_same_v<Stored, const char*>, std::string, Stored> stored{};
    if (!reading()) stored = to(std::as_const(*value));
    Field(key, &stored, must, write);
    if (reading() && there_ && ok()) Take(key, value, from(stored));
    return *this;
  }
  // An enum-like field: a text for each value.
  template <typename T>
  Fields& Choice(const std::string& key, T* value, const ChoiceNames<T>& names) {
    std::string text, known;
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i].first == *value) text = names[i].second;
      known += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + std::string(names[i].second);
    }
    Value(key, &text);
    bool found = false;
    for (const auto& [one, name] : names) {
      if (text != name) continue;
      if (reading()) *value = one;
      found = true;
    }
    return Check(found, "expected " + known + ", found `" + text + "`");
  }

  // Conditions on the field listed last; checked only if the field is present.
  Fields& Above(double low);
  Fields& In(double low, double high);
  Fields& AtLeast(double low);
  Fields& Check(bool good, const std::string& what);
  void Fail(const std::string& key, const std::string& what);  // keeps an earlier error

 private:
  bool ok() const { return status_.ok(); }
  bool Begin(const std::string& key, bool must, bool write);  // whether the field is to be read or written
  Fields& Items(const std::string& key, size_t count, const std::function<void(Fields*, size_t)>& each);

  template <typename T>
  Fields& Field(const std::string& key, T* value, bool must, bool write) {
    if (!Begin(key, must, write)) return *this;
    if constexpr (HasFields<T>) {
      return Object(key, [&](Fields* f) { ListFields(f, value); });
    } else if constexpr (requires { requires HasFields<typename T::value_type>; }) {
      return List(key, value, [](Fields* f, typename T::value_type* item) { ListFields(f, item); });
    } else if constexpr (HasText<T>) {
      return As(
          key, value, [](const T& x) { return x.Text(); }, T::Parse, must, write);
    } else if constexpr (std::is_same_v<T, uint64_t>) {
      int64_t whole = static_cast<int64_t>(*value);
      Field(key, &whole, true, true).Check(whole >= 0, "must be at least 0");
      if (json_ == nullptr) *value = static_cast<uint64_t>(whole);
    } else if (json_ != nullptr) {
      (*json_)[key] = *value;
    } else if (reading()) {
      if constexpr (std::is_same_v<T, Json>) {
        if (reader_->Has(key)) *value = reader_->value()[key];
        Check(reader_->Has(key), "missing");
      } else {
        status_ = reader_->Read(key, value);
      }
    } else if constexpr (std::is_constructible_v<Place, T*>) {
      if (take_) status_ = take_(key, value);
    }
    if constexpr (std::is_arithmetic_v<T>) number_ = static_cast<double>(*value), whole_ = std::is_integral_v<T>;
    return *this;
  }
  template <typename T>
  void Take(const std::string&, T* value, T taken) {
    *value = std::move(taken);
  }
  template <typename T>
  void Take(const std::string& key, T* value, Result<T> taken) {
    if (taken.ok()) {
      *value = std::move(*taken);
    } else {
      Fail(key, taken.status().message());
    }
  }
  std::string Text(double number) const;

  JsonReader* reader_ = nullptr;
  Json* json_ = nullptr;
  std::function<Status(const std::string&, Place)> take_;
  Status status_;
  bool others_ = false;
  std::string key_;  // the last field's
  bool there_ = false, whole_ = false;
  double number_ = 0;
};

template <typename T>
Json FieldsJson(const T& value) {
  Json json = Json::object();
  Fields fields(&json);
  ListFields(&fields, const_cast<T*>(&value));  // safe: this mode only reads
  return json;
}

template <typename T>
std::string FieldsText(const T& value, int indent = 2) {
  return DumpJson(FieldsJson(value), indent);
}

// The first condition that `value` violates, after its field's name; "" if it meets all.
template <typename T>
std::string FieldsProblem(const T& value) {
  Fields fields;
  ListFields(&fields, const_cast<T*>(&value));
  return fields.status().message();
}

// `name` is the file's name (or another name for the source) in messages.
template <typename T>
Result<T> FieldsFrom(const Json& json, const std::string& name) {
  T value;
  JsonReader reader(json, name);
  Fields fields(&reader);
  ListFields(&fields, &value);
  HONE_RETURN_IF_ERROR(fields.Finish());
  return value;
}

template <typename T>
Result<T> ParseFields(std::string_view text, const std::string& name) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(text, name));
  return FieldsFrom<T>(json, name);
}

template <typename T>
Result<T> ReadFields(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const Json json, ReadJsonFile(path));
  return FieldsFrom<T>(json, path);
}

}  // namespace hone

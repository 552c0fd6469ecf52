#include "pipeline/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"

namespace hone::pipeline {
namespace {

using Values = std::map<std::string, std::string>;

void Flatten(const Json& json, const std::string& prefix, Values* out) {
  for (const auto& [key, value] : json.items()) {
    const std::string name = prefix.empty() ? key : prefix + "." + key;
    if (value.is_object()) {
      Flatten(value, name, out);
    } else if (name != "version") {
      (*out)[name] = value.is_string() ? value.get<std::string>() : value.dump();
    }
  }
}

Values Flat(std::string_view text) {
  Values values;
  const Result<Json> json = ParseJson(text, "");
  if (json.ok() && json->is_object()) Flatten(*json, "", &values);
  return values;
}

// "space a=1 b=2\ncodegen 3" -> {"knob list of a version": 1, ..}.
Values Versions(std::string_view abi) {
  Values values;
  for (const std::string& line : Split(std::string(abi), '\n')) {
    const size_t space = line.find(' ');
    if (space == std::string::npos) continue;
    const std::string name = line.substr(0, space), rest = line.substr(space + 1);
    if (name == "space") {
      for (const std::string& item : Split(ReplaceAll(rest, ",", " "), ' ')) {
        const size_t equal = item.find('=');
        if (equal != std::string::npos) {
          values["knob list of " + item.substr(0, equal) + " version"] = item.substr(equal + 1);
        }
      }
    } else {
      const std::string what = name == "codegen"   ? "the code generator"
                               : name == "measure" ? "the measuring protocol"
                               : name == "library" ? "the library's interface"
                                                   : "hone-" + ReplaceAll(name, "_", "-");
      values["version of " + what] = rest;
    }
  }
  return values;
}

std::vector<std::string> Changes(const Values& before, const Values& after) {
  std::vector<std::string> changes;
  Values keys = before;
  keys.insert(after.begin(), after.end());
  for (const auto& [key, unused] : keys) {
    const auto a = before.find(key), b = after.find(key);
    const std::string was = a == before.end() ? "none" : a->second, is = b == after.end() ? "none" : b->second;
    if (was != is) changes.push_back(fmt::format("{} {} -> {}", key, CutMiddle(was, 60), CutMiddle(is, 60)));
  }
  return changes;
}

void Append(std::vector<std::string>* to, std::vector<std::string> more) {
  to->insert(to->end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::string TextOf(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() ? "" : found->is_string() ? found->get<std::string>() : found->dump();
}

// 0 if it is missing or not a number: anybody may have written the stamp.
int64_t TrialsOf(const Json& json) {
  int64_t trials = 0;
  (void)JsonReader(json, "").ReadOptional("trials", &trials).ok();
  return std::max<int64_t>(0, trials);
}

// A task file's own text, with its versions in words.
std::vector<std::string> TaskChanges(const std::string& before, const std::string& after) {
  const Values was = Flat(before), is = Flat(after);
  const auto of = [](const Values& values, const char* key) {
    const auto found = values.find(key);
    return found == values.end() ? std::string() : found->second;
  };
  std::vector<std::string> changes =
      Changes(Versions("space " + of(was, "space")), Versions("space " + of(is, "space")));
  if (of(was, "plugin_digest") != of(is, "plugin_digest")) {
    changes.push_back(fmt::format("the plugin {} was built anew", of(is, "plugin")));
  }
  Values rest_was = was, rest_is = is;
  for (const char* key : {"space", "plugin_digest"}) rest_was.erase(key), rest_is.erase(key);
  Append(&changes, Changes(rest_was, rest_is));
  return changes;
}

// The first of a stamp's texts: whole where it is there, else as its digest says.
void Compare(const Json& stamp, const char* text_key, const char* digest_key, const std::string& now, const char* what,
             std::vector<std::string> (*changes)(const std::string&, const std::string&),
             std::vector<std::string>* out) {
  const std::string before = TextOf(stamp, text_key);
  const auto inputs = stamp.find("inputs");
  const std::string digest = inputs != stamp.end() && inputs->is_object() ? TextOf(*inputs, digest_key) : "";
  if (digest == Digest128(now).Hex()) return;
  std::vector<std::string> found;
  if (!before.empty()) found = changes(before, now);
  if (found.empty()) found.push_back(std::string(what) + " changed");
  Append(out, std::move(found));
}

std::vector<std::string> SettingsChanges(const std::string& before, const std::string& after) {
  return Changes(Flat(before), Flat(after));
}
std::vector<std::string> VersionChanges(const std::string& before, const std::string& after) {
  return Changes(Versions(before), Versions(after));
}

}  // namespace

std::vector<std::string> StampChanges(std::string_view stamp_text, const TuneInputs& now) {
  const Result<Json> stamp = ParseJson(stamp_text, "");
  if (!stamp.ok() || !stamp->is_object()) return {"the stamp cannot be read"};
  std::vector<std::string> changes;
  Compare(*stamp, "task_file", "task", now.task, "its task file", TaskChanges, &changes);
  Compare(*stamp, "settings", "settings", now.settings, "its settings", SettingsChanges, &changes);
  Compare(*stamp, "abi", "abi", std::string(Trim(now.abi)), "versions of hone-tune", VersionChanges, &changes);
  std::vector<std::string> donors;
  const auto listed = stamp->find("donors");
  if (listed != stamp->end() && listed->is_array()) {
    for (const Json& id : *listed) {
      if (id.is_string()) donors.push_back(id.get<std::string>());
    }
  }
  for (const std::string& id : now.donors) {
    if (std::find(donors.begin(), donors.end(), id) == donors.end()) changes.push_back("it learns from " + id);
  }
  for (const std::string& id : donors) {
    if (std::find(now.donors.begin(), now.donors.end(), id) == now.donors.end()) {
      changes.push_back("it learns no longer from " + id);
    }
  }
  return changes;
}

int64_t NewTrials(std::string_view stamp_text, const TuneInputs& now) {
  const Result<Json> settings = ParseJson(now.settings, "");
  int64_t budget = 0;
  if (settings.ok() && settings->is_object()) budget = TrialsOf(*settings);
  const Result<Json> stamp = ParseJson(stamp_text, "");
  if (!stamp.ok() || !stamp->is_object()) return budget;
  const auto differs = [](const Values& a, const Values& b) { return !Changes(a, b).empty(); };
  const auto nested = [](const Json& json, const char* a, const char* b) {
    const auto found = json.find(a);
    return found != json.end() && found->is_object() ? TextOf(*found, b) : std::string();
  };
  const Result<Json> task = ParseJson(now.task, "");
  const std::string space = task.ok() && task->is_object() ? TextOf(*task, "space") : "";
  bool anew = differs(Versions(TextOf(*stamp, "abi")), Versions(now.abi)) ||
              differs(Versions("space " + nested(*stamp, "task_file", "space")), Versions("space " + space));
  const Values was = Flat(TextOf(*stamp, "settings")), is = Flat(now.settings);
  for (const char* key : {"measure.number", "measure.repeat", "measure.min_repeat_ms"}) {
    const auto a = was.find(key), b = is.find(key);
    anew = anew || (a != was.end() && b != is.end() && a->second != b->second);
  }
  if (anew) return budget;
  const std::string reason = TextOf(*stamp, "met_by");
  if (reason == "space-exhausted") return 0;
  return std::max<int64_t>(0, budget - TrialsOf(*stamp));
}

}  // namespace hone::pipeline

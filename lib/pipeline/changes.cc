#include "pipeline/changes.h"

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "pipeline/settings.h"

namespace hone::pipeline {
namespace {

using Values = std::map<std::string, std::string>;

constexpr char kKnobList[] = "knob list of ";
constexpr char kPluginDigest[] = "plugin_digest";

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
          values[kKnobList + item.substr(0, equal) + " version"] = item.substr(equal + 1);
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

// A task file, with the versions of its templates as separate values.
Values TaskValues(std::string_view text) {
  Values values = Flat(text);
  for (const auto& [name, version] : Versions("space " + values["space"])) values[name] = version;
  values.erase("space");
  return values;
}

std::vector<std::string> Changes(const Values& before, const Values& after) {
  const auto in = [](const Values& values, const std::string& key) {
    const auto found = values.find(key);
    return found == values.end() ? std::string("none") : found->second;
  };
  std::vector<std::string> changes;
  Values keys = before;
  keys.insert(after.begin(), after.end());
  for (const auto& [key, unused] : keys) {
    const std::string was = in(before, key), is = in(after, key);
    if (was == is) continue;
    changes.push_back(key == kPluginDigest ? fmt::format("the plugin {} was built anew", in(after, "plugin"))
                                           : fmt::format("{} {} -> {}", key, CutMiddle(was, 60), CutMiddle(is, 60)));
  }
  return changes;
}

std::string TextOf(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() ? "" : found->is_string() ? found->get<std::string>() : found->dump();
}

// 0 if it is missing or not a number, as anybody may have written the stamp.
int64_t TrialsOf(const Json& json) {
  int64_t trials = 0;
  (void)JsonReader(json, "").ReadOptional("trials", &trials).ok();
  return std::max<int64_t>(0, trials);
}

// A text that a job reads, and its place in the stamp.
struct Part {
  const char* text;    // key of the text; older stamps lack it
  const char* digest;  // in `inputs`
  const char* what;
  Values (*values)(std::string_view text);
  std::string now;
};

}  // namespace

std::vector<std::string> StampChanges(std::string_view stamp_text, const TuneInputs& now) {
  const Result<Json> stamp = ParseJson(stamp_text, "");
  if (!stamp.ok() || !stamp->is_object()) return {"the stamp cannot be read"};
  std::vector<std::string> changes;
  const Json inputs = stamp->value("inputs", Json());
  for (const Part& part : {Part{"task_file", "task", "its task file", TaskValues, now.task},
                           Part{"settings", "settings", "its settings", Flat, now.settings},
                           Part{"abi", "abi", "versions of hone-tune", Versions, std::string(Trim(now.abi))}}) {
    const std::string digest = inputs.is_object() ? TextOf(inputs, part.digest) : "";
    if (digest == Digest128(part.now).Hex()) continue;
    const std::string before = TextOf(*stamp, part.text);
    std::vector<std::string> found;
    if (!before.empty()) found = Changes(part.values(before), part.values(part.now));
    if (found.empty()) found.push_back(std::string(part.what) + " changed");
    changes.insert(changes.end(), found.begin(), found.end());
  }
  std::vector<std::string> donors;
  const auto listed = stamp->find("donors");
  if (listed != stamp->end() && listed->is_array()) {
    for (const Json& id : *listed) {
      if (id.is_string()) donors.push_back(id.get<std::string>());
    }
  }
  const auto only_in = [&](const std::vector<std::string>& ids, const std::vector<std::string>& others,
                           const char* what) {
    for (const std::string& id : ids) {
      if (std::find(others.begin(), others.end(), id) == others.end()) changes.push_back(what + id);
    }
  };
  only_in(now.donors, donors, "it learns from ");
  only_in(donors, now.donors, "it learns no longer from ");
  return changes;
}

// Whether a version that times depend on has changed, so that all trials are repeated.
static bool Anew(const Json& stamp, const TuneInputs& now) {
  if (!Changes(Versions(TextOf(stamp, "abi")), Versions(now.abi)).empty()) return true;
  for (const std::string& change : Changes(TaskValues(TextOf(stamp, "task_file")), TaskValues(now.task))) {
    if (StartsWith(change, kKnobList)) return true;
  }
  const Values was = Flat(TextOf(stamp, "settings")), is = Flat(now.settings);
  for (const char* key : {"measure.number", "measure.repeat", "measure.min_repeat_ms"}) {
    const auto a = was.find(key), b = is.find(key);
    if (a != was.end() && b != is.end() && a->second != b->second) return true;
  }
  return false;
}

int64_t NewTrials(std::string_view stamp_text, const TuneInputs& now) {
  const Result<Json> settings = ParseJson(now.settings, "");
  const int64_t budget = settings.ok() && settings->is_object() ? TrialsOf(*settings) : 0;
  if (budget >= kMostTrials) return 0;
  const Result<Json> stamp = ParseJson(stamp_text, "");
  if (!stamp.ok() || !stamp->is_object() || Anew(*stamp, now)) return budget;
  return TextOf(*stamp, "met_by") == "space-exhausted" ? 0 : std::max<int64_t>(0, budget - TrialsOf(*stamp));
}

double NewSeconds(std::string_view stamp_text, const TuneInputs& now) {
  const Result<Json> settings = ParseJson(now.settings, "");
  if (!settings.ok() || !settings->is_object() || TrialsOf(*settings) < kMostTrials) return 0;
  double budget = 0, spent = 0;
  if (!JsonReader(*settings, "").ReadOptional("seconds", &budget).ok() || budget < 0) return 0;
  const Result<Json> stamp = ParseJson(stamp_text, "");
  if (!stamp.ok() || !stamp->is_object() || Anew(*stamp, now)) return budget;
  if (TextOf(*stamp, "met_by") == "space-exhausted") return 0;
  JsonReader search;
  if (JsonReader(*stamp, "").Read("search", &search).ok()) (void)search.ReadOptional("tuning_seconds", &spent).ok();
  return std::max(0.0, budget - spent);
}

}  // namespace hone::pipeline

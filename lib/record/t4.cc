#include <cmath>
#include <map>
#include <optional>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "record/foreign_formats.h"

namespace hone::record {
namespace {

constexpr char kT4Version[] = "1.0.0";

std::optional<double> SecondsIn(const std::string& unit) {
  static const std::map<std::string, double> units = {
      {"s", 1},     {"sec", 1},   {"seconds", 1},         {"ms", 1e-3}, {"milliseconds", 1e-3},
      {"us", 1e-6}, {"µs", 1e-6}, {"microseconds", 1e-6}, {"ns", 1e-9}, {"nanoseconds", 1e-9}};
  const auto found = units.find(unit);
  return found == units.end() ? std::nullopt : std::optional(found->second);
}

double MeanOf(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (!value.is_array() || value.empty()) return 0;
  double sum = 0;
  for (const Json& v : value) {
    if (!v.is_number()) return 0;
    sum += v.get<double>();
  }
  return sum / static_cast<double>(value.size());
}

// The measurement named by the first objective ("time" without one), in seconds; 0 if it is not a time.
double SecondsOf(const Json& result) {
  std::string objective = "time";
  if (result.contains("objectives") && result["objectives"].is_array() && !result["objectives"].empty() &&
      result["objectives"][0].is_string()) {
    objective = result["objectives"][0].get<std::string>();
  }
  if (!result.contains("measurements") || !result["measurements"].is_array()) return 0;
  for (const Json& m : result["measurements"]) {
    if (!m.is_object() || m.value("name", Json()) != objective || !m.contains("value")) continue;
    const Json unit = m.value("unit", Json());
    const std::optional<double> factor = unit.is_string() ? SecondsIn(unit.get<std::string>()) : std::nullopt;
    const double seconds = factor ? MeanOf(m["value"]) * *factor : 0;
    return std::isfinite(seconds) && seconds > 0 ? seconds : 0;
  }
  return 0;
}

// What a result lacks according to the schema; "" if it is valid.
std::string WhatT4Misses(const Json& result) {
  if (!result.is_object()) return "no object";
  for (const char* key : {"configuration", "times", "invalidity", "correctness"}) {
    if (!result.contains(key)) return fmt::format("`{}` is missing", key);
  }
  if (!result["configuration"].is_object()) return "`configuration` is not an object";
  if (!result["invalidity"].is_string()) return "`invalidity` is not a word";
  return "";
}

ForeignRecord RecordOf(const std::string& task, const Json& header, const Json& result) {
  ForeignRecord r{.format = "t4", .task = task};
  Json parameters = Json::array();
  for (const auto& [name, value] : result["configuration"].items()) parameters.push_back(name);
  r.workload = Json::object({{"parameters", parameters}, {"header", header}}).dump();
  r.text = result.dump();
  const std::string invalidity = result["invalidity"].get<std::string>();
  r.seconds = SecondsOf(result);
  r.ok = invalidity == "correct" && r.seconds > 0;
  if (!r.ok) r.error = invalidity == "correct" || invalidity.empty() ? "no-time" : invalidity;
  return r;
}

const char* Invalidity(const Outcome& o) {
  constexpr const char* kWords[] = {"runtime", "constraints", "compile", "timeout",
                                    "runtime", "correctness", "runtime"};  // by TrialError
  if (o.state == TrialState::kOk) return "correct";
  return o.state == TrialState::kPruned ? "timeout" : kWords[static_cast<size_t>(o.error)];
}

}  // namespace

Status ReadT4(std::string_view text, const std::string& path, const std::function<Status(const ForeignRecord&)>& visit,
              const std::function<void(int64_t, const std::string&)>& report) {
  HONE_ASSIGN_OR_RETURN(Json document, ParseJson(text, path));
  if (!document.is_object() || !document.contains("results") || !document["results"].is_array()) {
    return Status::Invalid(path + ": not a T4 document: it has no list `results`");
  }
  const Json version = document.value("schema_version", Json());
  if (!version.is_string() || !StartsWith(version.get<std::string>(), "1.0.")) {
    return Status::Unsupported("{}: version {} of T4; only 1.0 is read", path,
                               version.is_null() ? "none" : version.dump());
  }
  const Json results = std::move(document["results"]);
  document.erase("results");
  int64_t number = 0;
  for (const Json& result : results) {
    ++number;
    if (const std::string what = WhatT4Misses(result); !what.empty()) {
      report(number, what);
      continue;
    }
    HONE_RETURN_IF_ERROR(visit(RecordOf(BaseName(path), document, result)));
  }
  return Status();
}

Result<ImportCounts> ImportT4(const std::string& path, const std::string& db,
                              const std::function<void(int64_t, const std::string&)>& report) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ForeignImport import(db);
  const auto take = [&](const ForeignRecord& record) {
    ++import.counts.lines;
    return import.Add(record);
  };
  const auto skip = [&](int64_t number, const std::string& what) {
    ++import.counts.lines;
    ++import.counts.skipped;
    report(number, what);
  };
  HONE_RETURN_IF_ERROR(ReadT4(text, path, take, skip));
  if (import.empty()) {
    return Status::Invalid("{}: none of its {} results is one of T4", path, import.counts.lines);
  }
  HONE_RETURN_IF_ERROR(import.Commit());
  return import.counts;
}

Result<std::string> ExportT4(const ForeignStore& store) {
  Json document, results = Json::array();
  std::string header;
  bool several = false, damaged = false;
  HONE_RETURN_IF_ERROR(store.ForEach("t4", [&](int64_t, const ForeignRecord& r) {
    const Json workload = Json::parse(r.workload, nullptr, false);
    Json result = Json::parse(r.text, nullptr, false);
    damaged = result.is_discarded() || !workload.is_object();
    if (damaged) return false;
    const Json of_this = workload.value("header", Json::object());
    if (header.empty()) document = of_this, header = of_this.dump();
    several = of_this.dump() != header;
    results.push_back(std::move(result));
    return !several;
  }));
  if (damaged) return Status::Corrupt("a T4 record in it is not JSON; import its document again");
  if (header.empty()) return Status::Invalid("no T4 records here; try --format autotvm");
  if (several) {
    return Status::Invalid("its records come from several T4 documents; import each into a separate file");
  }
  document["results"] = std::move(results);
  return DumpAsciiJson(document);
}

Result<std::string> ExportT4(const Store& store) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Trial> trials, store.Trials());
  HONE_ASSIGN_OR_RETURN(const std::vector<Session> sessions, store.Sessions());
  std::map<int64_t, double> started;
  for (const Session& s : sessions) started[s.id] = s.started;
  Json results = Json::array();
  for (const Trial& t : trials) {
    const Outcome& o = t.outcome;
    Json configuration = {{"template", o.config.template_name}};
    const Json config = ConfigJson(o.config);
    for (const Json& knob : config["entity"]) configuration[knob[0].get<std::string>()] = knob[2];
    std::vector<double> runtimes = t.LastRound();
    for (double& seconds : runtimes) seconds *= 1e3;
    Json measurements = Json::array();
    if (o.state != TrialState::kFailed) {
      measurements.push_back({{"name", o.state == TrialState::kOk ? "time" : "time_lower_bound"},
                              {"value", o.median * 1e3},
                              {"unit", "ms"}});
    }
    results.push_back({{"timestamp", FormatIso8601(started[t.session])},
                       {"configuration", configuration},
                       {"objectives", Json::array({"time"})},
                       {"times",
                        {{"compilation_time", o.compile_seconds * 1e3},
                         {"runtimes", runtimes},
                         {"framework", o.measure_seconds * 1e3},
                         {"search_algorithm", 0},
                         {"validation", 0}}},
                       {"invalidity", Invalidity(o)},
                       {"correctness", o.error == TrialError::kWrong ? 0 : 1},
                       {"measurements", measurements}});
  }
  return DumpAsciiJson({{"schema_version", kT4Version},
                        {"metadata", {{"workload", store.meta().workload}, {"target", store.meta().target}}},
                        {"results", results}});
}

}  // namespace hone::record

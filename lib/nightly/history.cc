#include "nightly/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "task/outcome.h"

namespace hone::nightly {
namespace {

constexpr int64_t kVersion = 1;

Json SubjectJson(const Subject& subject) { return {{"digest", subject.digest}, {"processes", subject.processes}}; }

Status ReadSeconds(JsonReader* reader, const std::string& key, std::vector<double>* out) {
  HONE_RETURN_IF_ERROR(reader->Read(key, out));
  const bool positive = std::all_of(out->begin(), out->end(), [](double s) { return s > 0; });
  return positive ? Status() : reader->Error(key, "seconds must be above 0");
}

Status ReadChange(JsonReader* reader, Change* out) {
  std::string name;
  HONE_RETURN_IF_ERROR(reader->Read("change", &name));
  for (const Change change : {Change::kNone, Change::kSlower, Change::kFaster}) {
    if (name != ChangeName(change)) continue;
    *out = change;
    return Status();
  }
  return reader->Error("change", fmt::format("expected none, slower or faster, found `{}`", name));
}

Result<Subject> ReadSubject(JsonReader reader) {
  Subject subject;
  HONE_RETURN_IF_ERROR(reader.Read("digest", &subject.digest));
  HONE_RETURN_IF_ERROR(ReadSeconds(&reader, "processes", &subject.processes));
  HONE_RETURN_IF_ERROR(reader.Finish());
  return subject;
}

Result<Repeat> ReadRepeat(JsonReader reader) {
  Repeat repeat;
  HONE_RETURN_IF_ERROR(ReadSeconds(&reader, "library", &repeat.library));
  HONE_RETURN_IF_ERROR(ReadSeconds(&reader, "reference", &repeat.reference));
  HONE_RETURN_IF_ERROR(ReadChange(&reader, &repeat.change));
  HONE_RETURN_IF_ERROR(reader.Finish());
  return repeat;
}

Result<Night> ReadNight(JsonReader* reader) {
  Night night;
  JsonReader library, reference;
  Comparison& c = night.comparison;
  HONE_RETURN_IF_ERROR(reader->ReadVersion(kVersion));
  HONE_RETURN_IF_ERROR(reader->Read("recorded", &night.recorded));
  HONE_RETURN_IF_ERROR(reader->Read("host", &night.host));
  HONE_RETURN_IF_ERROR(reader->Read("fingerprint", &night.fingerprint));
  HONE_RETURN_IF_ERROR(reader->Read("library", &library));
  HONE_RETURN_IF_ERROR(reader->Read("reference", &reference));
  HONE_ASSIGN_OR_RETURN(night.library, ReadSubject(library));
  HONE_ASSIGN_OR_RETURN(night.reference, ReadSubject(reference));
  if (reader->Has("canary")) {
    JsonReader canary;
    HONE_RETURN_IF_ERROR(reader->Read("canary", &canary));
    HONE_ASSIGN_OR_RETURN(night.canary, ReadSubject(canary));
  }
  for (const auto& [key, value] :
       {std::pair{"ratio", &c.ratio}, {"low", &c.low}, {"high", &c.high}, {"p", &c.p}, {"threshold", &c.threshold}}) {
    HONE_RETURN_IF_ERROR(reader->Read(key, value));
  }
  if (c.ratio <= 0) return reader->Error("ratio", "must be above 0");
  HONE_RETURN_IF_ERROR(ReadChange(reader, &c.change));
  HONE_RETURN_IF_ERROR(reader->Read("why", &c.why));
  if (reader->Has("repeat")) {
    JsonReader repeat;
    HONE_RETURN_IF_ERROR(reader->Read("repeat", &repeat));
    HONE_ASSIGN_OR_RETURN(night.repeat, ReadRepeat(repeat));
  }
  HONE_RETURN_IF_ERROR(reader->ReadOptional("environment", &night.environment));
  HONE_RETURN_IF_ERROR(reader->Finish());
  return night;
}

}  // namespace

std::string NightText(const Night& night) {
  const Comparison& c = night.comparison;
  Json json = {{"version", kVersion},
               {"recorded", night.recorded},
               {"host", night.host},
               {"fingerprint", night.fingerprint},
               {"library", SubjectJson(night.library)},
               {"reference", SubjectJson(night.reference)},
               {"ratio", c.ratio},
               {"low", c.low},
               {"high", c.high},
               {"p", c.p},
               {"threshold", c.threshold},
               {"change", ChangeName(c.change)},
               {"why", c.why}};
  if (night.canary) json["canary"] = SubjectJson(*night.canary);
  if (night.repeat) {
    json["repeat"] = {{"library", night.repeat->library},
                      {"reference", night.repeat->reference},
                      {"change", ChangeName(night.repeat->change)}};
  }
  if (!night.environment.empty()) json["environment"] = night.environment;
  return DumpJson(json, -1);
}

Result<History> ParseHistory(std::string_view text, const std::string& path) {
  History history;
  for (int line = 1; !text.empty(); ++line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      history.torn = 1;
      break;
    }
    const std::string where = fmt::format("{}, line {}", path, line);
    HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(text.substr(0, end), where));
    JsonReader reader(json, where);
    HONE_ASSIGN_OR_RETURN(Night night, ReadNight(&reader));
    history.nights.push_back(std::move(night));
    text.remove_prefix(end + 1);
  }
  return history;
}

std::vector<double> EqualRatios(const std::vector<Night>& nights, const std::string& fingerprint) {
  std::vector<double> ratios;
  for (const Night& night : nights) {
    if (night.fingerprint == fingerprint && night.environment.empty() && night.library.digest == night.reference.digest)
      ratios.push_back(night.comparison.ratio);
  }
  return ratios;
}

std::string EnvironmentMoved(const std::vector<Night>& before, const Night& tonight, const GateRule& rule) {
  if (!tonight.canary) return "";
  std::vector<double> levels;
  for (const Night& night : before) {
    if (night.fingerprint == tonight.fingerprint && night.canary && night.canary->digest == tonight.canary->digest)
      levels.push_back(Median(night.canary->processes));
  }
  if (levels.size() < static_cast<size_t>(rule.least_history)) return "";
  const double level = Median(levels), now = Median(tonight.canary->processes);
  const double threshold = std::max(rule.least_change, rule.deviations * RobustDeviation(levels));
  if (std::abs(now / level - 1) <= threshold) return "";
  return fmt::format(
      "the canary, which is never rebuilt, runs {:+.1f} % from its level of {} nights ({:.1f} % would do)",
      100 * (now / level - 1), levels.size(), 100 * threshold);
}

}  // namespace hone::nightly

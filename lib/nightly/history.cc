#include "nightly/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/statistics.h"
#include "nightly/lines.h"

namespace hone::nightly {
namespace {

constexpr int64_t kHistoryVersion = 1;

Json SubjectJson(const Subject& s) {
  Json json = {{"digest", s.digest}, {"processes", s.processes}};
  if (s.min > 0) {
    json["min"] = s.min;
    json["p10"] = s.p10;
    json["median"] = s.median;
    json["p90"] = s.p90;
    json["p99"] = s.p99;
  }
  if (!s.layers.empty()) json["layers"] = LayersJson(s.layers);
  return json;
}

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
  for (const auto& [key, value] : {std::pair{"min", &subject.min},
                                   {"p10", &subject.p10},
                                   {"median", &subject.median},
                                   {"p90", &subject.p90},
                                   {"p99", &subject.p99}}) {
    HONE_RETURN_IF_ERROR(reader.ReadOptional(key, value));
  }
  HONE_RETURN_IF_ERROR(ReadLayers(&reader, &subject.layers));
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
  HONE_RETURN_IF_ERROR(reader->ReadVersion(kHistoryVersion));
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
  for (const auto& [key, value] : {std::pair{"environment", &night.environment},
                                   {"night", &night.night},
                                   {"tools", &night.tools},
                                   {"failure", &night.failure},
                                   {"no_canary", &night.no_canary}}) {
    HONE_RETURN_IF_ERROR(reader->ReadOptional(key, value));
  }
  HONE_RETURN_IF_ERROR(reader->Finish());
  return night;
}

}  // namespace

std::string NightText(const Night& night) {
  const Comparison& c = night.comparison;
  Json json = {{"version", kHistoryVersion},
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
  for (const auto& [key, value] : {std::pair{"environment", &night.environment},
                                   {"night", &night.night},
                                   {"tools", &night.tools},
                                   {"failure", &night.failure},
                                   {"no_canary", &night.no_canary}}) {
    if (!value->empty()) json[key] = *value;
  }
  return DumpJson(json, -1);
}

Result<History> ParseHistory(std::string_view text, const std::string& path) {
  History history;
  HONE_RETURN_IF_ERROR(ForEachLine(text, path, &history.torn, &history.damaged, [&](JsonReader* reader) -> Status {
    HONE_ASSIGN_OR_RETURN(Night night, ReadNight(reader));
    history.nights.push_back(std::move(night));
    return Status();
  }));
  return history;
}

Result<History> ReadHistory(const std::string& path) {
  if (!Exists(path)) return History();
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseHistory(text, path);
}

std::vector<double> NoiseRatios(const std::vector<Night>& nights, const std::string& fingerprint) {
  constexpr size_t kLeastOfPair = 5;  // fewer scatter too little about their own median
  std::vector<double> ratios;
  std::map<std::pair<std::string, std::string>, std::vector<double>> pairs;
  for (const Night& night : nights) {
    if (night.fingerprint != fingerprint || !night.Usable()) continue;
    const double ratio = night.comparison.ratio;
    if (night.library.digest == night.reference.digest) {
      ratios.push_back(ratio);
    } else {
      pairs[{night.library.digest, night.reference.digest}].push_back(ratio);
    }
  }
  for (const auto& [pair, found] : pairs) {
    if (found.size() < kLeastOfPair) continue;
    const double middle = Median(found);
    for (double ratio : found) ratios.push_back(ratio / middle);
  }
  return ratios;
}

}  // namespace hone::nightly

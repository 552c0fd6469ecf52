#include "pipeline/best_file.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"

namespace hone::pipeline {
namespace {

constexpr int64_t kVersion = 1;
constexpr std::pair<BestSource, const char*> kSources[] = {
    {BestSource::kTuned, "tuned"}, {BestSource::kAnchor, "anchor"}, {BestSource::kDefault, "default"}};

Json EntryJson(const BestEntry& e) {
  Json j = {{"id", e.id}, {"workload", e.workload}, {"source", BestSourceName(e.source)}};
  if (!e.config) return j;
  j["config"] = Json::parse(e.config->ToJson());
  j["median"] = e.median;
  j["fingerprint"] = e.fingerprint;
  j["from"] = e.from;
  j["trial"] = e.trial;
  j["host"] = e.host;
  j["recorded"] = e.recorded;
  j["steps_digest"] = e.steps_digest;
  return j;
}

Result<BestEntry> ReadEntry(JsonReader* reader) {
  BestEntry e;
  std::string source;
  HONE_RETURN_IF_ERROR(reader->Read("id", &e.id));
  HONE_RETURN_IF_ERROR(reader->Read("workload", &e.workload));
  HONE_RETURN_IF_ERROR(reader->Read("source", &source));
  bool known = false;
  for (const auto& [value, name] : kSources) {
    if (source != name) continue;
    e.source = value;
    known = true;
  }
  if (!known) return reader->Error("source", "expected tuned, anchor or default, found `" + source + "`");
  if (e.source != BestSource::kDefault) {
    JsonReader config;
    HONE_RETURN_IF_ERROR(reader->Read("config", &config));
    Result<Config> parsed = Config::FromJson(config.value().dump());
    if (!parsed.ok()) return reader->Error("config", parsed.status().message());
    e.config = std::move(*parsed);
    HONE_RETURN_IF_ERROR(reader->Read("median", &e.median));
    HONE_RETURN_IF_ERROR(reader->Read("fingerprint", &e.fingerprint));
    HONE_RETURN_IF_ERROR(reader->Read("from", &e.from));
    HONE_RETURN_IF_ERROR(reader->Read("trial", &e.trial));
    HONE_RETURN_IF_ERROR(reader->Read("host", &e.host));
    HONE_RETURN_IF_ERROR(reader->Read("recorded", &e.recorded));
    HONE_RETURN_IF_ERROR(reader->Read("steps_digest", &e.steps_digest));
    if (!(e.median > 0)) return reader->Error("median", "must be above 0");
  }
  HONE_RETURN_IF_ERROR(reader->Finish());
  return e;
}

}  // namespace

const char* BestSourceName(BestSource source) {
  for (const auto& [value, name] : kSources) {
    if (value == source) return name;
  }
  return "?";
}

const BestEntry* BestFile::Find(std::string_view id) const {
  for (const BestEntry& e : tasks) {
    if (e.id == id) return &e;
  }
  return nullptr;
}

std::string BestFileText(const BestFile& best) {
  Json tasks = Json::array();
  for (const BestEntry& e : best.tasks) tasks.push_back(EntryJson(e));
  return DumpJson(
      Json{{"version", kVersion}, {"network", best.network}, {"target", best.target}, {"tasks", std::move(tasks)}});
}

Result<BestFile> ParseBestFile(std::string_view text, const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(text, path));
  JsonReader reader(json, path);
  HONE_RETURN_IF_ERROR(reader.ReadVersion(kVersion));
  BestFile best;
  std::vector<JsonReader> tasks;
  HONE_RETURN_IF_ERROR(reader.Read("network", &best.network));
  HONE_RETURN_IF_ERROR(reader.Read("target", &best.target));
  HONE_RETURN_IF_ERROR(reader.Read("tasks", &tasks));
  HONE_RETURN_IF_ERROR(reader.Finish());
  for (JsonReader& task : tasks) {
    HONE_ASSIGN_OR_RETURN(BestEntry entry, ReadEntry(&task));
    if (best.Find(entry.id)) return task.Error("id", fmt::format("'{}' is listed twice", entry.id));
    best.tasks.push_back(std::move(entry));
  }
  return best;
}

Result<BestFile> ReadBestFile(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseBestFile(text, path);
}

}  // namespace hone::pipeline

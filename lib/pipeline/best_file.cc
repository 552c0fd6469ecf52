#include "pipeline/best_file.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "task/workload.h"

namespace hone::pipeline {
namespace {

constexpr int64_t kBestFileVersion = 3;
constexpr std::pair<BestSource, const char*> kSources[] = {
    {BestSource::kTuned, "tuned"}, {BestSource::kAnchor, "anchor"}, {BestSource::kDefault, "default"}};

Json FinalistJson(const Finalist& f) {
  Json j = {{"config", Json::parse(f.config.ToJson())},
            {"steps_digest", f.steps_digest},
            {"median", f.median},
            {"trial", f.trial},
            {"host", f.host},
            {"recorded", f.recorded}};
  if (f.in_network > 0) j["in_network"] = f.in_network;
  return j;
}

Json EntryJson(const BestEntry& e) {
  Json j = {{"id", e.id}, {"workload", e.workload}, {"source", BestSourceName(e.source)}};
  if (!e.config) return j;
  j["config"] = Json::parse(e.config->ToJson());
  j["steps_digest"] = e.steps_digest;
  if (!(e.median > 0)) return j;
  j["median"] = e.median;
  j["fingerprint"] = e.fingerprint;
  j["from"] = e.from;
  j["trial"] = e.trial;
  j["host"] = e.host;
  j["recorded"] = e.recorded;
  if (e.finalists.empty()) return j;
  j["finalists"] = Json::array();
  for (const Finalist& f : e.finalists) j["finalists"].push_back(FinalistJson(f));
  return j;
}

Json InNetworkJson(const InNetwork& n) {
  Json compared = Json::array();
  for (const ComparedChoice& c : n.compared) {
    compared.push_back({{"what", c.what},
                        {"with_seconds", c.with_seconds},
                        {"without_seconds", c.without_seconds},
                        {"runs", c.runs},
                        {"kept", c.kept}});
  }
  return {{"key", n.key},
          {"kept", n.kept ? "confirmed" : "alone"},
          {"alone_seconds", n.alone_seconds},
          {"confirmed_seconds", n.confirmed_seconds},
          {"runs", n.runs},
          {"compared", std::move(compared)},
          {"host", n.host},
          {"recorded", n.recorded}};
}

Status ReadConfig(JsonReader* reader, std::optional<Config>* out) {
  JsonReader config;
  HONE_RETURN_IF_ERROR(reader->Read("config", &config));
  Result<Config> parsed = Config::FromJson(config.value().dump());
  if (!parsed.ok()) return reader->Error("config", parsed.status().message());
  *out = std::move(*parsed);
  return Status();
}

Status ReadSeconds(JsonReader* reader, const std::string& key, double* out) {
  HONE_RETURN_IF_ERROR(reader->Read(key, out));
  return *out > 0 ? Status() : reader->Error(key, "must be above 0");
}

Result<Finalist> ReadFinalist(JsonReader* reader) {
  Finalist f;
  std::optional<Config> config;
  HONE_RETURN_IF_ERROR(ReadConfig(reader, &config));
  f.config = std::move(*config);
  HONE_RETURN_IF_ERROR(reader->Read("steps_digest", &f.steps_digest));
  HONE_RETURN_IF_ERROR(ReadSeconds(reader, "median", &f.median));
  HONE_RETURN_IF_ERROR(reader->Read("trial", &f.trial));
  HONE_RETURN_IF_ERROR(reader->Read("host", &f.host));
  HONE_RETURN_IF_ERROR(reader->Read("recorded", &f.recorded));
  if (reader->Has("in_network")) HONE_RETURN_IF_ERROR(ReadSeconds(reader, "in_network", &f.in_network));
  HONE_RETURN_IF_ERROR(reader->Finish());
  return f;
}

Status ReadFigures(JsonReader* reader, BestEntry* e) {
  HONE_RETURN_IF_ERROR(ReadSeconds(reader, "median", &e->median));
  HONE_RETURN_IF_ERROR(reader->Read("fingerprint", &e->fingerprint));
  HONE_RETURN_IF_ERROR(reader->Read("from", &e->from));
  HONE_RETURN_IF_ERROR(reader->Read("trial", &e->trial));
  HONE_RETURN_IF_ERROR(reader->Read("host", &e->host));
  HONE_RETURN_IF_ERROR(reader->Read("recorded", &e->recorded));
  std::vector<JsonReader> finalists;
  HONE_RETURN_IF_ERROR(reader->ReadOptional("finalists", &finalists));
  for (JsonReader& item : finalists) {
    HONE_ASSIGN_OR_RETURN(Finalist finalist, ReadFinalist(&item));
    e->finalists.push_back(std::move(finalist));
  }
  return Status();
}

Result<BestEntry> ReadBestEntry(JsonReader* reader) {
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
    HONE_RETURN_IF_ERROR(ReadConfig(reader, &e.config));
    HONE_RETURN_IF_ERROR(reader->Read("steps_digest", &e.steps_digest));
    if (reader->Has("median")) HONE_RETURN_IF_ERROR(ReadFigures(reader, &e));
  }
  HONE_RETURN_IF_ERROR(reader->Finish());
  return e;
}

Result<InNetwork> ReadInNetwork(JsonReader* reader) {
  InNetwork n;
  std::string kept;
  HONE_RETURN_IF_ERROR(reader->Read("key", &n.key));
  HONE_RETURN_IF_ERROR(reader->Read("kept", &kept));
  if (kept != "confirmed" && kept != "alone") {
    return reader->Error("kept", "expected confirmed or alone, found `" + kept + "`");
  }
  n.kept = kept == "confirmed";
  HONE_RETURN_IF_ERROR(ReadSeconds(reader, "alone_seconds", &n.alone_seconds));
  HONE_RETURN_IF_ERROR(ReadSeconds(reader, "confirmed_seconds", &n.confirmed_seconds));
  HONE_RETURN_IF_ERROR(reader->Read("runs", &n.runs));
  HONE_RETURN_IF_ERROR(reader->Read("host", &n.host));
  HONE_RETURN_IF_ERROR(reader->Read("recorded", &n.recorded));
  std::vector<JsonReader> compared;
  HONE_RETURN_IF_ERROR(reader->ReadOptional("compared", &compared));
  HONE_RETURN_IF_ERROR(reader->Finish());
  for (JsonReader& item : compared) {
    ComparedChoice c;
    HONE_RETURN_IF_ERROR(item.Read("what", &c.what));
    HONE_RETURN_IF_ERROR(ReadSeconds(&item, "with_seconds", &c.with_seconds));
    HONE_RETURN_IF_ERROR(ReadSeconds(&item, "without_seconds", &c.without_seconds));
    HONE_RETURN_IF_ERROR(item.Read("runs", &c.runs));
    HONE_RETURN_IF_ERROR(item.Read("kept", &c.kept));
    HONE_RETURN_IF_ERROR(item.Finish());
    n.compared.push_back(std::move(c));
  }
  return n;
}

Result<PartitionFigures> ReadPartition(JsonReader* reader) {
  PartitionFigures p;
  HONE_RETURN_IF_ERROR(ReadSeconds(reader, "alone_seconds", &p.alone_seconds));
  HONE_RETURN_IF_ERROR(ReadSeconds(reader, "chosen_seconds", &p.chosen_seconds));
  HONE_RETURN_IF_ERROR(reader->Read("taken", &p.taken));
  HONE_RETURN_IF_ERROR(reader->Read("exact", &p.exact));
  HONE_RETURN_IF_ERROR(reader->Finish());
  return p;
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

void BestEntry::Choose(const Finalist& finalist) {
  config = finalist.config;
  median = finalist.median;
  trial = finalist.trial;
  host = finalist.host;
  recorded = finalist.recorded;
  steps_digest = finalist.steps_digest;
}

std::string BestFileText(const BestFile& best) {
  Json tasks = Json::array();
  for (const BestEntry& e : best.tasks) tasks.push_back(EntryJson(e));
  Json json = {
      {"version", kBestFileVersion}, {"network", best.network}, {"target", best.target}, {"tasks", std::move(tasks)}};
  json["alternatives"] = AlternativesJson(best.alternatives);
  json["share"] = {{"slices", best.share.slices}, {"in_place", best.share.in_place}};
  if (const auto& p = best.partition) {
    json["partition"] = {{"alone_seconds", p->alone_seconds},
                         {"chosen_seconds", p->chosen_seconds},
                         {"taken", p->taken},
                         {"exact", p->exact}};
  }
  if (best.in_network) json["in_network"] = InNetworkJson(*best.in_network);
  return DumpJson(json);
}

std::string ChoiceText(const BestFile& best, const std::set<std::string>* built) {
  BestFile choice{best.network, best.target, {}, std::nullopt, best.alternatives, best.share};
  for (const BestEntry& e : best.tasks) {
    if (built != nullptr && built->count(e.id) == 0) continue;
    choice.tasks.push_back(e);
    choice.tasks.back().median = 0;  // without it no other figure is written
  }
  return BestFileText(choice);
}

Result<BestFile> ParseBestFile(std::string_view text, const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(text, path));
  JsonReader reader(json, path);
  HONE_RETURN_IF_ERROR(reader.ReadVersion(kBestFileVersion));
  BestFile best;
  std::vector<JsonReader> tasks;
  HONE_RETURN_IF_ERROR(reader.Read("network", &best.network));
  HONE_RETURN_IF_ERROR(reader.Read("target", &best.target));
  HONE_RETURN_IF_ERROR(reader.Read("tasks", &tasks));
  if (reader.Has("in_network")) {
    JsonReader item;
    HONE_RETURN_IF_ERROR(reader.Read("in_network", &item));
    HONE_ASSIGN_OR_RETURN(best.in_network, ReadInNetwork(&item));
  }
  HONE_RETURN_IF_ERROR(ReadAlternatives(&reader, "alternatives", &best.alternatives));
  if (reader.Has("share")) {
    JsonReader item;
    HONE_RETURN_IF_ERROR(reader.Read("share", &item));
    HONE_RETURN_IF_ERROR(item.Read("slices", &best.share.slices));
    HONE_RETURN_IF_ERROR(item.Read("in_place", &best.share.in_place));
    HONE_RETURN_IF_ERROR(item.Finish());
  }
  if (reader.Has("partition")) {
    JsonReader item;
    HONE_RETURN_IF_ERROR(reader.Read("partition", &item));
    HONE_ASSIGN_OR_RETURN(best.partition, ReadPartition(&item));
  }
  HONE_RETURN_IF_ERROR(reader.Finish());
  for (JsonReader& task : tasks) {
    HONE_ASSIGN_OR_RETURN(BestEntry entry, ReadBestEntry(&task));
    if (best.Find(entry.id)) return task.Error("id", fmt::format("'{}' is listed twice", entry.id));
    best.tasks.push_back(std::move(entry));
  }
  return best;
}

Result<BestFile> ReadBestFile(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseBestFile(text, path);
}

Status CheckTaskIds(const BestFile& best) {
  for (const BestEntry& entry : best.tasks) {
    const auto workload = Workload::Parse(entry.workload);
    const std::string id = workload.ok() ? TaskId(*workload, best.target) : "none";
    if (entry.id == id) continue;
    return Status::Invalid(
        fmt::format("the entry of task {} is of another one: `{}` on this target is {}; run hone-pick-best again",
                    Printable(entry.id), Printable(entry.workload), id));
  }
  return Status();
}

}  // namespace hone::pipeline

#include "nightly/quality.h"

#include "base/file.h"
#include "base/json.h"
#include "base/statistics.h"
#include "nightly/lines.h"

namespace hone::nightly {
namespace {

constexpr int64_t kQualityVersion = 1;

Result<QualityRun> ReadRun(JsonReader reader) {
  QualityRun run;
  int64_t seed = 0;
  HONE_RETURN_IF_ERROR(reader.Read("seed", &seed));
  HONE_RETURN_IF_ERROR(reader.Read("seconds", &run.seconds));
  HONE_RETURN_IF_ERROR(reader.Read("trials", &run.trials));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("curve", &run.curve));
  HONE_RETURN_IF_ERROR(reader.Finish());
  run.seed = static_cast<uint64_t>(seed);
  return run;
}

Result<QualityTask> ReadTask(JsonReader reader) {
  QualityTask task;
  std::vector<JsonReader> runs;
  HONE_RETURN_IF_ERROR(reader.Read("id", &task.id));
  HONE_RETURN_IF_ERROR(reader.Read("weight", &task.weight));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("recorded_seconds", &task.recorded_seconds));
  HONE_RETURN_IF_ERROR(reader.Read("runs", &runs));
  HONE_RETURN_IF_ERROR(reader.Finish());
  for (const JsonReader& run : runs) {
    HONE_ASSIGN_OR_RETURN(QualityRun read, ReadRun(run));
    task.runs.push_back(std::move(read));
  }
  return task;
}

Result<QualityNight> ReadQualityNight(JsonReader* reader) {
  QualityNight night;
  std::vector<JsonReader> tasks;
  HONE_RETURN_IF_ERROR(reader->ReadVersion(kQualityVersion));
  for (const auto& [key, value] : {std::pair{"night", &night.night},
                                   {"recorded", &night.recorded},
                                   {"host", &night.host},
                                   {"fingerprint", &night.fingerprint},
                                   {"tools", &night.tools}}) {
    HONE_RETURN_IF_ERROR(reader->Read(key, value));
  }
  HONE_RETURN_IF_ERROR(reader->Read("trials", &night.trials));
  if (reader->Has("canary")) {
    JsonReader canary;
    HONE_RETURN_IF_ERROR(reader->Read("canary", &canary));
    HONE_RETURN_IF_ERROR(canary.Read("digest", &night.canary_digest));
    HONE_RETURN_IF_ERROR(canary.Read("seconds", &night.canary_seconds));
    HONE_RETURN_IF_ERROR(canary.Finish());
  }
  HONE_RETURN_IF_ERROR(reader->Read("tasks", &tasks));
  for (const JsonReader& task : tasks) {
    HONE_ASSIGN_OR_RETURN(QualityTask read, ReadTask(task));
    night.tasks.push_back(std::move(read));
  }
  HONE_RETURN_IF_ERROR(reader->ReadOptional("failure", &night.failure));
  HONE_RETURN_IF_ERROR(reader->Finish());
  return night;
}

bool SameQuestion(const QualityNight& a, const QualityNight& b) {
  if (a.trials != b.trials || a.tasks.size() != b.tasks.size() || a.canary_digest != b.canary_digest) return false;
  for (size_t i = 0; i < a.tasks.size(); ++i) {
    if (a.tasks[i].id != b.tasks[i].id || a.tasks[i].weight != b.tasks[i].weight) return false;
  }
  return true;
}

}  // namespace

double QualityNight::LevelSeconds() const {
  double level = 0;
  for (const QualityTask& task : tasks) {
    std::vector<double> found;
    for (const QualityRun& run : task.runs) {
      if (run.seconds > 0) found.push_back(run.seconds);
    }
    if (found.empty()) return 0;
    level += static_cast<double>(task.weight) * Median(found);
  }
  return failure.empty() ? level : 0;
}

std::string QualityText(const QualityNight& night) {
  Json json = {{"version", kQualityVersion},       {"night", night.night},
               {"recorded", night.recorded},       {"host", night.host},
               {"fingerprint", night.fingerprint}, {"tools", night.tools},
               {"trials", night.trials},           {"tasks", Json::array()}};
  if (night.canary_seconds > 0) json["canary"] = {{"digest", night.canary_digest}, {"seconds", night.canary_seconds}};
  for (const QualityTask& task : night.tasks) {
    Json item = {{"id", task.id}, {"weight", task.weight}, {"runs", Json::array()}};
    if (task.recorded_seconds > 0) item["recorded_seconds"] = task.recorded_seconds;
    for (const QualityRun& run : task.runs) {
      item["runs"].push_back({{"seed", static_cast<int64_t>(run.seed)},
                              {"seconds", run.seconds},
                              {"trials", run.trials},
                              {"curve", run.curve}});
    }
    json["tasks"].push_back(std::move(item));
  }
  if (!night.failure.empty()) json["failure"] = night.failure;
  return DumpJson(json, -1);
}

Result<QualityHistory> ParseQuality(std::string_view text, const std::string& path) {
  QualityHistory history;
  int torn = 0;
  HONE_RETURN_IF_ERROR(ForEachLine(text, path, &torn, &history.damaged, [&](JsonReader* reader) -> Status {
    HONE_ASSIGN_OR_RETURN(QualityNight night, ReadQualityNight(reader));
    history.nights.push_back(std::move(night));
    return Status();
  }));
  if (torn > 0) history.damaged.push_back(path + ": the last line was cut off");
  return history;
}

Result<QualityHistory> ReadQuality(const std::string& path) {
  if (!Exists(path)) return QualityHistory();
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseQuality(text, path);
}

std::vector<double> QualityValues(const std::vector<QualityNight>& nights) {
  std::vector<double> values;
  for (const QualityNight& night : nights) {
    const bool comparable = night.canary_seconds > 0 && SameQuestion(night, nights.back());
    values.push_back(comparable ? night.LevelSeconds() / night.canary_seconds : 0);
  }
  return values;
}

}  // namespace hone::nightly

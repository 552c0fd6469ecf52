#include "nightly/quality.h"

#include "base/fields.h"
#include "base/file.h"
#include "base/statistics.h"
#include "nightly/lines.h"

namespace hone::nightly {
namespace {

constexpr int64_t kQualityVersion = 1;

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

static void ListFields(Fields* f, QualityRun* run) {
  f->Value("seed", &run->seed);
  f->Value("seconds", &run->seconds);
  f->Value("trials", &run->trials);
  f->Maybe("curve", &run->curve);
}

static void ListFields(Fields* f, QualityTask* task) {
  f->Value("id", &task->id);
  f->Value("weight", &task->weight);
  f->Value("runs", &task->runs);
  f->Maybe("recorded_seconds", &task->recorded_seconds, task->recorded_seconds > 0);
}

static void ListFields(Fields* f, QualityNight* night) {
  f->Version(kQualityVersion);
  f->Value("night", &night->night);
  f->Value("recorded", &night->recorded);
  f->Value("host", &night->host);
  f->Value("fingerprint", &night->fingerprint);
  f->Value("tools", &night->tools);
  f->Value("trials", &night->trials);
  f->Value("tasks", &night->tasks);
  const auto canary = [night](Fields* c) {
    c->Value("digest", &night->canary_digest);
    c->Value("seconds", &night->canary_seconds);
  };
  f->MaybeObject("canary", canary, night->canary_seconds > 0);
  f->Maybe("failure", &night->failure, !night->failure.empty());
}

std::string QualityText(const QualityNight& night) { return FieldsText(night, -1); }

Result<QualityHistory> ParseQuality(std::string_view text, const std::string& path) {
  QualityHistory history;
  int torn = 0;
  HONE_RETURN_IF_ERROR(ForEachLine(text, path, &torn, &history.damaged, [&](JsonReader* reader) -> Status {
    HONE_ASSIGN_OR_RETURN(QualityNight night, FieldsFrom<QualityNight>(reader->value(), reader->file()));
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

#include "pipeline/progress_file.h"

#include "base/json.h"
#include "base/text.h"

namespace hone::pipeline {

std::string ProgressPath(const std::string& db) {
  return (EndsWith(db, ".db") ? db.substr(0, db.size() - 3) : db) + kProgressEnding;
}

Result<JobProgress> ReadProgress(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const Json json, ReadJsonFile(path));
  JsonReader reader(json, path), best;
  JobProgress job;
  HONE_RETURN_IF_ERROR(reader.ReadVersion(1));
  HONE_RETURN_IF_ERROR(reader.Read("task", &job.task));
  HONE_RETURN_IF_ERROR(reader.Read("state", &job.state));
  HONE_RETURN_IF_ERROR(reader.Read("host", &job.host));
  HONE_RETURN_IF_ERROR(reader.Read("updated", &job.updated));
  HONE_RETURN_IF_ERROR(reader.Read("trials", &job.trials));
  HONE_RETURN_IF_ERROR(reader.Read("budget", &job.budget));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("pid", &job.pid));
  double tuning = 0;
  HONE_RETURN_IF_ERROR(reader.ReadOptional("tuning_seconds", &tuning));
  if (reader.Has("best")) {
    HONE_RETURN_IF_ERROR(reader.Read("best", &best));
    HONE_RETURN_IF_ERROR(best.Read("seconds", &job.best_seconds));
  }
  if (job.trials > 0 && tuning > 0) job.trial_seconds = tuning / static_cast<double>(job.trials);
  return job;
}

}  // namespace hone::pipeline

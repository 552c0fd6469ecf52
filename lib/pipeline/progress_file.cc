#include "pipeline/progress_file.h"

#include "base/fields.h"
#include "base/text.h"

namespace hone::pipeline {

std::string ProgressPath(const std::string& db) {
  return (EndsWith(db, ".db") ? db.substr(0, db.size() - 3) : db) + kProgressEnding;
}

static void ListFields(Fields* f, JobProgress* job) {
  f->Version(1);
  HONE_VALUES(f, job->task, job->state, job->host, job->updated, job->trials, job->budget);
  f->Maybe("pid", &job->pid);
  double tuning = 0;
  f->Maybe("tuning_seconds", &tuning);
  f->MaybeObject("best", [job](Fields* best) {
    best->Value("seconds", &job->best_seconds);
    best->AllowOthers();
  });
  f->AllowOthers();
  if (job->trials > 0 && tuning > 0) job->trial_seconds = tuning / static_cast<double>(job->trials);
}

Result<JobProgress> ReadProgress(const std::string& path) { return ReadFields<JobProgress>(path); }

}  // namespace hone::pipeline

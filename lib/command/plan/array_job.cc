#include "command/plan/array_job.h"

#include <set>

#include "base/counted.h"
#include "base/fields.h"
#include "base/text.h"

namespace hone::command {

static void ListFields(Fields* f, ArrayJob* job) {
  f->Value("job", &job->number);
  f->Value("stage", &job->stage);
  f->Maybe("after", &job->after);
  f->Value("what", &job->what);
  f->Value("outputs", &job->outputs).Check(!job->outputs.empty(), "names no file");
  f->Maybe("seconds", &job->seconds);
  f->Maybe("argv", &job->argv);
  f->AllowOthers();
}

std::string ArrayJobsText(const std::vector<ArrayJob>& jobs) {
  std::string text;
  for (const ArrayJob& job : jobs) text += FieldsText(job, -1);
  return text;
}

Result<ArrayJob> ParseArrayJob(const std::string& text, int64_t number, const std::string& path) {
  const std::vector<std::string> lines = Split(text, '\n');  // the last piece, after the newline, is no job
  const auto count = static_cast<int64_t>(lines.size()) - lines.back().empty();
  if (number < 1 || number > count || lines[static_cast<size_t>(number) - 1].empty()) {
    return Status::Invalid("{}: no job {}; it has {}", path, number, count);
  }
  const std::string where = fmt::format("{}:{}", path, number);
  HONE_ASSIGN_OR_RETURN(ArrayJob job, ParseFields<ArrayJob>(lines[static_cast<size_t>(number) - 1], where));
  if (job.number == number) return job;
  return Status::Invalid("{}: /job: is {} in line {}", where, job.number, number);
}

std::string StagesText(const std::vector<ArrayJob>& jobs) {
  std::string text;
  for (size_t first = 0; first < jobs.size();) {
    size_t last = first;
    double seconds = 0;
    std::set<std::string> rules;
    for (; last < jobs.size() && jobs[last].stage == jobs[first].stage; ++last) {
      seconds += jobs[last].seconds;
      rules.insert(jobs[last].what.substr(0, jobs[last].what.rfind(' ')));
    }
    const size_t count = last - first;
    text += fmt::format("{} {}-{} {}: {}; about {} each\n",
                        jobs[first].stage == 0 ? "ninja" : std::to_string(jobs[first].stage), first + 1, last,
                        Counted(static_cast<int64_t>(count), "job"), Join({rules.begin(), rules.end()}, ", "),
                        FormatSeconds(seconds / static_cast<double>(count)));
    first = last;
  }
  return text;
}

}  // namespace hone::command

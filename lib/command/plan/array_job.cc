#include "command/plan/array_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/json.h"
#include "base/text.h"

namespace hone::command {

std::string ArrayJobsText(const std::vector<ArrayJob>& jobs) {
  std::string text;
  for (const ArrayJob& job : jobs) {
    text += DumpJson({{"job", job.number},
                      {"stage", job.stage},
                      {"after", job.after},
                      {"what", job.what},
                      {"outputs", job.outputs},
                      {"seconds", job.seconds},
                      {"argv", job.argv}},
                     -1);
  }
  return text;
}

Result<ArrayJob> ParseArrayJob(const std::string& text, int64_t number, const std::string& path) {
  int64_t line_number = 0;
  for (const std::string& line : Split(text, '\n')) {
    if (++line_number != number || line.empty()) continue;
    const std::string where = fmt::format("{}:{}", path, number);
    HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(line, where));
    JsonReader reader(json, where);
    ArrayJob job;
    HONE_RETURN_IF_ERROR(reader.Read("job", &job.number));
    HONE_RETURN_IF_ERROR(reader.Read("what", &job.what));
    HONE_RETURN_IF_ERROR(reader.Read("stage", &job.stage));
    HONE_RETURN_IF_ERROR(reader.Read("outputs", &job.outputs));
    if (job.number != number) return reader.Error("job", fmt::format("is {} in line {}", job.number, number));
    if (job.outputs.empty()) return reader.Error("outputs", "names no file");
    return job;
  }
  return Status::Invalid(fmt::format("{}: no job {}; it has {}", path, number, std::max<int64_t>(line_number - 1, 0)));
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
    text += fmt::format("{} {}-{} {} job{}: {}; about {} each\n",
                        jobs[first].stage == 0 ? "ninja" : std::to_string(jobs[first].stage), first + 1, last, count,
                        count == 1 ? "" : "s", Join({rules.begin(), rules.end()}, ", "),
                        FormatSeconds(seconds / static_cast<double>(count)));
    first = last;
  }
  return text;
}

}  // namespace hone::command

#include "nightly/report.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "base/file.h"
#include "nightly/night_file.h"
#include "report/junit_suite.h"

namespace hone::nightly {
namespace {

using report::JunitCase;

// The trend is made of all nights, as its levels and epochs need them; then the last ones stay.
void Shorten(NightlyJob* job, size_t* older) {
  if (job->nights.size() <= kNightsShown) return;
  const size_t cut = job->nights.size() - kNightsShown;
  *older = std::max(*older, cut);
  const auto erase = [cut](auto* list) {
    list->erase(list->begin(), list->begin() + static_cast<std::ptrdiff_t>(cut));
  };
  erase(&job->nights);
  erase(&job->trend.values);
  erase(&job->trend.epochs);
  std::erase_if(job->trend.changes, [cut](const ChangePoint& change) { return change.index < cut; });
  for (ChangePoint& change : job->trend.changes) change.index -= cut;
}

// Returns the value that was read, or a default one after adding the error to `data->problems`. `must`: without this
// file there is no verdict either.
template <typename T>
T Take(Result<T> read, bool must, NightlyData* data) {
  if (read.ok()) return std::move(*read);
  data->problems.push_back(read.status().message());
  if (must && data->unreadable.ok()) data->unreadable = read.status();
  return T();
}

JunitCase::State JunitState(JobState state) {
  if (state == JobState::kSlower) return JunitCase::State::kFailed;
  if (state == JobState::kFailed || state == JobState::kMissing) return JunitCase::State::kError;
  return state == JobState::kEnvironment ? JunitCase::State::kSkipped : JunitCase::State::kPassed;
}

}  // namespace

std::vector<const NightlyJob*> NightlyData::ByInterest() const {
  std::vector<const NightlyJob*> order;
  for (const NightlyJob& job : jobs) order.push_back(&job);
  std::stable_sort(order.begin(), order.end(),
                   [](const NightlyJob* a, const NightlyJob* b) { return a->verdict.state < b->verdict.state; });
  return order;
}

const Night* NightlyData::Tonight(const NightlyJob& job) const {
  const auto found = std::find_if(job.nights.rbegin(), job.nights.rend(),
                                  [&](const Night& night) { return night.night == verdict.night; });
  return found == job.nights.rend() ? nullptr : &*found;
}

NightlyData ReadNights(const NightlyFolders& folders) {
  NightlyData data;
  data.series = folders.series;
  data.night = Take(LastNight(SeriesDir(folders.nights, folders.series)), true, &data);
  for (const std::string& name : Take(AcceptedJobs(folders.accepted), true, &data)) {
    NightlyJob& job = data.jobs.emplace_back();
    job.job = name;
    History history = Take(ReadHistory(HistoryPath(folders.nights, folders.series, name)), true, &data);
    job.nights = std::move(history.nights);
    for (const std::string& line : history.damaged) data.problems.push_back(line + "; skipping this night");
    job.accepted = Take(ReadAcceptances(folders.accepted, name), false, &data);
    const std::string page = name + "/index.html";
    if (Exists(JoinPath(DirName(folders.out), page))) job.page = "../" + page;
  }
  Conclude(&data);
  return data;
}

void Conclude(NightlyData* data) {
  std::map<std::string, std::vector<Night>> histories;
  for (const NightlyJob& job : data->jobs) histories[job.job] = job.nights;
  data->verdict = Judge(histories, data->night);
  data->older = 0;
  for (NightlyJob& job : data->jobs) {
    for (const JobVerdict& verdict : data->verdict.jobs) {
      if (verdict.job == job.job) job.verdict = verdict;
    }
    job.trend = TrendOf(job.nights);
    Shorten(&job, &data->older);
  }
}

std::string NightlyJunit(const NightlyData& data) {
  report::JunitSuite suite{data.series == "main" ? "nightly" : "nightly-" + data.series, 0, data.verdict.night, "", {}};
  for (const NightlyJob& job : data.jobs) {
    JunitCase c{job.job + ": as fast as accepted", 0, JunitState(job.verdict.state), job.verdict.words, ""};
    if (const Night* night = data.Tonight(job)) {
      for (const double seconds : night->library.processes) c.seconds += seconds;
      suite.host = night->host;
    }
    suite.seconds += c.seconds;
    suite.cases.push_back(std::move(c));
  }
  // A night without anything to compare must not look like one in which all is well.
  if (data.jobs.empty())
    suite.cases.push_back({"accepted libraries", 0, JunitCase::State::kError, "nothing is accepted", ""});
  return JunitSuiteText(suite);
}

Status WriteNightlyReport(const NightlyData& data, const std::string& out) {
  HONE_RETURN_IF_ERROR(MakeDirs(out));
  for (const auto& [name, text] : {std::pair{"junit.xml", NightlyJunit(data)}, {"index.html", NightlyHtml(data)}}) {
    const Result<bool> written = WriteFileIfChanged(JoinPath(out, name), text);
    if (!written.ok()) return written.status();
  }
  return Status();
}

}  // namespace hone::nightly

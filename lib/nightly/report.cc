#include "nightly/report.h"

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "nightly/night_file.h"
#include "report/outputs.h"

namespace hone::nightly {
namespace {

using report::JunitCase;

std::string Figures(const Night& night) {
  const Comparison& c = night.comparison;
  auto percent = [](double ratio) { return fmt::format("{:+.1f}", 100 * (ratio - 1)); };
  return fmt::format("{} % ({} .. {}), p = {:.2g}", percent(c.ratio), percent(c.low), percent(c.high), c.p);
}

JobState StateOf(const Night& night) {
  if (!night.failure.empty()) return JobState::kFailed;
  if (!night.environment.empty()) return JobState::kEnvironment;
  if (night.comparison.change == Change::kNone) return JobState::kFine;
  return night.comparison.change == Change::kSlower ? JobState::kSlower : JobState::kFaster;
}

// Returns the value that was read, or a default one after adding the error to `data->problems`. `must`: the verdict
// needs this file.
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

std::string NightWords(const Night& night) {
  if (!night.failure.empty()) return night.failure;
  std::string words = Figures(night);
  if (!night.environment.empty()) {
    words += ": " + night.environment;
  } else if (night.comparison.change != Change::kNone) {
    words += ", confirmed by a repeat";
  } else if (night.repeat) {
    words += ", not confirmed by the repeat";
  }
  if (!night.no_canary.empty()) words += "; without its canary: " + night.no_canary;
  return words;
}

const char* JobStateName(JobState state) {
  constexpr const char* kNames[] = {"slower", "failed", "missing", "environment", "faster", "fine"};
  return kNames[static_cast<size_t>(state)];
}

Verdict Judge(const std::map<std::string, std::vector<Night>>& histories, std::string night) {
  Verdict verdict;
  // Ids are times in one text format: the largest is the last.
  if (night.empty()) {
    for (const auto& [job, nights] : histories) {
      for (const Night& n : nights) night = std::max(night, n.night);
    }
  }
  verdict.night = night;
  for (const auto& [job, nights] : histories) {
    JobVerdict& of = verdict.jobs.emplace_back();
    of.job = job;
    of.words = "accepted, but nothing was measured in this night";
    for (const Night& n : nights) {
      if (n.night == night) of.state = StateOf(n), of.words = NightWords(n);
    }
  }
  return verdict;
}

int Verdict::Count(JobState state) const {
  return static_cast<int>(std::ranges::count(jobs, state, &JobVerdict::state));
}

int Verdict::ExitCode() const {
  if (Count(JobState::kSlower) > 0) return 1;
  return Count(JobState::kFine) + Count(JobState::kFaster) > 0 ? 0 : 3;
}

std::string Verdict::Text() const {
  const int slower = Count(JobState::kSlower), faster = Count(JobState::kFaster), fine = Count(JobState::kFine);
  const int all = static_cast<int>(jobs.size());
  std::string text;
  if (all == 0) {
    text =
        "nothing is accepted, so there is nothing to compare with; `hone-report accept --reason WHY NET.TARGET` in the "
        "work folder makes the library of a job its reference\n";
  } else if (slower > 0) {
    text = fmt::format("{} of {} {} slower than accepted\n", slower, all, slower == 1 ? "is" : "are");
  } else if (fine + faster == 0) {
    text = fmt::format("nothing usable was measured ({} accepted)\n", all);
  } else {
    text = fmt::format("no confirmed slowdown in {} of {}{}\n", fine + faster, all,
                       faster > 0 ? fmt::format("; {} faster: accept to keep it", faster) : "");
  }
  std::vector<JobVerdict> sorted = jobs;
  std::ranges::stable_sort(sorted, {}, &JobVerdict::state);
  size_t width = 0;
  for (const JobVerdict& job : sorted) width = std::max(width, job.job.size());
  for (const JobVerdict& job : sorted)
    text += fmt::format("  {:<{}}  {:<11}  {}\n", job.job, width, JobStateName(job.state), job.words);
  return text;
}

std::vector<const NightlyJob*> NightlyData::ByInterest() const {
  std::vector<const NightlyJob*> order;
  for (const NightlyJob& job : jobs) order.push_back(&job);
  std::ranges::stable_sort(order, {}, [](const NightlyJob* job) { return job->verdict.state; });
  return order;
}

const Night* NightlyData::Tonight(const NightlyJob& job) const {
  const auto found = std::find_if(job.nights.rbegin(), job.nights.rend(),
                                  [&](const Night& night) { return night.night == verdict.night; });
  return found == job.nights.rend() ? nullptr : &*found;
}

NightlyData ReadNights(const NightlyFolders& folders) {
  NightlyData data{.series = folders.series};
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
    if (job.nights.size() <= kNightsShown) continue;
    const size_t cut = job.nights.size() - kNightsShown;
    data->older = std::max(data->older, cut);
    job.nights.erase(job.nights.begin(), job.nights.begin() + static_cast<std::ptrdiff_t>(cut));
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
  // A night without anything to compare must not look as if all were well.
  if (data.jobs.empty())
    suite.cases.push_back({"accepted libraries", 0, JunitCase::State::kError, "nothing is accepted", ""});
  return JunitSuiteText(suite);
}

Status WriteNightlyReport(const NightlyData& data, const std::string& out) {
  HONE_RETURN_IF_ERROR(MakeDirs(out));
  for (const auto& [name, text] : {std::pair{"junit.xml", NightlyJunit(data)}, {"index.html", NightlyHtml(data)}}) {
    HONE_RETURN_IF_ERROR(WriteFileIfChanged(JoinPath(out, name), text).status());
  }
  return Status();
}

}  // namespace hone::nightly

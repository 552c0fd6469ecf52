#include "nightly/verdict.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone::nightly {
namespace {

std::string Figures(const Night& night) {
  const Comparison& c = night.comparison;
  auto percent = [](double ratio) { return fmt::format("{:+.1f}", 100 * (ratio - 1)); };
  return fmt::format("{} % ({} .. {}), p = {:.2g}", percent(c.ratio), percent(c.low), percent(c.high), c.p);
}

JobVerdict Of(const std::string& job, const std::vector<Night>& nights, const std::string& id) {
  JobVerdict verdict{job, JobState::kMissing, "accepted, but nothing was measured in this night"};
  for (const Night& night : nights) {
    if (night.night != id) continue;
    if (!night.failure.empty()) {
      verdict.state = JobState::kFailed;
      verdict.words = night.failure;
    } else if (!night.environment.empty()) {
      verdict.state = JobState::kEnvironment;
      verdict.words = fmt::format("{}: {}", Figures(night), night.environment);
    } else {
      const Change change = night.comparison.change;
      verdict.state = change == Change::kSlower   ? JobState::kSlower
                      : change == Change::kFaster ? JobState::kFaster
                                                  : JobState::kFine;
      verdict.words = Figures(night);
      if (change != Change::kNone) verdict.words += ", confirmed by a repeat";
      if (change == Change::kNone && night.repeat) verdict.words += ", not confirmed by the repeat";
    }
    if (night.failure.empty() && !night.no_canary.empty()) verdict.words += "; without its canary: " + night.no_canary;
  }
  return verdict;
}

}  // namespace

int Rank(JobState state) {
  switch (state) {
    case JobState::kSlower:
      return 0;
    case JobState::kFailed:
      return 1;
    case JobState::kMissing:
      return 2;
    case JobState::kEnvironment:
      return 3;
    case JobState::kFaster:
      return 4;
    case JobState::kFine:
      break;
  }
  return 5;
}

const char* JobStateName(JobState state) {
  switch (state) {
    case JobState::kFine:
      return "fine";
    case JobState::kSlower:
      return "slower";
    case JobState::kFaster:
      return "faster";
    case JobState::kEnvironment:
      return "environment";
    case JobState::kFailed:
      return "failed";
    case JobState::kMissing:
      break;
  }
  return "missing";
}

Verdict Judge(const std::map<std::string, std::vector<Night>>& histories, std::string night) {
  Verdict verdict;
  // Ids are times as text of one form: the largest is the last.
  if (night.empty()) {
    for (const auto& [job, nights] : histories) {
      for (const Night& n : nights) night = std::max(night, n.night);
    }
  }
  verdict.night = night;
  for (const auto& [job, nights] : histories) verdict.jobs.push_back(Of(job, nights, night));
  return verdict;
}

int Verdict::Count(JobState state) const {
  return static_cast<int>(
      std::count_if(jobs.begin(), jobs.end(), [&](const JobVerdict& job) { return job.state == state; }));
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
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const JobVerdict& a, const JobVerdict& b) { return Rank(a.state) < Rank(b.state); });
  size_t width = 0;
  for (const JobVerdict& job : sorted) width = std::max(width, job.job.size());
  for (const JobVerdict& job : sorted)
    text += fmt::format("  {:<{}}  {:<11}  {}\n", job.job, width, JobStateName(job.state), job.words);
  return text;
}

}  // namespace hone::nightly

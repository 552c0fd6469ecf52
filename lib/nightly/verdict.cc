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

JobState StateOf(const Night& night) {
  if (!night.failure.empty()) return JobState::kFailed;
  if (!night.environment.empty()) return JobState::kEnvironment;
  if (night.comparison.change == Change::kNone) return JobState::kFine;
  return night.comparison.change == Change::kSlower ? JobState::kSlower : JobState::kFaster;
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
  // Ids are times as text of one form: the largest is the last.
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
                   [](const JobVerdict& a, const JobVerdict& b) { return a.state < b.state; });
  size_t width = 0;
  for (const JobVerdict& job : sorted) width = std::max(width, job.job.size());
  for (const JobVerdict& job : sorted)
    text += fmt::format("  {:<{}}  {:<11}  {}\n", job.job, width, JobStateName(job.state), job.words);
  return text;
}

}  // namespace hone::nightly

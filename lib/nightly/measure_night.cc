#include "nightly/measure_night.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "nightly/environment.h"
#include "task/outcome.h"

namespace hone::nightly {
namespace {

using Times = std::map<Who, std::vector<ProcessTimes>>;

Result<Times> Rounds(const std::vector<Who>& who, int phase, int rounds, const TimeProcess& time) {
  Times times;
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < who.size(); ++i) {
      const Who next = who[round % 2 == 0 ? i : who.size() - 1 - i];
      HONE_ASSIGN_OR_RETURN(ProcessTimes process, time(next, phase, round));
      if (process.samples.empty())
        return Status::Crashed(fmt::format("a process of the {} timed nothing", WhoName(next)));
      times[next].push_back(std::move(process));
    }
  }
  return times;
}

std::vector<double> Medians(const std::vector<ProcessTimes>& processes) {
  std::vector<double> medians;
  for (const ProcessTimes& process : processes) medians.push_back(Median(process.samples));
  return medians;
}

bool OfTheArtifact(const Status& status) {
  switch (status.kind()) {
    case StatusKind::kCrashed:
    case StatusKind::kTimeout:
    case StatusKind::kCorrupt:
    case StatusKind::kInvalid:
    case StatusKind::kNotFound:
    case StatusKind::kUnsupported:
      return true;
    default:
      return false;
  }
}

// A process counts as disturbed above this share of its time, and a night as busy above that share of its processes.
constexpr double kLostShare = 0.1, kBusyShare = 0.25;

void CountDisturbed(const Times& times, int* disturbed, int* processes) {
  for (const auto& [who, all] : times) {
    for (const ProcessTimes& process : all) {
      const double timed = std::accumulate(process.samples.begin(), process.samples.end(), 0.0);
      *disturbed += process.lost > kLostShare * timed;
      ++*processes;
    }
  }
}

std::string Busy(int disturbed, int processes) {
  if (disturbed <= kBusyShare * processes) return "";
  return fmt::format(
      "the machine was busy: others kept {} of {} processes from running for more than {:.0f} % of their time",
      disturbed, processes, 100 * kLostShare);
}

Status Measure(const NightInput& input, const TimeProcess& time, Night* night) {
  const bool own_canary = !input.canary.empty() && input.canary != input.reference;
  std::vector<Who> who = {Who::kLibrary, Who::kReference};
  if (own_canary) who.push_back(Who::kCanary);
  HONE_ASSIGN_OR_RETURN(Times times, Rounds(who, 0, input.processes, time));
  int disturbed = 0, processes = 0;
  CountDisturbed(times, &disturbed, &processes);
  night->library = Summarise(input.library, times[Who::kLibrary]);
  night->reference = Summarise(input.reference, times[Who::kReference]);
  if (own_canary) night->canary = Summarise(input.canary, times[Who::kCanary]);
  if (!own_canary && !input.canary.empty()) night->canary = night->reference;
  if (night->canary) night->canary->layers.clear();

  const std::vector<double> noise = NoiseRatios(*input.before, input.fingerprint);
  night->comparison = Compare(night->library.processes, night->reference.processes, noise, input.rule);
  if (night->comparison.change != Change::kNone) {
    HONE_ASSIGN_OR_RETURN(times, Rounds({Who::kLibrary, Who::kReference}, 1, input.processes, time));
    CountDisturbed(times, &disturbed, &processes);
    Repeat repeat{Medians(times[Who::kLibrary]), Medians(times[Who::kReference])};
    const Comparison again = Compare(repeat.library, repeat.reference, noise, input.rule);
    repeat.change = again.change;
    const Change stands = Confirm(night->comparison, again);
    night->comparison.why += stands == Change::kNone ? "; the repeat does not confirm it: " + again.why
                                                     : "; the repeat confirms it: " + again.why;
    night->comparison.change = stands;
    night->repeat = std::move(repeat);
  }
  night->environment = EnvironmentMoved(*input.before, *night, input.rule);
  if (night->environment.empty()) night->environment = Busy(disturbed, processes);
  if (night->environment.empty() && night->comparison.change != Change::kNone && input.library == input.reference) {
    night->environment = "library and reference are the same bytes, and yet they differ: the machine was disturbed";
  }
  return Status();
}

}  // namespace

Subject Summarise(const std::string& digest, const std::vector<ProcessTimes>& processes) {
  Subject subject;
  subject.digest = digest;
  subject.processes = Medians(processes);
  std::vector<double> all;
  for (const ProcessTimes& process : processes) all.insert(all.end(), process.samples.begin(), process.samples.end());
  if (all.empty()) return subject;
  std::sort(all.begin(), all.end());
  auto quantile = [&](double share) {
    const double at = share * static_cast<double>(all.size() - 1);
    const size_t low = static_cast<size_t>(at), high = std::min(low + 1, all.size() - 1);
    return all[low] + (at - static_cast<double>(low)) * (all[high] - all[low]);
  };
  subject.min = all[0];
  subject.p10 = quantile(0.1);
  subject.p90 = quantile(0.9);
  subject.p99 = quantile(0.99);
  for (size_t layer = 0; layer < processes[0].layers.size(); ++layer) {
    std::vector<double> seconds;
    for (const ProcessTimes& process : processes) {
      if (layer < process.layers.size()) seconds.push_back(process.layers[layer].seconds);
    }
    subject.layers.push_back({processes[0].layers[layer].node, Median(seconds)});
  }
  return subject;
}

Result<Night> MeasureNight(const NightInput& input, const TimeProcess& time) {
  Night night;
  night.night = input.night;
  night.recorded = input.recorded;
  night.host = input.host;
  night.fingerprint = input.fingerprint;
  night.tools = input.tools;
  const Status status = Measure(input, time, &night);
  if (status.ok()) return night;
  if (!OfTheArtifact(status)) return status;
  night.failure = status.message();
  night.library = {input.library, {}};
  night.reference = {input.reference, {}};
  night.canary.reset();
  night.repeat.reset();
  night.comparison = Comparison();
  return night;
}

}  // namespace hone::nightly

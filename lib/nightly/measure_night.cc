#include "nightly/measure_night.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "nightly/environment.h"
#include "task/outcome.h"

namespace hone::nightly {
namespace {

using Times = std::map<Who, std::vector<ProcessTimes>>;

// A process is slow if it takes longer than the fastest one of its artifact by this share; then it is taken again, so
// many times at most. A night is one on a busy machine if more than this share of the processes of one artifact stay
// slow.
constexpr double kSlow = 0.04, kBusyShare = 0.25;
constexpr int kTakes = 4;

std::vector<double> Values(const std::vector<ProcessTimes>& processes) {
  std::vector<double> values;
  for (const ProcessTimes& process : processes) values.push_back(process.Seconds());
  return values;
}

bool Slow(const std::vector<double>& values, size_t at) {
  return values[at] > (1 + kSlow) * *std::min_element(values.begin(), values.end());
}

Result<ProcessTimes> Take(const TimeProcess& time, const ProcessKey& key) {
  HONE_ASSIGN_OR_RETURN(ProcessTimes process, time(key));
  if (process.samples.empty() || process.Seconds() <= 0)
    return Status::Crashed(fmt::format("a process of the {} timed nothing", WhoName(key.who)));
  return process;
}

// `no_canary`: why there are no times of the canary, if it was among them.
Result<Times> Rounds(const std::vector<Who>& who, int phase, int rounds, const TimeProcess& time,
                     std::string* no_canary) {
  Times times;
  auto next = [&](int round, size_t i) { return who[round % 2 == 0 ? i : who.size() - 1 - i]; };
  auto left_out = [&](Who artifact) { return artifact == Who::kCanary && !no_canary->empty(); };
  // The machine itself is a witness that one can do without.
  auto lost = [&](const ProcessKey& key, const Status& status) {
    if (key.who != Who::kCanary || !OfTheArtifact(status)) return false;
    *no_canary = status.message();
    times.erase(Who::kCanary);
    return true;
  };
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < who.size(); ++i) {
      const ProcessKey key{next(round, i), phase, round, 0};
      if (left_out(key.who)) continue;
      Result<ProcessTimes> process = Take(time, key);
      if (process.ok()) {
        times[key.who].push_back(std::move(*process));
      } else if (!lost(key, process.status())) {
        return process.status();
      }
    }
  }
  for (int take = 1; take < kTakes; ++take) {
    // Decided before any of them is taken, so that what one brings does not decide about another.
    std::map<Who, std::vector<double>> before;
    for (const auto& [artifact, processes] : times) before[artifact] = Values(processes);
    for (int round = 0; round < rounds; ++round) {
      for (size_t i = 0; i < who.size(); ++i) {
        const ProcessKey key{next(round, i), phase, round, take};
        const size_t at = static_cast<size_t>(round);
        if (left_out(key.who) || !Slow(before[key.who], at)) continue;
        Result<ProcessTimes> process = Take(time, key);
        if (!process.ok()) {
          if (lost(key, process.status())) continue;
          return process.status();
        }
        if (process->Seconds() < times[key.who][at].Seconds()) times[key.who][at] = std::move(*process);
      }
    }
  }
  return times;
}

// Of one artifact is enough: its value is then that of somebody else's evening.
std::string Busy(const Times& times) {
  for (const auto& [artifact, processes] : times) {
    const std::vector<double> values = Values(processes);
    int slow = 0;
    for (size_t i = 0; i < values.size(); ++i) slow += Slow(values, i);
    if (slow <= kBusyShare * static_cast<double>(values.size())) continue;
    return fmt::format(
        "the machine was busy: {} of {} processes of the {} stayed more than {:.0f} % above its fastest "
        "one, though taken {} times",
        slow, values.size(), WhoName(artifact), 100 * kSlow, kTakes);
  }
  return "";
}

Status Measure(const NightInput& input, const TimeProcess& time, Night* night) {
  const bool own_canary = !input.canary.empty() && input.canary != input.reference;
  std::vector<Who> who = {Who::kLibrary, Who::kReference};
  if (own_canary) who.push_back(Who::kCanary);
  night->no_canary = input.no_canary;
  HONE_ASSIGN_OR_RETURN(Times times, Rounds(who, 0, input.processes, time, &night->no_canary));
  std::string busy = Busy(times);
  night->library = Summarise(input.library, times[Who::kLibrary]);
  night->reference = Summarise(input.reference, times[Who::kReference]);
  if (times.count(Who::kCanary) > 0) night->canary = Summarise(input.canary, times[Who::kCanary]);
  if (!own_canary && !input.canary.empty()) night->canary = night->reference;
  if (night->canary) night->canary->layers.clear();

  const std::vector<double> noise = NoiseRatios(*input.before, input.fingerprint);
  night->comparison = Compare(night->library.processes, night->reference.processes, noise, input.rule);
  if (night->comparison.change != Change::kNone) {
    HONE_ASSIGN_OR_RETURN(times,
                          Rounds({Who::kLibrary, Who::kReference}, 1, input.processes, time, &night->no_canary));
    if (busy.empty()) busy = Busy(times);
    Repeat repeat{Values(times[Who::kLibrary]), Values(times[Who::kReference])};
    const Comparison again = Compare(repeat.library, repeat.reference, noise, input.rule);
    repeat.change = again.change;
    const Change stands = Confirm(night->comparison, again);
    night->comparison.why += stands == Change::kNone ? "; the repeat does not confirm it: " + again.why
                                                     : "; the repeat confirms it: " + again.why;
    night->comparison.change = stands;
    night->repeat = std::move(repeat);
  }
  night->environment = EnvironmentMoved(*input.before, *night, input.rule);
  if (night->environment.empty()) night->environment = busy;
  if (night->environment.empty() && night->comparison.change != Change::kNone && input.library == input.reference) {
    night->environment = "library and reference are the same bytes, and yet they differ: the machine was disturbed";
  }
  return Status();
}

}  // namespace

bool OfTheArtifact(const Status& failure) {
  switch (failure.kind()) {
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

Subject Summarise(const std::string& digest, const std::vector<ProcessTimes>& processes) {
  Subject subject;
  subject.digest = digest;
  subject.processes = Values(processes);
  std::vector<double> all;
  for (const ProcessTimes& process : processes) all.insert(all.end(), process.samples.begin(), process.samples.end());
  if (all.empty()) return subject;
  subject.min = *std::min_element(all.begin(), all.end());
  subject.p10 = Quantile(all, 0.1);
  subject.median = Quantile(all, 0.5);
  subject.p90 = Quantile(all, 0.9);
  subject.p99 = Quantile(all, 0.99);
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

#include "nightly/measure_night.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/statistics.h"

namespace hone::nightly {
namespace {

using Times = std::map<Who, std::vector<ProcessTimes>>;

// The machine's speed: the pace's time in the middle one of all processes. 0 without a pace.
double PaceOf(const Times& times) {
  std::vector<double> paces;
  for (const auto& [artifact, processes] : times) {
    for (const ProcessTimes& process : processes) {
      if (!process.pace.empty()) paces.push_back(process.PaceSeconds());
    }
  }
  return paces.empty() ? 0 : Median(paces);
}

// Each process's value: its artifact's time if the machine had been as fast as at the pace.
std::vector<double> PacedValues(const std::vector<ProcessTimes>& processes, double pace) {
  std::vector<double> values;
  for (const ProcessTimes& process : processes) {
    values.push_back(process.pace.empty() ? process.Seconds() : process.PaceRatio() * pace);
  }
  return values;
}

Result<ProcessTimes> Take(const TimeProcess& time, const ProcessKey& key) {
  HONE_ASSIGN_OR_RETURN(ProcessTimes process, time(key));
  if (process.samples.empty() || process.Seconds() <= 0 || (!process.pace.empty() && process.PaceRatio() <= 0))
    return Status::Crashed("a process of the {} timed nothing", WhoName(key.who));
  return process;
}

// Sets `no_canary` to the reason if the canary could not be timed.
Result<Times> Rounds(const std::vector<Who>& who, int phase, int rounds, const TimeProcess& time,
                     std::string* no_canary) {
  Times times;
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < who.size(); ++i) {
      const ProcessKey key{who[round % 2 == 0 ? i : who.size() - 1 - i], phase, round};
      const bool canary = key.who == Who::kCanary;
      if (canary && !no_canary->empty()) continue;
      Result<ProcessTimes> process = Take(time, key);
      if (process.ok()) {
        times[key.who].push_back(std::move(*process));
      } else if (canary && OfTheArtifact(process.status())) {
        // The run can continue without the canary.
        *no_canary = process.status().message();
        times.erase(Who::kCanary);
      } else {
        return process.status();
      }
    }
  }
  return times;
}

// The canary's state after some nights.
struct Canary {
  std::vector<double> levels;  // of its nights since the last change of the machine
  double off = 0;              // the last timed value, if it was off its level; else 0
};

Canary Follow(const std::vector<Night>& nights) {
  Canary canary;
  std::string digest, fingerprint;
  for (const Night& night : nights) {
    const double level = night.CanarySeconds();
    if (night.fingerprint != fingerprint || (level > 0 && night.canary->digest != digest)) canary = {};
    fingerprint = night.fingerprint;
    if (level <= 0) continue;
    digest = night.canary->digest;
    const auto differs = [&](double from) { return std::abs(level / from - 1) > Threshold(canary.levels); };
    if (canary.levels.size() < kLeastHistory || !differs(Median(canary.levels))) {
      canary.levels.push_back(level);
      canary.off = 0;
    } else if (canary.off == 0 || differs(canary.off)) {
      canary.off = level;
    } else {
      canary = {{canary.off, level}, 0};  // two nights that agree: the machine changed
    }
  }
  return canary;
}

Status Measure(const NightInput& input, const TimeProcess& time, Night* night) {
  const bool own_canary = !input.canary.empty() && input.canary != input.reference;
  std::vector<Who> who = {Who::kLibrary, Who::kReference};
  if (own_canary) who.push_back(Who::kCanary);
  night->no_canary = input.no_canary;
  HONE_ASSIGN_OR_RETURN(Times times, Rounds(who, 0, input.processes, time, &night->no_canary));
  const double pace = PaceOf(times);
  night->library = Summarise(input.library, times[Who::kLibrary], pace);
  night->reference = Summarise(input.reference, times[Who::kReference], pace);
  if (times.count(Who::kCanary) > 0) night->canary = Summarise(input.canary, times[Who::kCanary], pace);
  if (!own_canary && !input.canary.empty()) night->canary = night->reference;
  if (night->canary) night->canary->layers.clear();

  const std::vector<double> noise = NoiseRatios(*input.before, input.fingerprint);
  night->comparison = Compare(night->library.processes, night->reference.processes, noise);
  if (night->comparison.change != Change::kNone) {
    HONE_ASSIGN_OR_RETURN(times, Rounds({Who::kLibrary, Who::kReference}, 1, input.processes, time, &night->no_canary));
    const double pace_again = PaceOf(times);
    Repeat repeat{PacedValues(times[Who::kLibrary], pace_again), PacedValues(times[Who::kReference], pace_again)};
    const Comparison again = Compare(repeat.library, repeat.reference, noise);
    repeat.change = again.change;
    const Change stands = Confirm(night->comparison, again);
    night->comparison.why += stands == Change::kNone ? "; the repeat does not confirm it: " + again.why
                                                     : "; the repeat confirms it: " + again.why;
    night->comparison.change = stands;
    night->repeat = std::move(repeat);
  }
  night->environment = EnvironmentMoved(*input.before, *night);
  if (night->environment.empty() && TooWide(night->comparison)) {
    night->environment =
        fmt::format("the machine was busy: a change between {:+.1f} and {:+.1f} % would not have been seen",
                    100 * (night->comparison.low - 1), 100 * (night->comparison.high - 1));
  }
  if (night->environment.empty() && night->comparison.change != Change::kNone && input.library == input.reference) {
    night->environment = "library and reference are the same bytes, and yet they differ: the machine was disturbed";
  }
  return Status();
}

}  // namespace

bool OfTheArtifact(const Status& failure) {
  using enum StatusKind;
  const StatusKind facts[] = {kCrashed, kTimeout, kCorrupt, kInvalid, kNotFound, kUnsupported};
  return std::find(std::begin(facts), std::end(facts), failure.kind()) != std::end(facts);
}

std::string EnvironmentMoved(std::vector<Night> before, const Night& tonight) {
  if (tonight.CanarySeconds() <= 0) return "";
  before.push_back(tonight);
  const Canary canary = Follow(before);
  if (canary.off == 0) return "";
  return fmt::format(
      "the canary, which is never rebuilt, runs {:+.1f} % from its level of {} nights ({:.1f} % would do)",
      100 * (canary.off / Median(canary.levels) - 1), canary.levels.size(), 100 * Threshold(canary.levels));
}

Subject Summarise(const std::string& digest, const std::vector<ProcessTimes>& processes, double pace) {
  Subject subject{.digest = digest, .processes = PacedValues(processes, pace)};
  if (processes.empty()) return subject;
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
  Night night{.recorded = input.recorded,
              .host = input.host,
              .fingerprint = input.fingerprint,
              .library = {.digest = input.library},
              .reference = {.digest = input.reference},
              .night = input.night,
              .tools = input.tools};
  Night measured = night;
  const Status status = Measure(input, time, &measured);
  if (status.ok()) return measured;
  if (!OfTheArtifact(status)) return status;
  night.no_canary = measured.no_canary;
  night.failure = status.message();
  return night;
}

}  // namespace hone::nightly

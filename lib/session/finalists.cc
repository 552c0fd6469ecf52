#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/statistics.h"
#include "session/tune_session.h"

namespace hone::session {
namespace {

constexpr double kSecondsPerHeat = 0.4;
constexpr int kMaxHeats = 3;  // limits the heats on a machine that keeps getting slower
constexpr double kNotableDrift = 0.1;

// A disturbed time may be too long, so such a trial counts with its fastest run here.
double Hope(const Outcome& outcome) {
  if (outcome.disturbed == 0 || outcome.samples.empty()) return outcome.median;
  return *std::ranges::min_element(outcome.samples);
}

// Positions of the fastest ok trials whose artifacts are not in `done`, at most `count`, one per artifact.
std::vector<size_t> Fastest(const History& history, const std::set<std::string>& done, int64_t count) {
  const auto& outcomes = history.outcomes();
  std::vector<size_t> order;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].state == TrialState::kOk && !done.count(outcomes[i].artifact_digest)) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](size_t i) { return Hope(outcomes[i]); });
  std::vector<size_t> fastest;
  std::set<std::string> taken;
  for (const size_t i : order) {
    if (static_cast<int64_t>(fastest.size()) == count) break;
    if (taken.insert(outcomes[i].artifact_digest).second) fastest.push_back(i);
  }
  return fastest;
}

int Rounds(const History& history, const std::vector<size_t>& positions) {
  double round = 0;
  for (const size_t i : positions) round += history.outcomes()[i].median;
  return static_cast<int>(std::clamp(kSecondsPerHeat / std::max(round, 1e-9), 7.0, 30.0));
}

// Collects a heat's result for `digest`: the samples for the trial that was timed, only the median for other trials of
// this artifact. If the timed one does not count under the job's limits (session/history.h), all get the samples. If it
// failed this time, all get the verdict.
void Collect(const std::string& digest, const measure::Series& series, const History& history,
             std::vector<record::Remeasured>* found) {
  const auto timed = [&](const Outcome& o) { return o.artifact_digest == digest && !o.samples.empty(); };
  const bool any = std::ranges::any_of(history.outcomes(), timed);
  for (size_t i = 0; i < history.outcomes().size(); ++i) {
    Outcome outcome = history.outcomes()[i];
    if (outcome.artifact_digest != digest || outcome.state != TrialState::kOk) continue;
    const bool twin = any && outcome.samples.empty();
    outcome.samples = twin ? std::vector<double>() : series.seconds;
    outcome.median = Median(series.seconds);
    outcome.disturbed = twin ? 0 : series.disturbed;
    outcome.retaken = twin ? 0 : series.retaken;
    if (series.seconds.empty()) {
      outcome.state = TrialState::kFailed;
      outcome.error = series.error;
      outcome.error_text = series.error_text;
    }
    outcome.measure_seconds = std::accumulate(outcome.samples.begin(), outcome.samples.end(), 0.0);
    found->push_back({static_cast<int64_t>(i), std::move(outcome)});
  }
}

// Stores one heat in one transaction. The ordinals of `found` are positions in `history` before the call, ordinals
// after.
Status Store(const FinalistWorld& world, std::vector<record::Remeasured> found, History* history) {
  std::vector<std::pair<size_t, Outcome>> known;
  for (record::Remeasured& one : found) {
    const size_t position = static_cast<size_t>(one.ordinal);
    const Outcome& before = history->outcomes()[position];
    Outcome outcome = one.outcome;
    outcome.samples.insert(outcome.samples.begin(), before.samples.begin(), before.samples.end());
    outcome.retaken += before.retaken;
    outcome.measure_seconds = before.measure_seconds;
    known.emplace_back(position, std::move(outcome));
    one.ordinal = history->ordinal(position);
  }
  HONE_RETURN_IF_ERROR(world.check_owner());
  HONE_RETURN_IF_ERROR(world.store->Remeasure(found));
  for (auto& [position, outcome] : known) history->Replace(position, outcome);
  return Status();
}

// One heat: builds the kernels at `positions` and measures them in turn. Returns the series in their order.
Result<std::vector<measure::Series>> Heat(const FinalistWorld& world, const History& history,
                                          const std::vector<size_t>& positions) {
  std::vector<Config> configs;
  for (const size_t i : positions) configs.push_back(history.outcomes()[i].config);
  HONE_RETURN_IF_ERROR(world.lock(false));
  HONE_ASSIGN_OR_RETURN(const auto built, world.builder->Build(configs));
  std::vector<measure::BuiltKernel> kernels;
  std::vector<size_t> slots;
  for (size_t i = 0; i < built.size(); ++i) {
    if (built[i].error == TrialError::kDevice) {
      return Status::Io(
          "a finalist could not be compiled, and this machine is to blame: {}; the same command goes on where this one "
          "stops",
          built[i].error_text);
    }
    if (!built[i].ok) continue;
    kernels.push_back(built[i].kernel);
    slots.push_back(i);
  }
  HONE_RETURN_IF_ERROR(world.measurer->Open());
  HONE_RETURN_IF_ERROR(world.lock(true));
  auto measured = world.measurer->MeasureInterleaved(kernels, Rounds(history, positions));
  const Result<bool> sound = measured.ok() ? world.measurer->Sound() : true;
  world.unlock();
  if (!measured.ok()) return measured.status();
  std::vector<measure::Series> series(positions.size());
  if (sound.ok() && !*sound) return series;  // one of them corrupted the measurer: their first times stand
  for (size_t k = 0; k < slots.size(); ++k) series[slots[k]] = std::move((*measured)[k]);
  return series;
}

}  // namespace

Result<FinalistResult> MeasureFinalists(int64_t count, const FinalistWorld& world, History* history) {
  FinalistResult result;
  std::set<std::string> done;
  double fastest_again = std::numeric_limits<double>::infinity();
  for (int heat = 0; heat < kMaxHeats; ++heat) {
    const auto best = history->best();
    if (!best || done.count(history->outcomes()[*best].artifact_digest)) break;
    std::vector<size_t> positions = Fastest(*history, done, count);
    // After the first heat, only trials that are faster than everything measured again: the winner is among them.
    std::erase_if(positions, [&](size_t i) { return Hope(history->outcomes()[i]) > fastest_again; });
    const bool anchored = history->outcomes()[0].state == TrialState::kOk;
    if (anchored) {
      std::erase(positions, size_t{0});
      positions.insert(positions.begin(), 0);
    }
    const double anchor_before = history->outcomes()[0].median;
    HONE_ASSIGN_OR_RETURN(const auto series, Heat(world, *history, positions));
    LogDebug("finalists, heat {}: {} kernels measured {} times each", heat, positions.size(), series[0].seconds.size());
    std::vector<record::Remeasured> found;
    for (size_t k = 0; k < positions.size(); ++k) {
      const std::string digest = history->outcomes()[positions[k]].artifact_digest;
      done.insert(digest);
      if (series[k].error != TrialError::kNone) {
        LogWarning("trial {} was correct once, but: {}: {}; it is out", history->ordinal(positions[k]),
                   TrialErrorName(series[k].error), series[k].error_text);
        Collect(digest, series[k], *history, &found);
        continue;
      }
      if (series[k].seconds.empty()) {
        LogWarning("trial {} was correct, but could not be measured again; its first time stands",
                   history->ordinal(positions[k]));
        continue;
      }
      Collect(digest, series[k], *history, &found);
      fastest_again = std::min(fastest_again, Median(series[k].seconds));
      ++result.measured;
    }
    HONE_RETURN_IF_ERROR(Store(world, std::move(found), history));
    if (heat == 0 && anchored && !series[0].seconds.empty()) {
      result.drift = Median(series[0].seconds) / anchor_before;
    }
  }
  if (result.drift > 1 + kNotableDrift || result.drift < 1 - kNotableDrift) {
    LogInfo("the machine's speed changed: the default schedule now takes {:.2f} times as long as at first",
            result.drift);
  }
  return result;
}

}  // namespace hone::session

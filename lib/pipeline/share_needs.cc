#include "pipeline/share_needs.h"

#include <algorithm>
#include <cmath>

namespace hone::pipeline {
namespace {

// Ansor's constants.
constexpr double kAlpha = 0.2;       // weight of the past against the optimistic guess
constexpr double kWindow = 3;        // batches of the past
constexpr double kBatchTrials = 64;  // of a batch, at most

// The share of its time that a task is expected to gain from twice the trials, if their second half improved nothing.
constexpr double kLeastDrop = 0.02;

struct Live {
  double seconds = 0;      // best time, or a guess
  double in_network = 0;   // uses x that
  double spent = 0;        // in the unit of the total, above 0
  double trial_units = 1;  // units that a trial takes
};

// A task without a correct trial counts as slow, for its work, as the slowest one.
std::vector<Live> LiveTasks(const std::vector<ShareTask>& tasks) {
  const auto flop = [](const ShareTask& task) { return static_cast<double>(std::max<int64_t>(task.flop, 1)); };
  double slowest = 0;  // seconds per FLOP
  for (const ShareTask& task : tasks) slowest = std::max(slowest, task.search.seconds / flop(task));
  std::vector<Live> live;
  for (const ShareTask& task : tasks) {
    const SearchState& search = task.search;
    const double seconds = search.seconds > 0 ? search.seconds : flop(task) * (slowest > 0 ? slowest : 1);
    const double trials = static_cast<double>(std::max<int64_t>(search.trials, 1));
    const double spent = search.spent > 0 ? search.spent : trials;
    live.push_back({seconds, task.Weight() * seconds, spent, spent / trials});
  }
  return live;
}

// Expected gain of the next trial, as a share of the time.
double Gain(const SearchState& search) {
  const double trials = static_cast<double>(std::max<int64_t>(search.trials, 1));
  if (search.seconds <= 0) return 1 / trials;
  const double half = search.BestAt(search.trials / 2);
  const double drop = half > 0 ? half / search.seconds - 1 : 1;
  const double curve = std::max(drop, kLeastDrop) / trials;
  return search.tuner_gain >= 0 ? (search.tuner_gain + curve) / 2 : curve;
}

std::vector<double> ByGain(const std::vector<ShareTask>& tasks, const std::vector<Live>& live, double pot) {
  std::vector<double> roots;  // of the gain a unit
  double most = 0;            // scale at which one task alone would take the pot
  for (size_t i = 0; i < tasks.size(); ++i) {
    const double gain = Ended(tasks[i].search) ? 0 : live[i].in_network * Gain(tasks[i].search) / live[i].trial_units;
    roots.push_back(std::sqrt(gain));
    if (gain <= 0) continue;
    const double alone = (pot / live[i].spent + 1) / roots[i];
    most = most == 0 ? alone : std::min(most, alone);
  }
  std::vector<double> needs(tasks.size(), 0);
  const auto fill = [&](double scale) {
    double sum = 0;
    for (size_t i = 0; i < tasks.size(); ++i) {
      needs[i] = std::max(0.0, live[i].spent * (scale * roots[i] - 1));
      sum += needs[i];
    }
    return sum;
  };
  double low = 0, high = most;  // fill(high) >= pot
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (fill(middle) < pot ? low : high) = middle;
  }
  fill(high);
  return needs;
}

std::vector<double> ByGradient(const std::vector<ShareTask>& tasks, const std::vector<Live>& live, double total,
                               double pot) {
  double units = 0, trials = 0;
  for (size_t i = 0; i < tasks.size(); ++i) units += live[i].spent, trials += live[i].spent / live[i].trial_units;
  const double batch =
      std::max(std::min(kBatchTrials * units / trials, total / static_cast<double>(tasks.size())), 1e-3);
  std::vector<double> past(tasks.size(), 0), needs(tasks.size(), 0);
  for (size_t i = 0; i < tasks.size(); ++i) {
    const SearchState& search = tasks[i].search;
    const double before = search.BestAt(search.trials - std::llround(kWindow * batch / live[i].trial_units));
    if (before > 0 && search.seconds > 0) past[i] = (before - search.seconds) / kWindow;
  }
  while (pot > 0) {
    size_t steepest = tasks.size();
    double most = -1;
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (Ended(tasks[i].search) || tasks[i].weight <= 0) continue;
      const double batches = (live[i].spent + needs[i]) / batch;
      const double descent = tasks[i].Weight() * (kAlpha * past[i] + (1 - kAlpha) * live[i].seconds / batches);
      if (descent > most) most = descent, steepest = i;
    }
    if (steepest == tasks.size()) break;
    needs[steepest] += std::min(batch, pot);
    pot -= batch;
  }
  return needs;
}

}  // namespace

std::vector<double> ShareNeeds(const std::vector<ShareTask>& tasks, const TuneSettings& settings, double pot) {
  const std::vector<Live> live = LiveTasks(tasks);
  if (settings.share == "gain") return ByGain(tasks, live, pot);
  if (settings.share == "gradient") {
    const bool by_time = settings.seconds_total > 0;
    return ByGradient(tasks, live, by_time ? settings.seconds_total : static_cast<double>(settings.trials_total), pot);
  }
  std::vector<double> needs;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const bool takes = !Ended(tasks[i].search) && tasks[i].weight > 0;
    needs.push_back(!takes ? 0 : settings.share == "equal" ? 1 : live[i].in_network);
  }
  return needs;
}

}  // namespace hone::pipeline

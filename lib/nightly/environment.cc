#include "nightly/environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/statistics.h"

namespace hone::nightly {
namespace {

// Walks over the nights in order.
class Walk {
 public:
  explicit Walk(const GateRule& rule) : rule_(rule) {}

  // Does the canary's level belong to this epoch, is it a single night off it, or the second one: a new epoch?
  enum class Step { kSame, kOff, kNewEpoch, kSecondOff };

  Step Next(const Night& night) {
    const bool known = night.canary && !night.canary->processes.empty();
    const double level = known ? Median(night.canary->processes) : 0;
    if (first_ || night.fingerprint != fingerprint_) {
      const bool begin = first_;
      first_ = false;
      fingerprint_ = night.fingerprint;
      levels_.clear();
      off_ = 0;
      if (known) Take(night, level);
      return begin ? Step::kSame : Step::kNewEpoch;
    }
    if (!known) return Step::kSame;
    if (night.canary->digest != canary_) {
      levels_.clear();
      off_ = 0;
      Take(night, level);
      return Step::kSame;
    }
    if (levels_.size() < static_cast<size_t>(rule_.least_history) || !Off(level, Median(levels_))) {
      off_ = 0;
      Take(night, level);
      return Step::kSame;
    }
    if (off_ == 0 || Off(level, off_)) {
      off_ = level;
      return Step::kOff;
    }
    levels_ = {off_, level};
    off_ = 0;
    return Step::kSecondOff;
  }

  double threshold() const { return std::max(rule_.least_change, rule_.deviations * RobustDeviation(levels_)); }
  const std::vector<double>& levels() const { return levels_; }

 private:
  bool Off(double level, double from) const { return std::abs(level / from - 1) > threshold(); }
  void Take(const Night& night, double level) {
    canary_ = night.canary->digest;
    levels_.push_back(level);
  }

  const GateRule& rule_;
  bool first_ = true;
  std::string fingerprint_, canary_;
  std::vector<double> levels_;  // of the canary in this epoch
  double off_ = 0;              // of the night before, if that was off; else 0
};

}  // namespace

std::vector<int> Epochs(const std::vector<Night>& nights, const GateRule& rule) {
  std::vector<int> epochs;
  Walk walk(rule);
  int epoch = 0;
  for (const Night& night : nights) {
    const Walk::Step step = walk.Next(night);
    if (step == Walk::Step::kNewEpoch || step == Walk::Step::kSecondOff) ++epoch;
    epochs.push_back(epoch);
    // Its first night was the one that seemed off; what lies between had no canary.
    if (step == Walk::Step::kSecondOff) {
      for (size_t i = epochs.size() - 1; i-- > 0;) {
        epochs[i] = epoch;
        if (nights[i].canary && !nights[i].canary->processes.empty()) break;
      }
    }
  }
  return epochs;
}

std::string EnvironmentMoved(const std::vector<Night>& before, const Night& tonight, const GateRule& rule) {
  Walk walk(rule);
  for (const Night& night : before) walk.Next(night);
  if (walk.Next(tonight) != Walk::Step::kOff) return "";
  const double level = Median(walk.levels()), now = Median(tonight.canary->processes);
  return fmt::format(
      "the canary, which is never rebuilt, runs {:+.1f} % from its level of {} nights ({:.1f} % would do)",
      100 * (now / level - 1), walk.levels().size(), 100 * walk.threshold());
}

Trend TrendOf(const std::vector<Night>& nights, const ChangePointRule& rule, const GateRule& gate) {
  Trend trend;
  trend.epochs = Epochs(nights, gate);
  for (const Night& night : nights) {
    const bool known = night.Usable() && night.canary && !night.canary->processes.empty();
    trend.values.push_back(known ? Median(night.library.processes) / Median(night.canary->processes) : 0);
  }
  for (size_t begin = 0, end; begin < nights.size(); begin = end) {
    for (end = begin; end < nights.size() && trend.epochs[end] == trend.epochs[begin];) ++end;
    const std::vector<double> part(trend.values.begin() + static_cast<std::ptrdiff_t>(begin),
                                   trend.values.begin() + static_cast<std::ptrdiff_t>(end));
    for (ChangePoint point : FindChangePoints(part, rule)) {
      point.index += begin;
      trend.changes.push_back(point);
    }
  }
  return trend;
}

}  // namespace hone::nightly

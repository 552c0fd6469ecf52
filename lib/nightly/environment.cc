#include "nightly/environment.h"

#include <fmt/format.h>

#include <cmath>

#include "base/statistics.h"

namespace hone::nightly {
namespace {

// The canary over the nights.
struct Canary {
  std::vector<int> epochs;     // a night each
  std::vector<double> levels;  // of its nights in the last epoch
  double off = 0;              // of the last one that was timed, if that was off its level; else 0
};

Canary Follow(const std::vector<Night>& nights) {
  Canary canary;
  std::string digest;
  int epoch = 0;
  for (size_t i = 0; i < nights.size(); ++i) {
    const Night& night = nights[i];
    const double level = night.CanarySeconds();
    const bool moved = i > 0 && night.fingerprint != nights[i - 1].fingerprint;
    if (moved || (level > 0 && night.canary->digest != digest)) {
      canary.levels.clear();
      canary.off = 0;
    }
    epoch += moved;
    canary.epochs.push_back(epoch);
    if (level <= 0) continue;
    digest = night.canary->digest;
    const auto differs = [&](double from) { return std::abs(level / from - 1) > Threshold(canary.levels); };
    if (canary.levels.size() < kLeastHistory || !differs(Median(canary.levels))) {
      canary.levels.push_back(level);
      canary.off = 0;
    } else if (canary.off == 0 || differs(canary.off)) {
      canary.off = level;
    } else {
      // The epoch's first night was the one that seemed off; what lies between had no canary.
      canary.levels = {canary.off, level};
      canary.off = 0;
      canary.epochs[i] = ++epoch;
      for (size_t k = i; k-- > 0;) {
        canary.epochs[k] = epoch;
        if (nights[k].CanarySeconds() > 0) break;
      }
    }
  }
  return canary;
}

}  // namespace

std::vector<int> Epochs(const std::vector<Night>& nights) { return Follow(nights).epochs; }

std::string EnvironmentMoved(std::vector<Night> before, const Night& tonight) {
  if (tonight.CanarySeconds() <= 0) return "";
  before.push_back(tonight);
  const Canary canary = Follow(before);
  if (canary.off == 0) return "";
  return fmt::format(
      "the canary, which is never rebuilt, runs {:+.1f} % from its level of {} nights ({:.1f} % would do)",
      100 * (canary.off / Median(canary.levels) - 1), canary.levels.size(), 100 * Threshold(canary.levels));
}

Trend TrendOf(const std::vector<Night>& nights) {
  Trend trend;
  trend.epochs = Epochs(nights);
  for (const Night& night : nights) trend.values.push_back(night.Usable() ? night.ShareOfCanary() : 0);
  for (size_t begin = 0, end; begin < nights.size(); begin = end) {
    for (end = begin; end < nights.size() && trend.epochs[end] == trend.epochs[begin];) ++end;
    const std::vector<double> part(trend.values.begin() + static_cast<std::ptrdiff_t>(begin),
                                   trend.values.begin() + static_cast<std::ptrdiff_t>(end));
    for (ChangePoint point : FindChangePoints(part)) {
      point.index += begin;
      trend.changes.push_back(point);
    }
  }
  return trend;
}

}  // namespace hone::nightly

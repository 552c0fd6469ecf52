// Combines several sweeps of one space. A shared machine has fast and slow phases of seconds, so of thousands of points
// that were measured once, the fastest is merely the luckiest.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "base/result.h"
#include "base/statistics.h"
#include "common/replay_text.h"
#include "record/replay_space.h"

namespace hone::record {

inline bool SameSpace(const ReplaySpace& a, const ReplaySpace& b) {
  const auto header = [](ReplaySpace space) {
    space.points.clear();
    space.machine.clear();
    return ReplayText(space);
  };
  return header(a) == header(b);
}

// How much slower `sweep` was than `first`, by the points that both timed.
inline double Slowdown(const ReplaySpace& sweep, const ReplaySpace& first) {
  std::vector<double> ratios;
  for (const ReplayPoint& point : first.points) {
    const ReplayPoint* other = sweep.Find(point.index);
    if (other == nullptr || point.state != TrialState::kOk || other->state != TrialState::kOk) continue;
    ratios.push_back(other->median / point.median);
  }
  return ratios.empty() ? 1 : Median(ratios);
}

// Returns each point of the first sweep with the median of its verdicts (of two, the faster one); failures rank behind
// all times. First each sweep's times are divided by the median ratio of its points' times to the first sweep's, so
// that a sweep taken while the machine was slower counts as much as the others. Returns kInvalid if `sweeps` is empty,
// or if a sweep belongs to another space or lacks a point of the first.
inline Result<ReplaySpace> MiddleOf(const std::vector<ReplaySpace>& sweeps) {
  if (sweeps.empty()) return Status::Invalid("no sweep of the space");
  ReplaySpace merged = sweeps[0];
  std::vector<double> slowdowns;
  for (const ReplaySpace& sweep : sweeps) {
    if (!SameSpace(sweep, sweeps[0])) return Status::Invalid("sweeps of different spaces: " + sweep.workload);
    slowdowns.push_back(Slowdown(sweep, sweeps[0]));
  }
  for (ReplayPoint& point : merged.points) {
    std::vector<ReplayPoint> verdicts;
    for (size_t s = 0; s < sweeps.size(); ++s) {
      const ReplayPoint* verdict = sweeps[s].Find(point.index);
      if (verdict == nullptr) {
        return Status::Invalid("a sweep of " + merged.workload + " lacks point " + fmt::format("{}", point.index));
      }
      verdicts.push_back(*verdict);
      verdicts.back().median /= slowdowns[s];
    }
    const auto time = [](const ReplayPoint& p) {
      return p.state == TrialState::kFailed ? std::numeric_limits<double>::infinity() : p.median;
    };
    std::stable_sort(verdicts.begin(), verdicts.end(),
                     [&](const ReplayPoint& a, const ReplayPoint& b) { return time(a) < time(b); });
    point = verdicts[(verdicts.size() - 1) / 2];
  }
  return merged;
}

}  // namespace hone::record

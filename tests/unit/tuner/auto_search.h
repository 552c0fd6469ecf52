// Whole searches by the tuner `auto`, for its tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "search/tuner/auto_tuner.h"
#include "surface.h"

namespace hone::search {

using Measure = std::function<Outcome(const Config&)>;

inline Outcome OnSurface(const Config& config) { return OkOutcome(config, SurfaceSeconds(config)); }

inline Outcome Failed(const Config& config) {
  Outcome o;
  o.config = config;
  o.state = TrialState::kFailed;
  o.error = TrialError::kCompile;
  return o;
}

// Goes on from `history` up to `trials` trials, asking for 16 at a time as sessions do.
inline std::vector<PointIndex> Continue(Tuner* tuner, const TaskSpace& space, const Measure& measure, size_t trials,
                                      std::vector<PointIndex> history = {}) {
  std::vector<Outcome> outcomes;
  for (const PointIndex index : history) outcomes.push_back(measure(space.At(index)));
  tuner->Update(outcomes);
  while (history.size() < trials) {
    const size_t room = std::min(16 - history.size() % 16, trials - history.size());
    const std::vector<PointIndex> next = tuner->NextBatch(static_cast<int>(room));
    EXPECT_LE(next.size(), room);
    if (next.empty()) break;
    outcomes.clear();
    for (const PointIndex index : next) outcomes.push_back(measure(space.At(index)));
    history.insert(history.end(), next.begin(), next.end());
    tuner->Update(outcomes);
  }
  return history;
}

inline double BestSeconds(const TaskSpace& space, const std::vector<PointIndex>& tried, const Measure& measure) {
  double best = std::numeric_limits<double>::infinity();
  for (const PointIndex index : tried) {
    const Outcome o = measure(space.At(index));
    if (o.state == TrialState::kOk) best = std::min(best, o.median);
  }
  return best;
}

inline std::vector<PointIndex> Search(const TaskSpace& space, const Measure& measure, size_t trials, uint64_t seed = 1,
                                    const TunerContext& context = {}) {
  AutoTuner tuner(space, seed, context);
  return Continue(&tuner, space, measure, trials);
}

}  // namespace hone::search

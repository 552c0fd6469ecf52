#include "search/tuner/score.h"

#include <algorithm>
#include <cmath>

namespace hone::search {

double Seconds(const Outcome& outcome) {
  const bool timed = outcome.state != TrialState::kFailed && std::isfinite(outcome.median) && outcome.median > 0;
  return timed ? outcome.median : 0;
}

std::vector<float> SpeedShares(const std::vector<Outcome>& outcomes) {
  double best = 0;
  for (const Outcome& outcome : outcomes) {
    const double seconds = Seconds(outcome);
    if (outcome.state != TrialState::kOk || seconds == 0) continue;
    if (best == 0 || seconds < best) best = seconds;
  }
  std::vector<float> shares;
  for (const Outcome& outcome : outcomes) {
    const double seconds = Seconds(outcome);
    // A bound below the best is possible where the incumbent was measured again; it is worth no more than the best.
    shares.push_back(seconds == 0 || best == 0 ? 0 : static_cast<float>(std::min(1.0, best / seconds)));
  }
  return shares;
}

}  // namespace hone::search

#include "search/tuner/plan_tuner.h"

#include <algorithm>
#include <cmath>

namespace hone::search {

std::vector<PointIndex> PlanTuner::NextBatch(int n) {
  std::vector<PointIndex> batch;
  if (n <= 0) return batch;
  const int64_t count = static_cast<int64_t>(history_.size());
  const int64_t round = (count + outstanding_) / round_size_;
  // The next round's plan needs the outcomes of this one.
  if (round * round_size_ > count) return batch;
  if (round != planned_) {
    planned_ = round;
    next_ = 0;
    plan_ = Plan(round, {history_.begin(), history_.begin() + round * round_size_});
  }
  const int64_t room = (round + 1) * round_size_ - count - outstanding_;
  while (next_ < plan_.size() && static_cast<int64_t>(batch.size()) < std::min<int64_t>(n, room)) {
    const PointIndex index = plan_[next_++];
    if (known_.insert(index).second) batch.push_back(index);
  }
  proposed_.insert(batch.begin(), batch.end());
  outstanding_ += static_cast<int64_t>(batch.size());
  return batch;
}

void PlanTuner::Update(const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes) {
    history_.push_back(outcome);
    known_.insert(outcome.config.index);
    if (proposed_.erase(outcome.config.index) != 0) --outstanding_;
  }
}

IndexSet IndicesOf(const std::vector<Outcome>& outcomes) {
  IndexSet indices;
  for (const Outcome& outcome : outcomes) indices.insert(outcome.config.index);
  return indices;
}

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
    // A bound may be below the best if the incumbent was measured again; it then counts as the best.
    shares.push_back(seconds == 0 || best == 0 ? 0 : static_cast<float>(std::min(1.0, best / seconds)));
  }
  return shares;
}

}  // namespace hone::search

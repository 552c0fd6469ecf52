#include "search/tuner/plan_tuner.h"

#include <algorithm>

namespace hone::search {

std::vector<uint64_t> PlanTuner::NextBatch(int n) {
  std::vector<uint64_t> batch;
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
    const uint64_t index = plan_[next_++];
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

}  // namespace hone::search

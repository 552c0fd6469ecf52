#include "search/tuner/grid_tuner.h"

namespace hone::search {

std::vector<uint64_t> GridTuner::NextBatch(int n) {
  std::vector<uint64_t> batch;
  const uint64_t size = space_.size();
  for (; next_ < size && static_cast<int>(batch.size()) < n; ++next_) {
    if (!known_.count(next_) && !space_.Reject(next_)) batch.push_back(next_);
  }
  return batch;
}

void GridTuner::Update(const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes) known_.insert(outcome.config.index);
}

}  // namespace hone::search

#include "search/tuner/random_tuner.h"

#include "search/tuner/points.h"

namespace hone::search {

void UnlearningTuner::Update(const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes) known_.insert(outcome.config.index);
}

RandomTuner::RandomTuner(const TaskSpace& space, uint64_t seed, uint64_t enumerate_limit)
    : space_(space), rng_(seed), enumerate_limit_(enumerate_limit) {}

std::vector<PointIndex> RandomTuner::NextBatch(int n) {
  std::vector<PointIndex> batch;
  while (static_cast<int>(batch.size()) < n) {
    const std::optional<PointIndex> index = Draw();
    if (!index) break;
    if (known_.insert(*index).second) batch.push_back(*index);
  }
  return batch;
}

void RandomTuner::Enumerate(uint64_t limit) {
  enumerated_ = true;
  if (auto legal = space_.LegalIndices(limit)) {
    for (const PointIndex index : *legal) {
      if (!drawn_.count(index)) order_.push_back(index);
    }
    rng_.Shuffle(&order_);
  }
}

std::optional<PointIndex> RandomTuner::Draw() {
  if (!started_) {
    started_ = true;
    if (space_.size() <= enumerate_limit_) Enumerate(enumerate_limit_);
  }
  if (!enumerated_) {
    for (int miss = 0; miss < kMissesBeforeEnumerating; ++miss) {
      const std::optional<PointIndex> index = space_.SampleLegal(rng_);
      if (!index) break;
      if (drawn_.insert(*index).second) return index;
    }
    Enumerate(kEnumerateAtMost);
  }
  if (next_ == order_.size()) return std::nullopt;
  return order_[next_++];
}

std::vector<PointIndex> GridTuner::NextBatch(int n) {
  std::vector<PointIndex> batch;
  const PointIndex size = space_.size();
  for (; next_ < size && static_cast<int>(batch.size()) < n; ++next_) {
    if (!known_.count(next_) && !space_.Reject(next_)) batch.push_back(next_);
  }
  return batch;
}

}  // namespace hone::search

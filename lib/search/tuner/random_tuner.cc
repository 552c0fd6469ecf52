#include "search/tuner/random_tuner.h"

#include "search/tuner/points.h"

namespace hone::search {
RandomTuner::RandomTuner(const TaskSpace& space, uint64_t seed, uint64_t enumerate_limit)
    : space_(space), rng_(seed), enumerate_limit_(enumerate_limit) {}

std::vector<uint64_t> RandomTuner::NextBatch(int n) {
  std::vector<uint64_t> batch;
  while (static_cast<int>(batch.size()) < n) {
    const std::optional<uint64_t> index = Draw();
    if (!index) break;
    if (known_.insert(*index).second) batch.push_back(*index);
  }
  return batch;
}

void RandomTuner::Update(const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes) known_.insert(outcome.config.index);
}

void RandomTuner::Enumerate(uint64_t limit) {
  enumerated_ = true;
  if (auto legal = space_.LegalIndices(limit)) {
    for (const uint64_t index : *legal) {
      if (!drawn_.count(index)) order_.push_back(index);
    }
    rng_.Shuffle(&order_);
  }
}

std::optional<uint64_t> RandomTuner::Draw() {
  if (!started_) {
    started_ = true;
    if (space_.size() <= enumerate_limit_) Enumerate(enumerate_limit_);
  }
  if (!enumerated_) {
    for (int miss = 0; miss < kMissesBeforeEnumerating; ++miss) {
      const std::optional<uint64_t> index = space_.SampleLegal(rng_);
      if (!index) break;
      if (drawn_.insert(*index).second) return index;
    }
    Enumerate(kEnumerateAtMost);
  }
  if (next_ == order_.size()) return std::nullopt;
  return order_[next_++];
}

}  // namespace hone::search

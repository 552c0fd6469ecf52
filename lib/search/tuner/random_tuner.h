// The tuners that do not learn.
//
// The random tuner: a seeded order of the legal points without repetition; a batch is the next points of that order
// that are not in the history. The order depends only on the space and the seed, so it does not matter where batches
// end.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "search/tuner/tuner.h"

namespace hone::search {

class UnlearningTuner : public Tuner {
 public:
  void Update(const std::vector<Outcome>& outcomes) override;

 protected:
  IndexSet known_;  // in the history, or proposed
};

class RandomTuner : public UnlearningTuner {
 public:
  // Spaces up to this size are enumerated and shuffled; in larger ones, points are drawn and checked one by one.
  static constexpr uint64_t kEnumerateLimit = uint64_t{1} << 16;

  RandomTuner(const TaskSpace& space, uint64_t seed, uint64_t enumerate_limit = kEnumerateLimit);

  const char* name() const override { return "random"; }
  std::vector<PointIndex> NextBatch(int n) override;

 private:
  std::optional<PointIndex> Draw();  // the next point of the order
  void Enumerate(uint64_t limit);

  const TaskSpace& space_;
  Rng rng_;
  uint64_t enumerate_limit_;
  bool started_ = false;
  bool enumerated_ = false;
  std::vector<PointIndex> order_;  // if enumerated: the remaining order begins at next_
  size_t next_ = 0;
  IndexSet drawn_;  // drawn by this object alone: the order must not depend on the history
};

// The grid tuner: the legal points in ascending order of their index.
class GridTuner : public UnlearningTuner {
 public:
  explicit GridTuner(const TaskSpace& space) : space_(space) {}

  const char* name() const override { return "grid"; }
  std::vector<PointIndex> NextBatch(int n) override;

 private:
  const TaskSpace& space_;
  PointIndex next_ = 0;  // all smaller indices were proposed, are known or are illegal
};

}  // namespace hone::search

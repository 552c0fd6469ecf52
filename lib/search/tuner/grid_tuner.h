// The grid tuner: the legal points in ascending order of their index.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "search/tuner/tuner.h"

namespace hone::search {

class GridTuner : public Tuner {
 public:
  explicit GridTuner(const TaskSpace& space) : space_(space) {}

  const char* name() const override { return "grid"; }
  std::vector<uint64_t> NextBatch(int n) override;
  void Update(const std::vector<Outcome>& outcomes) override;

 private:
  const TaskSpace& space_;
  uint64_t next_ = 0;  // everything below was proposed, is known or is illegal
  std::unordered_set<uint64_t> known_;
};

}  // namespace hone::search

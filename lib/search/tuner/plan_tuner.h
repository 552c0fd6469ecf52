// PlanTuner: the base of tuners that learn. It proposes in rounds of a fixed number of trials; the plan of a round is a
// function of the history before that round, and nothing else. So it does not matter where batches end, nor where a run
// was interrupted: the same history gives the same plan, in the middle of a round or not.
//
// Round r is the trials r*R .. r*R+R-1 of the history, whoever proposed them (the default config is trial 0). Points of
// a plan that are known are skipped; NextBatch never goes beyond its round.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "search/tuner/tuner.h"

namespace hone::search {

class PlanTuner : public Tuner {
 public:
  // REQUIRES: round_size >= 1.
  explicit PlanTuner(int round_size) : round_size_(round_size) {}

  std::vector<uint64_t> NextBatch(int n) final;
  void Update(const std::vector<Outcome>& outcomes) final;

  int round_size() const { return round_size_; }

 protected:
  // The points of round `round`, best first: round_size() legal ones that `history` does not hold, or all there are if
  // they are fewer. `history`: the first round*round_size() outcomes. Called once a round; rounds may be left out when
  // a history is replayed, so what a plan needs of earlier plans it must make again from the history.
  virtual std::vector<uint64_t> Plan(int64_t round, const std::vector<Outcome>& history) = 0;

 private:
  const int round_size_;
  std::vector<Outcome> history_;
  std::unordered_set<uint64_t> known_;  // in the history, or proposed
  int64_t outstanding_ = 0;             // proposed and not yet in the history
  std::unordered_set<uint64_t> proposed_;
  int64_t planned_ = -1;  // the round that plan_ is for
  std::vector<uint64_t> plan_;
  size_t next_ = 0;
};

}  // namespace hone::search

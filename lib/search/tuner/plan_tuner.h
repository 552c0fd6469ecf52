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

  std::vector<PointIndex> NextBatch(int n) final;
  void Update(const std::vector<Outcome>& outcomes) final;

  int round_size() const { return round_size_; }

 protected:
  // The points of round `round`, best first: round_size() legal ones that `history` does not hold, or all there are if
  // they are fewer. `history`: the first round*round_size() outcomes. Called once a round; rounds may be left out when
  // a history is replayed, so what a plan needs of earlier plans it must make again from the history.
  virtual std::vector<PointIndex> Plan(int64_t round, const std::vector<Outcome>& history) = 0;

 private:
  const int round_size_;
  std::vector<Outcome> history_;
  IndexSet known_;  // in the history, or proposed
  int64_t outstanding_ = 0;             // proposed and not yet in the history
  IndexSet proposed_;
  int64_t planned_ = -1;  // the round that plan_ is for
  std::vector<PointIndex> plan_;
  size_t next_ = 0;
};

// The score of an outcome for a tuner that learns.
//
// The seconds of an outcome that has a time that makes sense (finite, above 0): of pruned ones, whose time is a lower
// bound, too. 0 for all others: failed, NaN, infinite.
double Seconds(const Outcome& outcome);

// The speed of each as a share of the fastest: 1 for that one, 0 for failures. All 0 if all failed.
std::vector<float> SpeedShares(const std::vector<Outcome>& outcomes);

}  // namespace hone::search

// PlanTuner: the base of tuners that learn. It proposes in rounds of a fixed number of trials; the plan of a round is a
// pure function of the history before that round. So neither the ends of batches nor an interruption matter: the same
// history gives the same plan, even in the middle of a round.
//
// Round r is the trials r*R .. r*R+R-1 of the history, whoever proposed them (the default config is trial 0). Known
// points of a plan are skipped; NextBatch never goes beyond its round.
#pragma once

#include <cstdint>
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
  // The points of round `round`, best first: round_size() legal ones that are not in `history`, or all if there are
  // fewer. `history` has the first round*round_size() outcomes. Called once per round; replaying a history may skip
  // rounds, so a plan that depends on earlier plans must recompute them from the history.
  virtual std::vector<PointIndex> Plan(int64_t round, const std::vector<Outcome>& history) = 0;

 private:
  const int round_size_;
  std::vector<Outcome> history_;
  IndexSet known_;  // in the history, or proposed
  int64_t outstanding_ = 0;  // proposed and not in the history yet
  IndexSet proposed_;
  int64_t planned_ = -1;  // the round that plan_ is for
  std::vector<PointIndex> plan_;
  size_t next_ = 0;
};

// The points of outcomes.
IndexSet IndicesOf(const std::vector<Outcome>& outcomes);

// Scores of an outcome for tuners that learn.
//
// The seconds of an outcome with a valid time (finite, above 0), including pruned ones, whose time is a lower bound. 0
// for all others: failed, NaN, infinite.
double Seconds(const Outcome& outcome);

// Speeds as shares of the fastest: 1 for the fastest, 0 for failures. All 0 if all failed.
std::vector<float> SpeedShares(const std::vector<Outcome>& outcomes);

}  // namespace hone::search

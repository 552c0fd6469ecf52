// Simulated annealing over measured times. Once a round, each of kWalkers walkers proposes a neighbour of its point and
// moves there with probability exp(-log(neighbour's time / walker's time) / temperature). The temperature falls by the
// factor kCooling each round. A walker may jump to the best point of all; the slower its own point, the likelier it
// does. A neighbour differs in one knob or two, by one value or any. Known points are skipped, so no point is measured
// twice.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "search/tuner/plan_tuner.h"
#include "search/tuner/points.h"

namespace hone::search {

class AnnealingTuner : public PlanTuner {
 public:
  static constexpr int kWalkers = 8;
  static constexpr double kStart = 0.5;  // a point that is exp(0.5) times slower is taken with probability 1/e
  static constexpr double kCooling = 0.85;
  static constexpr double kLowest = 0.02;

  AnnealingTuner(const TaskSpace& space, uint64_t seed) : PlanTuner(kWalkers), points_(space), seed_(seed) {}
  const char* name() const override { return "annealing"; }

 protected:
  std::vector<uint64_t> Plan(int64_t round, const std::vector<Outcome>& history) override;

 private:
  // The walkers' points follow from all rounds so far. Each round is replayed once, then remembered.
  struct Walker {
    bool stands = false;
    uint64_t at = 0;
    double log_time = 0;
  };
  std::vector<uint64_t> Propose(Rng* rng) const;
  void Take(const Outcome& outcome);
  void Move(int64_t round, Rng* rng);
  Rng RngOf(int64_t round, int part) const;

  const Points points_;
  const uint64_t seed_;
  std::vector<Walker> walkers_ = std::vector<Walker>(kWalkers);
  std::unordered_map<uint64_t, double> log_times_;  // of known points; infinity: failed
  IndexSet known_;
  Walker best_;
  int64_t rounds_ = 0;              // gone through
  std::vector<uint64_t> proposed_;  // of round rounds_, once made
};

}  // namespace hone::search

// Simulated annealing over measured times: kWalkers walkers, each of which proposes a neighbour of where it stands once
// a round and moves there with probability exp(-(log of its time over the walker's) / temperature). The temperature
// falls by kCooling a round; a walker is set on the best point of all, the likelier the further it is behind it. A
// neighbour differs in one knob or two, by one value or any. Known ones are passed by: nothing is measured twice.
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
  // Where the walkers stand is a matter of all rounds so far: they are gone through once, then remembered.
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
  std::unordered_map<uint64_t, double> log_times_;  // of what is known; infinity: failed
  IndexSet known_;
  Walker best_;
  int64_t rounds_ = 0;              // gone through
  std::vector<uint64_t> proposed_;  // of round rounds_, once made
};

}  // namespace hone::search

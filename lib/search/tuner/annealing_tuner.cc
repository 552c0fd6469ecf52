// Simulated annealing over measured times. Once a round, each of kWalkers walkers proposes a neighbour of its point and
// moves there with probability exp(-log(neighbour's time / walker's time) / temperature). The temperature falls by the
// factor kCooling each round. A walker may jump to the best point of all; the slower its own point, the likelier it
// does. A neighbour differs in one knob or two, by one value or any. Known points are skipped, so no point is measured
// twice.
#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "search/tuner/plan_tuner.h"
#include "search/tuner/points.h"
#include "search/tuner/tuner.h"

namespace hone::search {
namespace {

constexpr int kWalkers = 8;
constexpr double kStart = 0.5;  // a point that is exp(0.5) times slower is taken with probability 1/e
constexpr double kCooling = 0.85;
constexpr double kLowest = 0.02;
constexpr double kFailed = std::numeric_limits<double>::infinity();
constexpr int kTries = 16;           // to find a new neighbour
constexpr double kRestart = 0.5;     // scales the probability of a restart, which grows with the distance to the best
constexpr double kDoubleStep = 0.3;  // probability that a neighbour is two steps away
constexpr double kNearStep = 0.5;    // probability that a step takes a neighbouring value

class AnnealingTuner : public PlanTuner {
 public:
  AnnealingTuner(const TaskSpace& space, uint64_t seed) : PlanTuner(kWalkers), points_(space), seed_(seed) {}
  const char* name() const override { return "annealing"; }

 private:
  // The walkers' points follow from all rounds so far. Each round is replayed once, then remembered.
  struct Walker {
    bool stands = false;
    PointIndex at = 0;
    double log_time = 0;
  };

  std::vector<PointIndex> Plan(int64_t round, const std::vector<Outcome>& history) override {
    for (; rounds_ < round; ++rounds_) {
      if (proposed_.empty()) {
        Rng rng = RngOf(rounds_, 0);
        proposed_ = Propose(&rng);
      }
      for (int64_t i = rounds_ * kWalkers; i < (rounds_ + 1) * kWalkers; ++i) Take(history[static_cast<size_t>(i)]);
      Rng rng = RngOf(rounds_, 1);
      Move(rounds_, &rng);
      proposed_.clear();
    }
    Rng rng = RngOf(round, 0);
    proposed_ = Propose(&rng);
    return proposed_;
  }

  Rng RngOf(int64_t round, int part) const {
    return Rng(Mix64(seed_ ^ Mix64(static_cast<uint64_t>(2 * round + part))));
  }

  std::vector<PointIndex> Propose(Rng* rng) const {
    std::vector<PointIndex> plan;
    IndexSet planned;
    for (const Walker& walker : walkers_) {
      for (int t = 0; walker.stands && t < kTries; ++t) {
        PointIndex next = points_.Walk(walker.at, rng, kNearStep);
        if (rng->UniformDouble() < kDoubleStep) next = points_.Walk(next, rng, kNearStep);
        // Leaves a fully known neighbourhood by walking on from there.
        if (known_.count(next)) next = points_.Walk(next, rng, kNearStep);
        if (known_.count(next) || !planned.insert(next).second) continue;
        plan.push_back(next);
        break;
      }
    }
    points_.FillUp(kWalkers, known_, rng, &plan);
    return plan;
  }

  void Take(const Outcome& outcome) {
    const double seconds = Seconds(outcome);
    const double log_time = seconds > 0 ? std::log(seconds) : kFailed;
    const PointIndex index = outcome.config.index;
    known_.insert(index);
    log_times_[index] = log_time;
    const bool legal = points_.Legal(index);  // a default may be illegal
    if (seconds > 0 && legal && (!best_.stands || log_time < best_.log_time)) best_ = {true, index, log_time};
  }

  void Move(int64_t round, Rng* rng) {
    const double temperature = std::max(kLowest, kStart * std::pow(kCooling, static_cast<double>(round)));
    // The plan has one point per walker, in their order, except for walkers that found no point. Which walker made a
    // point does not matter: the w-th point is offered to the w-th walker.
    for (size_t w = 0; w < walkers_.size(); ++w) {
      const double chance = rng->UniformDouble(), restart = rng->UniformDouble();
      Walker& walker = walkers_[w];
      if (w < proposed_.size()) {
        const auto known = log_times_.find(proposed_[w]);
        const double log_time = known == log_times_.end() ? kFailed : known->second;
        if (std::isfinite(log_time)) {
          const double worse = walker.stands ? log_time - walker.log_time : 0;
          if (chance <= std::exp(-worse / temperature)) walker = {true, proposed_[w], log_time};
        }
      }
      const double behind = walker.stands && best_.stands ? walker.log_time - best_.log_time : 0;
      if (restart < kRestart * (1 - std::exp(-behind / temperature))) walker = best_;
    }
  }

  const Points points_;
  const uint64_t seed_;
  std::vector<Walker> walkers_ = std::vector<Walker>(kWalkers);
  std::unordered_map<PointIndex, double, PointHash> log_times_;  // of known points; infinity: failed
  IndexSet known_;
  Walker best_;
  int64_t rounds_ = 0;                // replayed so far
  std::vector<PointIndex> proposed_;  // in round rounds_, if already computed
};

}  // namespace

std::unique_ptr<Tuner> MakeAnnealingTuner(const TaskSpace& space, uint64_t seed) {
  return std::make_unique<AnnealingTuner>(space, seed);
}

}  // namespace hone::search

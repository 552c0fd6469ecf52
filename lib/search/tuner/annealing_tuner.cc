#include "search/tuner/annealing_tuner.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "search/tuner/score.h"

namespace hone::search {
namespace {

constexpr double kFailed = std::numeric_limits<double>::infinity();
constexpr int kTries = 16;           // for a neighbour that is new
constexpr double kRestart = 0.5;     // of the chance that a walker would not step from the best to where it stands
constexpr double kDoubleStep = 0.3;  // how often a neighbour is two steps away
constexpr double kNearStep = 0.5;    // how often a step takes a neighbouring value

}  // namespace

Rng AnnealingTuner::RngOf(int64_t round, int part) const {
  return Rng(Mix64(seed_ ^ Mix64(static_cast<uint64_t>(2 * round + part))));
}

std::vector<uint64_t> AnnealingTuner::Propose(Rng* rng) const {
  std::vector<uint64_t> plan;
  IndexSet planned;
  for (const Walker& walker : walkers_) {
    for (int t = 0; walker.stands && t < kTries; ++t) {
      uint64_t next = points_.Walk(walker.at, rng, kNearStep);
      if (rng->UniformDouble() < kDoubleStep) next = points_.Walk(next, rng, kNearStep);
      // A neighbourhood that is known all over is left by going on from there.
      if (known_.count(next)) next = points_.Walk(next, rng, kNearStep);
      if (known_.count(next) || !planned.insert(next).second) continue;
      plan.push_back(next);
      break;
    }
  }
  const std::vector<uint64_t> fresh = points_.DrawNew(kWalkers - plan.size(), known_, planned, rng);
  plan.insert(plan.end(), fresh.begin(), fresh.end());
  return plan;
}

void AnnealingTuner::Take(const Outcome& outcome) {
  const double seconds = Seconds(outcome);
  const double log_time = seconds > 0 ? std::log(seconds) : kFailed;
  const uint64_t index = outcome.config.index;
  known_.insert(index);
  log_times_[index] = log_time;
  const bool legal = points_.Legal(index);  // a default may be a point that is not
  if (seconds > 0 && legal && (!best_.stands || log_time < best_.log_time)) best_ = {true, index, log_time};
}

void AnnealingTuner::Move(int64_t round, Rng* rng) {
  const double temperature = std::max(kLowest, kStart * std::pow(kCooling, static_cast<double>(round)));
  // The plan has a point a walker, in their order, without walkers that found no point; which walker made a point does
  // not matter: the w-th point is offered to the w-th walker.
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

std::vector<uint64_t> AnnealingTuner::Plan(int64_t round, const std::vector<Outcome>& history) {
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

}  // namespace hone::search

// The rules of `[tune] share` on tasks whose curves are known: how much slower the network is than its limit, after
// half of the budget and after all of it. No clock and no randomness but that of the curves' seed.
#include <cmath>
#include <numeric>

#include "base/rng.h"
#include "common/expect.h"
#include "pipeline/shares.h"

namespace hone::pipeline {
namespace {

struct Curve {
  int64_t uses = 1;
  double limit = 1e-3;  // seconds
  double excess = 1;    // after one trial, as a share of the limit
  double power = 1;     // the excess falls with trials^-power
  double trial = 1;     // seconds of tuning that a trial takes
  bool broken = false;  // no correct candidate
  bool expects = true;  // the tuner has an expectation

  double At(int64_t trials) const {
    if (broken || trials < 1) return 0;
    // Steps: tuning finds something better at some trials only.
    const double steps = std::floor(4 * std::log2(static_cast<double>(trials))) / 4;
    return limit * (1 + excess * std::pow(2, -power * steps));
  }
};

SearchState After(const Curve& curve, double budget, bool by_time) {
  SearchState search{.given = budget};
  search.trials = static_cast<int64_t>(by_time ? std::ceil(budget / curve.trial) : budget);
  search.spent = static_cast<double>(search.trials) * (by_time ? curve.trial : 1);
  search.seconds = curve.At(search.trials);
  for (int64_t n = 1; n <= search.trials; ++n) {
    const double seconds = curve.At(n);
    if (seconds > 0 && (search.improvements.empty() || seconds < search.improvements.back().seconds)) {
      search.improvements.push_back({n, seconds});
    }
  }
  const double n = static_cast<double>(search.trials);
  const double left = curve.limit * curve.excess * curve.power * std::pow(n, -curve.power - 1);
  if (curve.expects && search.seconds > 0) search.tuner_gain = left / search.seconds;
  return search;
}

struct Outcome {
  double spent = 0;
  double excess = 0;  // of the network over its limit, as a share
  std::vector<double> budgets;
};

// Plays `settings.rounds` rounds, or only the first `rounds`.
Outcome Simulate(const std::vector<Curve>& curves, const TuneSettings& settings, int64_t rounds) {
  const bool by_time = settings.seconds_total > 0;
  std::vector<ShareTask> tasks;
  for (const Curve& curve : curves) tasks.push_back({curve.uses, 1000, false, {}});
  Outcome outcome;
  for (int64_t round = 1; round <= rounds; ++round) {
    outcome.budgets = ShareOut(tasks, settings, round);
    for (size_t i = 0; i < curves.size(); ++i) tasks[i].search = After(curves[i], outcome.budgets[i], by_time);
  }
  double limit = 0, now = 0;
  for (size_t i = 0; i < curves.size(); ++i) {
    outcome.spent += tasks[i].search.spent;
    if (curves[i].broken) continue;
    const double uses = static_cast<double>(curves[i].uses);
    limit += uses * curves[i].limit;
    now += uses * tasks[i].search.seconds;
  }
  outcome.excess = now / limit - 1;
  return outcome;
}

// Twenty tasks as a network has them: times over three decades, one to eight uses, easy and hard to tune.
std::vector<Curve> Network(uint64_t seed) {
  Rng rng(seed);
  std::vector<Curve> curves;
  for (int i = 0; i < 20; ++i) {
    Curve curve;
    curve.uses = 1 + static_cast<int64_t>(rng.UniformInt(8));
    curve.limit = 1e-5 * std::pow(10, 3 * rng.UniformDouble());
    curve.excess = 4 * std::pow(10, -1.5 * rng.UniformDouble());
    curve.power = 0.4 + 0.8 * rng.UniformDouble();
    curve.trial = 0.05 * std::pow(10, rng.UniformDouble());
    curves.push_back(curve);
  }
  return curves;
}

TuneSettings Settings(const std::string& share, double total, bool by_time, int64_t rounds = 8) {
  TuneSettings settings;
  settings.share = share;
  settings.rounds = rounds;
  if (by_time) settings.seconds_total = total;
  if (!by_time) settings.trials_total = static_cast<int64_t>(total);
  return settings;
}

// The geometric mean over networks of the excess by `share` over that by equal shares.
double AgainstEqual(const std::string& share, bool by_time, bool expects, int64_t of_eight_rounds) {
  double sum = 0;
  constexpr int kNetworks = 20;
  for (uint64_t seed = 1; seed <= kNetworks; ++seed) {
    std::vector<Curve> curves = Network(seed);
    for (Curve& curve : curves) curve.expects = expects;
    const double total = by_time ? 20 * 40 * 0.2 : 20 * 40;
    const Outcome own = Simulate(curves, Settings(share, total, by_time), of_eight_rounds);
    const Outcome equal = Simulate(curves, Settings("equal", total, by_time), of_eight_rounds);
    EXPECT_NEAR(own.spent, equal.spent, by_time ? 20 : 0.5) << share << " " << seed;
    sum += std::log(own.excess / equal.excess);
  }
  return std::exp(sum / kNetworks);
}

TEST(ShareSimulation, EveryRuleBeatsEqualSharesAfterHalfOfTheBudgetAndAfterAll) {
  for (const char* share : {"time", "gradient", "gain"}) {
    for (const bool by_time : {false, true}) {
      for (const bool expects : {false, true}) {
        const double half = AgainstEqual(share, by_time, expects, 4), all = AgainstEqual(share, by_time, expects, 8);
        fmt::print("{:8} {:7} {:11} excess over equal shares: half {:.3f}, all {:.3f}\n", share,
                   by_time ? "seconds" : "trials", expects ? "expectation" : "curve", half, all);
        EXPECT_LT(half, 0.95) << share;
        EXPECT_LT(all, 0.9) << share;
      }
    }
  }
}

}  // namespace
}  // namespace hone::pipeline

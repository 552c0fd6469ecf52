// How often the gate of nightly runs (nightly/gate.h) cries wolf, and how often it finds what is there: times drawn at
// random as in a model of a shared machine: log-normal, nights differ by 1 %, processes by 1 %, runs by 2 %, and one
// run in twenty is up to 10 % slower. Library and reference run in the same night.
//
//   gate_simulation [--rounds=4000] [--seed=1]
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/rng.h"
#include "base/statistics.h"
#include "nightly/gate.h"
#include "perf/flags.h"

namespace {

constexpr int kProcesses = 7, kRuns = 30, kNights = 20;

double ProcessMedian(double level, hone::Rng& rng) {
  const double process = level * std::exp(0.01 * rng.Normal());
  std::vector<double> runs;
  for (int i = 0; i < kRuns; ++i) {
    double run = process * std::exp(0.02 * rng.Normal());
    if (rng.UniformDouble() < 0.05) run *= 1 + 0.1 * rng.UniformDouble();
    runs.push_back(run);
  }
  return hone::Median(runs);
}

hone::nightly::Comparison Night(double change, const std::vector<double>& history, hone::Rng& rng) {
  const double night = std::exp(0.01 * rng.Normal());
  std::vector<double> library, reference;
  for (int i = 0; i < kProcesses; ++i) {
    library.push_back(ProcessMedian(night * (1 + change), rng));
    reference.push_back(ProcessMedian(night, rng));
  }
  return hone::nightly::Compare(library, reference, history);
}

}  // namespace

int main(int argc, char** argv) {
  hone::perf::Flags flags("gate_simulation [--rounds=4000] [--seed=1]", argc, argv);
  const int rounds = static_cast<int>(flags.Number("--rounds", 4000));
  hone::Rng rng(static_cast<uint64_t>(flags.Number("--seed", 1)));
  flags.Words();
  fmt::print("change  flagged  confirmed   ({} nights each, {} processes a side)\n", rounds, kProcesses);
  for (double change : {0.0, 0.03, 0.05, 0.08, -0.05}) {
    int flagged = 0, confirmed = 0;
    for (int round = 0; round < rounds; ++round) {
      std::vector<double> history;  // of equal libraries, on the nights before
      for (int night = 0; night < kNights; ++night) history.push_back(Night(0, {}, rng).ratio);
      const auto first = Night(change, history, rng);
      if (first.change == hone::nightly::Change::kNone) continue;
      ++flagged;
      confirmed += Confirm(first, Night(change, history, rng)) != hone::nightly::Change::kNone;
    }
    fmt::print("{:+5.0f} %  {:6.2f} %  {:7.2f} %\n", 100 * change, 100.0 * flagged / rounds,
               100.0 * confirmed / rounds);
  }
  return 0;
}

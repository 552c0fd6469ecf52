// The measuring protocol (task/protocol.h): its version, and when to stop repeating.
#pragma once

#include <cstdint>
#include <vector>

#include "task/protocol.h"

namespace hone::measure {

// Raise it whenever a change here, in the inputs or in the runner may change a time or a verdict. Records contain it.
inline constexpr int kProtocolVersion = 4;

// The number of runs for the next block, after `number` runs took `seconds`, less than `wanted`: as many as should fill
// it, plus one, but at least 1.618 times as many.
int64_t NextNumber(int64_t number, double seconds, double wanted);

// The stopping rule for one candidate: a pure function of its samples.
//  1. One run. If it exceeds prune_factor x incumbent, a second one, since the machine may cause a single slow run; if
//     that exceeds it too, the candidate is pruned, and the faster of the two is its lower bound.
//     A run that others disturbed prunes nothing.
//  2. Then repeat until the interval of the median is entirely above the incumbent (the candidate lost; the margin does
//     not matter), or is narrower than relative_width, or usual_seconds, max_samples or candidate_seconds are used up.
//     The finalists' runs decide what is still too close.
class StoppingRule {
 public:
  enum class Verdict { kMore, kPruned, kDone };

  StoppingRule(const Protocol& protocol, double incumbent) : protocol_(protocol), incumbent_(incumbent) {}

  Verdict Add(double seconds, bool disturbed = false);
  const std::vector<double>& samples() const { return samples_; }
  double median() const;  // of the samples; the fastest one if pruned
  bool pruned() const { return pruned_; }
  int64_t disturbed() const { return disturbed_; }  // number of disturbed samples
  bool Enough() const { return static_cast<int>(samples_.size()) >= protocol_.min_samples; }

 private:
  Protocol protocol_;
  double incumbent_;
  double total_ = 0;
  bool pruned_ = false;
  int64_t disturbed_ = 0;
  std::vector<double> samples_;
};

}  // namespace hone::measure

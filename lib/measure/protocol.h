// The measuring protocol: constants, settings, and when to stop repeating. doc/internals/measuring.md explains the
// choices.
#pragma once

#include <cstdint>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "task/outcome.h"

namespace hone::measure {

// Raised whenever a change here, in the inputs or in the runner may change a time or a verdict. Records carry it.
inline constexpr int kProtocolVersion = 3;

struct Protocol {
  double candidate_seconds = 0.3;  // timing of one candidate stops here at the latest
  double timeout_seconds = 10;     // a candidate that has not answered by then is killed
  double prune_factor = 2;         // a first run slower than this times the incumbent: pruned; 0: never
  int min_samples = 5;
  int max_samples = 60;
  double usual_seconds = 0.03;   // of timing one candidate is enough, once there are min_samples
  double relative_width = 0.01;  // stop once the interval of the median is narrower than this share of it
  double confidence = 0.95;      // of that interval
  double cold_bytes = 48e6;      // copies of the constants that the runs rotate through, in total (cold_ring.h)
  double roofline_slack = 1.1;   // faster than peak times this is not possible
  double patience_seconds = 2;   // for runs that others disturbed to be taken again (measure/load_guard.h); 0: none is
  // AutoTVM's way instead, if `number` is above 0: `repeat` blocks of `number` runs each; a sample is a block's time
  // over its runs. A block shorter than min_repeat_seconds is thrown away and `number` raised, for later blocks too.
  // What counts is TrimmedMean of the samples (task/outcome.h), which stands where the median does otherwise.
  int64_t number = 0;
  int64_t repeat = 0;
  double min_repeat_seconds = 0;
  double cooldown_seconds = 0;  // of sleep after each candidate
};

// The number of runs of the next block after one of `number` runs took `seconds`, less than `wanted`: as many as should
// fill it, and one, but at least 1.618 times as many.
int64_t NextNumber(int64_t number, double seconds, double wanted);

Json ProtocolToJson(const Protocol& protocol);
Result<Protocol> ProtocolFromJson(const Json& json);

// The stopping rule for one candidate: a pure function of its samples.
//  1. One run. Beyond prune_factor x incumbent: a second one, since a single slow run may be the machine's fault; if
//     that is beyond too, the candidate is pruned, and the faster of the two is its lower bound.
//     A run that others disturbed prunes nothing.
//  2. Then repeat until the interval of the median lies wholly above the incumbent (it lost, by how much is of no
//     interest), or is narrower than relative_width, or usual_seconds, max_samples or candidate_seconds are used up.
//     What is too close to call then is decided among the finalists.
class StoppingRule {
 public:
  enum class Verdict { kMore, kPruned, kDone };

  StoppingRule(const Protocol& protocol, double incumbent) : protocol_(protocol), incumbent_(incumbent) {}

  Verdict Add(double seconds, bool disturbed = false);
  const std::vector<double>& samples() const { return samples_; }
  double median() const;  // of the samples; the fastest if pruned
  bool pruned() const { return pruned_; }
  int64_t disturbed() const { return disturbed_; }  // of the samples
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

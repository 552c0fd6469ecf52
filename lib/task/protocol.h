// How one candidate is timed: a job's settings, with defaults. doc/internals/measuring.md explains the choices.
// measure/protocol.h defines when to stop repeating.
#pragma once

#include <cstdint>
#include <string>

namespace hone {

class Fields;

struct Protocol {
  double candidate_seconds = 0.3;  // upper limit for timing one candidate, > 0
  double timeout_seconds = 10;     // a candidate without an answer by then is killed: error `timeout`, > 0
  double prune_factor = 2;         // prunes if the first run takes longer than this times the incumbent; 0: never
  // If `number` is above 0, uses AutoTVM's protocol instead: `repeat` blocks of `number` runs each; a sample is a
  // block's time divided by its runs. A block shorter than min_repeat_ms is discarded, and `number` increases, also for
  // later blocks. The result is TrimmedMean of the samples (base/statistics.h), stored in place of the median.
  int64_t number = 0;
  int64_t repeat = 0;
  double min_repeat_ms = 0;
  double cooldown = 0;  // seconds to sleep after each candidate

  // Not configurable.
  int min_samples = 5;
  int max_samples = 60;
  double usual_seconds = 0.03;   // enough time for one candidate, once there are min_samples
  double relative_width = 0.01;  // stops once the median's interval is narrower than this share of the median
  double confidence = 0.95;      // of that interval
  double cold_bytes = 48e6;      // copies of the constants that the runs rotate through, in total (measure/cold_ring.h)
  double roofline_slack = 1.1;   // a time that beats the peak by more than this factor is impossible
  double patience_seconds = 2;   // for repeating disturbed runs (measure/load_guard.h); 0: never repeat

  bool operator==(const Protocol&) const = default;
};

void ListFields(Fields* f, Protocol* protocol);

// How times are taken if not by the adaptive protocol ("" if adaptive). Part of the fingerprint, since such times are
// not comparable.
std::string TimingText(const Protocol& protocol);
// Whether a fingerprint contains such a text: blocks were timed in AutoTVM's way (Protocol::number), and TrimmedMean of
// the samples counts, not the median.
bool CountsTrimmedMeans(const std::string& fingerprint);
// Whether two fingerprints are equal, but for the driver's release (`; release=550.54.15`) that only one of them names:
// earlier versions did not record it.
bool SameMachine(const std::string& a, const std::string& b);

}  // namespace hone

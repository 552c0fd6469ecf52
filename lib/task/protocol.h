// How one candidate is timed: the settings of a job, with defaults. doc/internals/measuring.md explains the choices.
// measure/protocol.h says when to stop repeating.
#pragma once

#include <cstdint>
#include <string>

namespace hone {

class Fields;

struct Protocol {
  double candidate_seconds = 0.3;  // timing of one candidate stops here at the latest, > 0
  double timeout_seconds = 10;     // a candidate that has not answered by then is killed: error `timeout`, > 0
  double prune_factor = 2;         // a first run slower than this times the incumbent: pruned; 0: never
  // AutoTVM's way instead, if `number` is above 0: `repeat` blocks of `number` runs each; a sample is a block's time
  // over its runs. A block shorter than min_repeat_ms is thrown away and `number` raised, for later blocks too. What
  // counts is TrimmedMean of the samples (base/statistics.h), which stands where the median does otherwise.
  int64_t number = 0;
  int64_t repeat = 0;
  double min_repeat_ms = 0;
  double cooldown = 0;  // seconds of sleep after each candidate

  // No setting changes these.
  int min_samples = 5;
  int max_samples = 60;
  double usual_seconds = 0.03;   // this much timing of one candidate is enough, once there are min_samples
  double relative_width = 0.01;  // stop once the interval of the median is narrower than this share of it
  double confidence = 0.95;      // of that interval
  double cold_bytes = 48e6;      // copies of the constants that the runs rotate through, in total (measure/cold_ring.h)
  double roofline_slack = 1.1;   // faster than peak times this is not possible
  double patience_seconds = 2;   // for repeating runs that others disturbed (measure/load_guard.h); 0: repeat none

  bool operator==(const Protocol&) const = default;
};

void ListFields(Fields* f, Protocol* protocol);

// How times are taken, if not by the adaptive protocol: part of the fingerprint, since they are not comparable. "" if
// adaptive.
std::string TimingText(const Protocol& protocol);
// Whether a fingerprint has such a text. Only lib/record asks (record::Session::trimmed_means).
bool CountsTrimmedMeans(const std::string& fingerprint);

}  // namespace hone

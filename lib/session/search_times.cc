#include "session/search_times.h"

#include "base/statistics.h"

namespace hone::session {

SearchTimes::SearchTimes(const std::string& fingerprint) : blocks_(CountsTrimmedMeans(fingerprint)) {}

double SearchTimes::Take(const Outcome& outcome, const std::vector<int64_t>& rounds) {
  std::vector<double> first;
  for (size_t i = 0; i < outcome.samples.size(); ++i) {
    if (i >= rounds.size() || rounds[i] == 0) first.push_back(outcome.samples[i]);
  }
  if (first.empty()) {
    const auto twin = by_artifact_.find(outcome.artifact_digest);
    return twin == by_artifact_.end() ? outcome.median : twin->second;
  }
  // The recorded time need not be the median of these: for a pruned trial it is the fastest.
  const bool again = first.size() < outcome.samples.size();
  const double seconds = !again ? outcome.median : blocks_ ? TrimmedMean(first) : Median(first);
  if (!outcome.artifact_digest.empty()) by_artifact_.emplace(outcome.artifact_digest, seconds);
  return seconds;
}

}  // namespace hone::session

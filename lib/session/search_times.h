// The trials' times during the search, apart from the times of finalists that were measured again later.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "task/outcome.h"

namespace hone::session {

// Finalists are measured again at another time and under other conditions (session/finalists.h), and the new medians
// replace the old ones. The new times decide which finalist wins, but they do not compare with the times of other
// trials. A tuner, or a task that learns from this one, needs times of one kind: those of the search.
class SearchTimes {
 public:
  // `fingerprint`: of the trials; it says where times are those of AutoTVM's blocks (CountsTrimmedMeans).
  explicit SearchTimes(const std::string& fingerprint);

  // The next trial of that fingerprint, in the order of the ordinals: the median (of blocks the trimmed mean) of its
  // own first samples; without any, that of the trial in which its artifact was timed. Where nothing was measured again
  // it is the recorded median to the bit, and so it is where the first samples are lost. `rounds`: of each sample
  // (record::Trial), 0 for the first ones; empty: all of them are.
  double Take(const Outcome& outcome, const std::vector<int64_t>& rounds);

 private:
  bool blocks_;
  std::map<std::string, double> by_artifact_;
};

}  // namespace hone::session

// What trials took while searching, as against what finalists took later.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "task/outcome.h"

namespace hone::session {

// Finalists are measured again at another time and under other conditions (session/finalists.h), and their medians
// replace the first ones: the fastest few then look slower, or faster, beside all others than they are. Which of them
// wins is to be asked of those times; a tuner, or a task that learns from this one, must be told times of one kind.
class SearchTimes {
 public:
  // `fingerprint`: of the trials; it says where times are those of AutoTVM's blocks (CountsTrimmedMeans).
  explicit SearchTimes(const std::string& fingerprint);

  // Of the next trial of that fingerprint, in the order of the ordinals: the median (of blocks the trimmed mean) of its
  // own first samples; without any, that of the trial in which its artifact was timed. Where nothing was measured again
  // it is the recorded median to the bit, and so it is where the first samples are lost. `rounds`: of each sample
  // (record::Trial), 0 for the first ones; empty: all of them are.
  double Take(const Outcome& outcome, const std::vector<int64_t>& rounds);

 private:
  bool blocks_;
  std::map<std::string, double> by_artifact_;
};

}  // namespace hone::session

// Distributes the trials of a whole network (`[tune] trials_total`) over its tasks in rounds: the first equally, to
// learn the times, each later one in proportion to (times the network computes a task) x (best time so far). A pure
// function of the results of earlier rounds, so repeating it gives the same result.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone::pipeline {

struct ShareTask {
  int64_t weight = 1;  // number of times that the network computes it
  int64_t flop = 0;    // per computation; stands in for its time if that is unknown
  int64_t given = 0;   // budget up to the previous round
  int64_t spent = 0;   // trials within it; if fewer than given, it stopped early and gets no more
  double seconds = 0;  // best time of those; 0 if none was correct
};

// The budget of each task up to and including `round` (1 to `rounds`), in the order of `tasks`; never less than given.
// If no task stops early, the sum after the last round is `total`; what one leaves over goes to the others. REQUIRES:
// total >= number of tasks
std::vector<int64_t> ShareOut(const std::vector<ShareTask>& tasks, int64_t total, int round, int rounds);

// The search as recorded in a stamp of hone-tune (session/stamp.h). Returns kInvalid with `path`.
struct SearchState {
  int64_t given = 0, spent = 0;
  double seconds = 0;
};
Result<SearchState> ParseStamp(std::string_view text, const std::string& path);

}  // namespace hone::pipeline

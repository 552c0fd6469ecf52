// How the trials of a whole network (`[tune] trials_total`) are shared out over its tasks, in rounds: the first
// equally, to learn the times, each later one in proportion to how often the network computes a task x the best time so
// far. A pure function of what the rounds before found, so that deciding again decides the same.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone::pipeline {

struct ShareTask {
  int64_t weight = 1;  // how often the network computes it
  int64_t flop = 0;    // of one computation: its time where none is known, in proportion
  int64_t given = 0;   // budget up to the round before
  int64_t spent = 0;   // trials within it; fewer than given: it stopped early and takes no more
  double seconds = 0;  // the best of those; 0: none was correct
};

// The budget of each task up to and with `round` (1 to `rounds`), in the order of `tasks`; never less than given. If no
// task stops early the sum after the last round is `total`; what one leaves over goes to the others. REQUIRES: total >=
// number of tasks
std::vector<int64_t> ShareOut(const std::vector<ShareTask>& tasks, int64_t total, int round, int rounds);

// The search as a stamp of hone-tune (session/stamp.h) records it. kInvalid with `path`.
struct SearchState {
  int64_t given = 0, spent = 0;
  double seconds = 0;
};
Result<SearchState> ParseStamp(std::string_view text, const std::string& path);

}  // namespace hone::pipeline

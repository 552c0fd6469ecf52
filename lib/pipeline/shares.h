// Distributes the budget of a whole network (`[tune] trials_total` or `seconds_total`) over its tasks in rounds. The
// first round is equal, to learn the times; `[tune] share` decides the later ones (share_needs.h). A pure function of
// the results of earlier rounds, so repeating it gives the same result.
//
// A task ends, and its budget goes to the others, if it stopped before its budget was spent, or if kHopeless trials
// brought no correct candidate. The network then uses its default.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pipeline/settings.h"

namespace hone::pipeline {

inline constexpr int64_t kHopeless = 16;

// A trial that was faster than all before it: the number of trials up to it, and its time.
struct Improvement {
  int64_t trials = 0;
  double seconds = 0;
};

// The search of a task up to a round, as the stamp of hone-tune records it (session/stamp.h).
struct SearchState {
  double given = 0;  // budget, in the unit of the total: trials or seconds
  double spent = 0;  // of it, in the same unit
  int64_t trials = 0;
  double seconds = 0;         // best time; 0 without a correct trial
  double trial_seconds = 0;   // compiling and measuring, summed over the trials; 0 in stamps of older versions
  double tuner_gain = -1;     // what the tuner expects of its next trial, as a share of the time; below 0: unknown
  bool ended = false;         // it stopped before its budget was spent
  std::vector<Improvement> improvements;

  // The best time of the first `count` trials; 0 if it is unknown, or without a correct trial.
  double BestAt(int64_t count) const;
};

// Whether a task gets no more.
bool Ended(const SearchState& search);

// `by_time`: the total is in seconds. Returns kInvalid with `path`.
Result<SearchState> ParseStamp(std::string_view text, const std::string& path, bool by_time);

struct ShareTask {
  int64_t uses = 1;       // number of times that the network computes it
  int64_t flop = 0;       // per computation; stands in for its time if that is unknown
  bool optional = false;  // only alternatives need it: not part of the network's total
  SearchState search = {};
  double weight = 1;  // of [weights]
  double Weight() const { return weight * static_cast<double>(uses); }
};

// The time of the network's tasks, each times its uses: an estimate of the network's time, without its layers that are
// not tuned. A task without a correct trial counts as 0 and adds to *unknown, if not null.
double EstimatedTotal(const std::vector<ShareTask>& tasks, int64_t* unknown = nullptr);

// The operator of a task's id: "conv2d" for "conv2d-0123456789abcdef".
std::string OperatorOf(const std::string& task);
// A task's weight in [weights]: of its id, else of its operator, else 1.
double WeightOf(const TuneSettings& settings, const std::string& task);

// Returns why a total is too small for `tasks` tasks, beginning with the key ("trials_total is 1, .."), or "".
// REQUIRES: settings.HasTotal()
std::string BudgetProblem(const TuneSettings& settings, size_t tasks);

// The budget of each task up to and including `round` (from 1), in the order of `tasks` and in the unit of the total:
// whole trials, or seconds. Never less than given before. If no task ends, the sum after the last round is the total.
// A task without weight gets nothing after the first round.
// REQUIRES: no BudgetProblem
std::vector<double> ShareOut(const std::vector<ShareTask>& tasks, const TuneSettings& settings, int64_t round);

}  // namespace hone::pipeline

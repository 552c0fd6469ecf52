// Tuning without a device: a tuner searches a space whose points were all measured before.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/replay_space.h"
#include "search/tuner/tuner.h"

namespace hone::session {

struct ReplayOptions {
  std::string tuner = "auto";
  uint64_t seed = 1;
  int64_t trials = 128;
  int batch = 16;           // candidates that a tuner is asked for at a time, as a session does
  double prune_factor = 2;  // a point slower than this times the best so far is reported as pruned; 0: never
  bool like_autotvm = false;
  std::vector<search::Donor> donors;
  search::LoopProgram loops;  // null: points are lowered anew in each run
};

struct ReplayRun {
  std::vector<uint64_t> tried;  // indices, in order
  std::vector<Outcome> trials;  // in the same order, as a job would have recorded them
  std::vector<double> share;    // after each trial: the space's best time over the best so far; 0 if none was ok
  double tuner_seconds = 0;     // spent in the tuner
};

// The context that a session gives a tuner (session/tuner_context.h), with the replay space's defaults.
Result<search::TunerContext> ReplayContext(const record::ReplaySpace& replay);

// Lowers each point once and keeps it for all runs that share the returned function: for tuners that look at the loops
// of one space under many seeds. Thread-safe. A point takes some hundred kilobytes.
search::LoopProgram RememberLoops(search::LoopProgram loops);

// Trial 0 is the first template's default, as in a session. kInvalid if the space has no point that is ok.
Result<ReplayRun> Replay(const record::ReplaySpace& replay, const search::TaskSpace& space,
                         const ReplayOptions& options);

// Returns how many trials `run` needed to reach `share`; its length + 1 if it never did.
int64_t TrialsTo(const ReplayRun& run, double share);

}  // namespace hone::session

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
  std::vector<PointIndex> tried;  // indices, in order
  std::vector<Outcome> trials;  // in the same order, as a job would have recorded them
  std::vector<double> share;    // after each trial: the space's best time over the best so far; 0 if none was ok
  double tuner_seconds = 0;     // spent in the tuner
};

// The context that a session gives a tuner (session/tuner_context.h), with the replay space's defaults.
Result<search::TunerContext> ReplayContext(const record::ReplaySpace& replay);

// Trial 0 is the first template's default, as in a session. kInvalid if the space has no point that is ok.
Result<ReplayRun> Replay(const record::ReplaySpace& replay, const search::TaskSpace& space,
                         const ReplayOptions& options);

// Returns how many trials `run` needed to reach `share`; its length + 1 if it never did.
int64_t TrialsTo(const ReplayRun& run, double share);

// Replays as a Markdown table: share of the best possible speed after 4, 8, .. trials, in percent.
// Two lines; `trials`: columns beyond them are left out.
std::string ReplayTableHead(int64_t trials, const std::string& first_column);

// One line for many runs: the median of the shares, the worst of them, trials to reach 95 % (median, and what three of
// four runs need; one more than were made if that many never did), milliseconds in the tuner a trial.
std::string ReplayTableRow(const std::string& label, const std::vector<ReplayRun>& runs, int64_t trials);

// Runs one tuner on one space with seeds 1 .. seeds.
Result<std::vector<ReplayRun>> ReplaySeeds(const record::ReplaySpace& replay, const search::TaskSpace& space,
                                           ReplayOptions options, int64_t seeds);

}  // namespace hone::session

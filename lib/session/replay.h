// Tuning without a device: a tuner searches a space whose points were all measured before.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "pipeline/settings.h"
#include "propose/propose.h"
#include "record/replay_space.h"
#include "search/tuner/context.h"

namespace hone::session {

struct ReplayOptions {
  std::string tuner = "auto";
  uint64_t seed = 1;
  int64_t trials = 128;
  int batch = 16;           // candidates requested from the tuner at a time, as in a session
  double prune_factor = 2;  // a point slower than this times the best so far is reported as pruned; 0: never
  bool like_autotvm = false;
  std::vector<search::Donor> donors;
  search::LoopProgram loops;  // null: points are lowered anew in each run
};

struct ReplayRun {
  std::vector<PointIndex> tried;  // indices, in order
  std::vector<Outcome> trials;    // in the same order, as a job would have recorded them
  std::vector<double> share;      // after each trial: the space's best time over the best so far; 0 if none was ok
  std::vector<double> gains;      // what the tuner expected after the trial's batch; below 0: unknown
  double tuner_seconds = 0;       // spent in the tuner
};

// The context that a session gives a tuner (session/tuner_context.h), with the replay space's defaults.
Result<search::TunerContext> ReplayContext(const record::ReplaySpace& replay);

// Trial 0 is the first template's default, as in a session. Returns kInvalid if no point of the space is ok.
Result<ReplayRun> Replay(const record::ReplaySpace& replay, const search::TaskSpace& space,
                         const ReplayOptions& options);

// The number of trials that `run` needed to reach `share`; its length + 1 if it never did.
int64_t TrialsTo(const ReplayRun& run, double share);

// Prints replays as a Markdown table: share of the best possible speed after 4, 8, .. trials, in percent. Two lines;
// columns beyond `trials` are omitted.
std::string ReplayTableHead(int64_t trials, const std::string& first_column);

// One line for several runs: the median of the shares, the worst share, trials to reach 95 % (the median, and the
// number that three of four runs need; one more than the trials made if not reached), milliseconds in the tuner per
// trial.
std::string ReplayTableRow(const std::string& label, const std::vector<ReplayRun>& runs, int64_t trials);

// Runs one tuner on one space with seeds 1 .. seeds.
Result<std::vector<ReplayRun>> ReplaySeeds(const record::ReplaySpace& replay, const search::TaskSpace& space,
                                           ReplayOptions options, int64_t seeds);

// Loads a replay file (record/replay_space.h) or a records database, distinguished by their first bytes. A database's
// trials of the last session's machine are used, with the operator's current space: returns kInvalid if the records are
// from another version of it (make a replay file while the version is the same). If `missing` is not null, it is set to
// a line if not all legal points of that space were tried, else to "". `settings` are those of the job that made the
// database: they say who proposed its trials.
Result<record::ReplaySpace> LoadReplay(const std::string& path, std::string* missing = nullptr,
                                       const pipeline::TuneSettings& settings = {});

// The templates and sketches of a workload with knobs, versions and defaults, as in a replay file.
Result<std::vector<record::ReplayTemplate>> ReplayTemplates(const propose::Proposers& proposers);

// hone-replay: prints a table for one tuner on one space. Returns the exit code; prints errors to stderr.
struct ReplayJobOptions {
  std::string path, tuner = "auto", like;
  std::vector<std::string> donor_paths;  // records of other tasks, as for a job (LoadDonors)
  int64_t seeds = 32, trials = 128;
};
int RunReplayJob(const ReplayJobOptions& options);

}  // namespace hone::session

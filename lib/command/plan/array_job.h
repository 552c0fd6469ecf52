// The jobs for a cluster's arrays as a file: hone-plan --export-jobs writes the outdated edges, --run-job runs a line.
//
// It has one JSON object per line; line K is job K:
//   {"job": 3, "stage": 1, "after": [], "what": "tune conv2d-0123456789abcdef", "outputs": ["stamps/..cpu.done"],
//    "seconds": 12.5, "argv": ["/tools/hone-tune", "--task", ..]}
// Tuning jobs come first, sorted by stage. The jobs of a stage need only jobs of earlier stages (`after` lists them),
// no two of them write into the same records, and all can run at the same time. Stage 0, at the end, is the work for a
// last `ninja`: choosing, building, benchmarking, and tuning that depends on these. It is quick beside the tuning, and
// it is left to Ninja because Ninja's log, which records finished work, has one writer. `seconds` is an estimate.
// `argv` is for other schedulers and people; run it in the work folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "command/plan/ninja_view.h"

namespace hone::command {

struct ArrayJob {
  int64_t number = 0;  // from 1
  int64_t stage = 0;   // 0: left to Ninja
  std::vector<int64_t> after;
  std::string what;
  std::vector<std::string> outputs;  // relative to the work folder; at least one
  double seconds = 0;
  std::vector<std::string> argv;
};

std::string ArrayJobsText(const std::vector<ArrayJob>& jobs);

// Job `number` of the file's text. Returns kInvalid with "PATH:LINE" for a malformed job or an unknown format.
Result<ArrayJob> ParseArrayJob(const std::string& text, int64_t number, const std::string& path);

// One line per stage for scripts: "1 1-9 9 jobs: tune; about 12 s each" (stage, its jobs, description); for stage 0
// "ninja 10-15 ..".
std::string StagesText(const std::vector<ArrayJob>& jobs);

// The outdated edges of `view` as jobs, in the order of the file; empty if all is up to date. Skips a task whose stamp
// is right even if Ninja's log does not know it yet. If trials for a round can be distributed now, does that first and
// nothing else: the list then has this round's jobs, followed by those of later rounds and Ninja's. Returns kInvalid
// while a network still has to be extracted, as its tasks are unknown.
Result<std::vector<ArrayJob>> FindArrayJobs(const std::string& work, const NinjaView& view);

// Replaces this process by the tool that makes the job's outputs, in the work folder, with the words of $HONE_LAUNCHER
// in front if the manifest has them. The command is the manifest's, never the list's: a list from somebody else cannot
// name a program of its own. Returns only on failure: kNotFound if the manifest no longer has such an edge, kInvalid
// for one that is left to Ninja.
Status RunArrayJob(const std::string& work, const ArrayJob& job);

}  // namespace hone::command

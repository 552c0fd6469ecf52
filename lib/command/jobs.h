// What is out of date as a list of jobs for a cluster's arrays: hone-plan --export-jobs FILE, and --run-job FILE --job
// K, which runs one of them.
//
// FILE has a JSON object a line, line K being job K:
//   {"job": 3, "stage": 1, "after": [], "what": "tune conv2d-0123456789abcdef", "outputs": ["stamps/..cpu.done"],
//    "seconds": 12.5, "argv": ["/tools/hone-tune", "--task", ..]}
// First what tunes, sorted by stage: the jobs of a stage need only jobs of earlier stages (`after`: which ones) and can
// run at the same time. Then, as stage 0, what is left to a last `ninja`: choosing, building, benchmarking, and what is
// tuned only behind those. It is quick beside the tuning, and Ninja's log, which says that it is done, has one writer.
// `seconds` is an estimate by what earlier runs took, or a rough one where there were none. `argv` is for other
// schedulers and people; it is to be run in the work folder. --run-job takes the command from the manifest instead, so
// that a list from somebody else can name no program of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone::command {

struct Job {
  int64_t number = 0;
  int64_t stage = 0;  // 0: Ninja's
  std::vector<int64_t> after;
  std::string what;
  std::vector<std::string> outputs;  // relative to the work folder; at least one
  double seconds = 0;
  std::vector<std::string> argv;
};

// What `targets` need, in the order of the file. Empty: they are up to date. A task whose stamp is right is left out,
// though Ninja's log may not know it yet. Errors as LookAtWork; kInvalid while a network is to be extracted first: its
// tasks are not known then.
Result<std::vector<Job>> DirtyJobs(const std::string& work, const std::vector<std::string>& targets);

std::string JobsText(const std::vector<Job>& jobs);
// A line a stage for scripts: "1 1-9 9 jobs: tune; about 12 s each" (stage, its jobs, words); of stage 0 "ninja 10-15
// ..".
std::string StagesText(const std::vector<Job>& jobs);
// Job `number` of a file. kInvalid with the line: no such job, no such format.
Result<Job> ReadJob(const std::string& path, int64_t number);

// Replaces this process by the tool that makes the job's outputs, in the work folder, with the words of $HONE_LAUNCHER
// in front where the manifest has them. Returns only if it cannot: kNotFound if the manifest has no such edge any more,
// kInvalid for one that is Ninja's.
Status RunJob(const std::string& work, const Job& job);

}  // namespace hone::command

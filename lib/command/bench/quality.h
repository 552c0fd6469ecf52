// hone-bench quality: what the search finds for a job's heaviest tasks, from nothing, with a small fixed budget.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hone::command {

struct QualityOptions {
  std::string job;                    // NET.TARGET
  std::string tasks;                  // tasks/NET.TARGET.tasks.json; the task files lie beside it
  std::string tune;                   // the program hone-tune
  std::string accepted = "accepted";  // folder of the references
  std::string nights = "nights";      // folder of the histories
  std::string best;                   // best/NET.TARGET.json, for what a full budget found; empty: unknown
  int64_t trials = 24;                // budget of a run
  std::string winograd = "6";         // numerics: off, 2, 4 or 6 (command/common/numerics.h)
  bool tf32 = false;
  int heaviest = 3;                   // tasks with the most FLOP times uses, among the reference's
  std::vector<uint64_t> seeds = {1, 2, 3};  // a run of each task and seed
  std::string fake_times;                   // tests: the canary's time, as hone-bench nightly has it
};

// Appends a line to nights/quality/JOB.jsonl (lib/nightly/quality.h), also if tuning failed. As hone-bench nightly it
// does nothing twice in a run, and continues where it was interrupted. Returns 0 if the line is there, 75 if
// interrupted, else 1 or 2 with a line on stderr.
int RunQuality(const QualityOptions& options);

}  // namespace hone::command

// The changes of a tuning job's inputs since its stamp was written: for `hone-plan --why` and `--export-jobs`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone::pipeline {

// The current inputs of a tuning job.
struct TuneInputs {
  std::string task;                 // text of its task file
  std::string settings;             // text of its settings file
  std::string abi;                  // hone-tune's versions
  std::vector<std::string> donors;  // ids
};

// Describes the changes since a stamp (session/stamp.h) was written, by its digests: "trials 8 -> 16", "version of the
// code generator 3 -> 4", "knob list of dense_packed version 3 -> 4". Empty if nothing that it records changed.
std::vector<std::string> StampChanges(std::string_view stamp, const TuneInputs& now);

// How many trials a job will add to those in the stamp (an empty one has 0), as far as predictable: it may stop
// earlier. If a version that times depend on has changed, all trials are repeated.
// 0 for a job that only seconds limit.
int64_t NewTrials(std::string_view stamp, const TuneInputs& now);

// How many seconds such a job will tune beyond those in the stamp, as far as predictable; 0 for other jobs.
double NewSeconds(std::string_view stamp, const TuneInputs& now);

}  // namespace hone::pipeline

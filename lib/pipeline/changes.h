// Describes the changes between two versions of the small files of a work folder: for `hone-plan --why`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone::pipeline {

// For settings and targets: "trials 8 -> 16", "measure.finalists 8 -> none". In the order of the keys. What is no JSON
// counts as having no keys.
std::vector<std::string> JsonChanges(std::string_view before, std::string_view after);

// For the answers to --abi: "version of the code generator 3 -> 4", "knob list of conv2d_direct version 3 -> 4".
std::vector<std::string> AbiChanges(std::string_view before, std::string_view after);

// The current inputs of a tuning job.
struct TuneInputs {
  std::string task;                 // text of its task file
  std::string settings;             // of its settings
  std::string abi;                  // hone-tune's versions
  std::vector<std::string> donors;  // ids
};

// Describes the changes since a stamp (session/stamp.h) was written; empty if nothing that it records changed. A stamp
// of before the version that holds whole texts says only which of them has changed.
std::vector<std::string> StampChanges(std::string_view stamp, const TuneInputs& now);

// How many trials a job will add to those that the stamp (empty: none) tells of, as far as can be said beforehand: it
// may end earlier. A changed version of anything that times depend on makes all of them anew.
int64_t NewTrials(std::string_view stamp, const TuneInputs& now);

}  // namespace hone::pipeline

// hone-tune: finds the fastest schedule of one task.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "session/tune_job.h"

namespace hone::command {

struct TuneOptions : session::TuneJobOptions {
  // Instead of tuning, with a task:
  bool list_space = false;
  bool compile_only = false;
  std::optional<int64_t> explain;  // ordinal of a recorded trial
  std::vector<std::string> show;   // for explain: "program", "llvm", "assembly"
  std::optional<uint64_t> trial;   // a single point of the space to try
  // Instead of tuning, without a task:
  std::string find_device;  // target file; `out` gets what was found (find_device.h)
  std::string out;
  std::string describe_device;  // "cuda", "opencl"
  // For tests:
  std::optional<std::string> fake_measure;  // "SEED[,SLEEP_SECONDS[,FAIL_SHARE]]"
  bool verbose = false;
};

// The versions that --abi prints.
std::string TuneAbi();

// Returns the exit code (base/interrupt.h).
int RunTune(const TuneOptions& options);

}  // namespace hone::command

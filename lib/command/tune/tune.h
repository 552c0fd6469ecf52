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
  bool compile_only = false;
  std::optional<int64_t> explain;  // ordinal of a recorded trial
  std::vector<std::string> show;   // for explain: "program", "llvm", "assembly"
  bool list_sketches = false;
  std::optional<int64_t> write_sketch;  // ordinal of a recorded trial
  std::optional<uint64_t> trial;        // a single point of the space to try
  // Instead of tuning, without a task:
  std::string find_device;  // target file; `out` gets what was found
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

// hone-tune --find-device TARGET.json --out FILE: looks for a device that runs the target, and for its compiler, and
// describes them. If something is missing, prints one line that says what to do and returns kFailed. Returns the exit
// code.
int RunFindDevice(const std::string& target_path, const std::string& out);

// hone-tune --describe-device cuda|opencl: prints the device that is found as a target file to stdout. Returns the exit
// code.
int RunDescribeDevice(const std::string& kind);

}  // namespace hone::command

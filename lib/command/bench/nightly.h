// hone-bench nightly: compares the current library of one job with its accepted reference.
#pragma once

#include <string>
#include <vector>

#include "library/time_network.h"

namespace hone::command {

// How a regression run times a process: 5 runs to warm up, then at least 30 runs and 1.2 s, but no more than 10 s once
// there are 5 runs. The folder is not set.
library::TimeRequest NightRequest();

struct NightlyOptions {
  std::string job;                               // NET.TARGET
  std::string lib;                               // folder of the library (out/NET.TARGET)
  std::string accepted = "accepted";             // folder of the references (lib/nightly/accepted.h)
  std::string nights = "nights";                 // folder of the histories
  std::string series = "main";                   // the history to use: main or replay
  std::string parameter_file;                    // as in hone-bench
  std::vector<std::string> inputs;               // likewise
  std::string fake_times;                        // tests: file of lines `DIGEST SECONDS` to use instead of processes
};

// Measures, applies the gate, and appends a line to the job's history. It appends a line even if the artifact could not
// be measured; the verdict then says so. Skips a job that already has its line for this night, and resumes an
// interrupted one. Returns 0 if the line exists, 75 if interrupted, else 1 or 2 with a line on stderr.
int RunNightly(const NightlyOptions& options);

}  // namespace hone::command

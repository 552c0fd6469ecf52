// hone-bench nightly: one job's library of this night against its accepted reference.
#pragma once

#include <string>
#include <vector>

#include "library/time_network.h"

namespace hone::command {

// How a process of a night is timed: 5 runs to warm up, then 30 at least, for 1.2 s at least, but for no more than 10 s
// once there are 5. Without a folder.
library::TimeRequest NightRequest();

struct NightlyOptions {
  std::string job;                               // NET.TARGET
  std::string lib;                               // folder of the library (out/NET.TARGET)
  std::string accepted = "accepted";             // folder of the references (lib/nightly/accepted.h)
  std::string nights = "nights";                 // folder of the histories
  std::string series = "main";                   // main or replay: whose history it is
  std::string parameter_file;                    // as hone-bench's own
  std::vector<std::string> inputs;               // likewise
  std::string fake_times;                        // tests: a file with lines `DIGEST SECONDS` in place of processes
};

// Measures, judges by the gate, and appends a line to the job's history, also if the artifact could not be measured:
// one that fails is a fact about the night, which its verdict tells. A job that has its line in this night is left
// alone, and one that was interrupted goes on. Returns 0 if the line is there, 75 if interrupted, else 1 or 2 with a
// line on stderr.
int RunNightly(const NightlyOptions& options);

}  // namespace hone::command

// hone-records explain: the origin of each choice of a best file, and its rivals.
#pragma once

#include <string>

namespace hone::command {

struct ExplainOptions {
  std::string best;     // best/NET.TARGET.json, .confirmed.json or .choice.json
  std::string records;  // folder of the target's records; empty: ../records/TARGET beside the best file
  bool json = false;    // for programs: {"version": 1, "network", "target", "tasks": [..], "alternatives": [..], ..}
};

// For each task: the configuration, why it was taken (tuned, of the same computation with another epilogue, the
// template's default), its time alone and in the network, the trial, when, on which machine, by which versions, and its
// rivals: the next best kernels of the same machine, how much slower they were, and whether the samples leave a doubt
// about it (the 95 % intervals of the medians overlap). For the network: alternatives and shared memory, with what was
// timed for them. Without records the rivals are those that the best file itself names. To stdout; the exit code.
int ExplainBest(const ExplainOptions& options);

}  // namespace hone::command

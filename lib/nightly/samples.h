// All samples of a nightly run, a line for each process: nights/samples/JOB/NIGHT.jsonl, or below the folder of its
// series. Each line is written when its process ends, so an interrupted run continues where it stopped. Later the file
// serves to check the figures of the night. First line:
//   {"version": 2, "key": "..."}    what was compared, and how: under another key the file begins anew
// Then, in the order they ran ("who": library, reference or canary; "phase": 0, or 1 for the repeat; times in seconds;
// "pace": the reference's runs in the same process):
//   {"who": "library", "phase": 0, "round": 3, "samples": [..], "pace": [..], "layers": [["conv1", 1.2e-4], ..],
//    "lost": 0.001}
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "nightly/history.h"

namespace hone::nightly {

enum class Who { kLibrary, kReference, kCanary };
const char* WhoName(Who who);

// One process of a night.
struct ProcessKey {
  Who who = Who::kLibrary;
  int phase = 0;  // 1: of the repeat
  int round = 0;  // from 0
  bool operator==(const ProcessKey&) const = default;
};

// In a process, this many runs of the library and this many of the pace take turns.
inline constexpr size_t kRunsOfTurn = 4;

struct ProcessTimes {
  std::vector<double> samples;     // one a run, in order
  std::vector<double> pace = {};   // runs of the reference in the same process, in turns with them; empty: none
  std::vector<Layer> layers = {};  // medians of its profiled runs; may be empty
  double lost = 0;                 // seconds that other programs took from it while it was timed

  // The lower quartiles of its runs, and of the pace's (0 without one).
  double Seconds() const;
  double PaceSeconds() const;
  // The library's time as a multiple of the pace's: the fastest run of each turn, divided by the fastest of the pace's
  // turn beside it; the median of these ratios. 0 without a pace, or with one that took no time.
  double PaceRatio() const;
};

struct ProcessRun {
  ProcessKey key;
  ProcessTimes times;
};

class NightSamples {
 public:
  // Opens the file, making its folder; what it holds under the same key is kept.
  static Result<NightSamples> Open(const std::string& path, const std::string& key);

  // Null if that process has not run yet.
  const ProcessTimes* Find(const ProcessKey& key) const;
  Status Append(const ProcessKey& key, ProcessTimes times);

 private:
  explicit NightSamples(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::vector<ProcessRun> runs_;
};

}  // namespace hone::nightly

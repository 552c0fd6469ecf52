// All samples of a nightly run, one line per process: nights/samples/JOB/NIGHT.jsonl, or below the folder of its
// series. Each line is written when its process ends, so an interrupted run continues where it stopped. The file also
// allows the night's figures to be checked later. First line:
//   {"version": 2, "key": "..."}    what was compared, and how: with another key the file is started again
// Then, in the order in which they ran ("who": library, reference or canary; "phase": 0, or 1 for the repeat; times in
// seconds; "pace": the reference's runs in the same process):
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
  int phase = 0;  // 1: in the repeat
  int round = 0;  // from 0
  bool operator==(const ProcessKey&) const = default;
};

// In a process, this many runs of the library alternate with as many of the pace.
inline constexpr size_t kRunsOfTurn = 4;

struct ProcessTimes {
  std::vector<double> samples;     // one per run, in order
  std::vector<double> pace = {};   // alternating runs of the reference in the same process; empty: no pace
  std::vector<Layer> layers = {};  // medians of its profiled runs; may be empty
  double lost = 0;                 // seconds that other programs took from it while it was timed

  // The lower quartile of its runs, or of the pace's (0 without a pace).
  double Seconds() const;
  double PaceSeconds() const;
  // The library's time as a multiple of the pace's: the fastest run of each turn divided by the fastest run of the
  // pace's neighbouring turn; the median of these ratios. 0 without a pace, or if the pace took no time. Benchmark runs
  // count differently: report/speedup.h says why.
  double PaceRatio() const;
};

struct ProcessRun {
  ProcessKey key;
  ProcessTimes times;
};

class NightSamples {
 public:
  // Opens the file, creating its folder; keeps its contents if the key is the same.
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

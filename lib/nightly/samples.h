// Every fresh process of a night with all its samples: nights/samples/JOB/NIGHT.jsonl (of a series in its own folder,
// as its history). It is written as the night goes, a line a process, so that a night that was interrupted goes on
// where it stopped; afterwards it is what the figures of the night can be checked against. First line:
//   {"version": 1, "key": "..."}    what was compared, and how: under another key the file begins anew
// Then, in the order they ran ("who": library, reference or canary; "phase": 0, or 1 for the repeat; times in seconds):
//   {"who": "library", "phase": 0, "round": 3, "samples": [..], "layers": [["conv1", 1.2e-4], ..], "lost": 0.001}
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "nightly/history.h"

namespace hone::nightly {

enum class Who { kLibrary, kReference, kCanary };
const char* WhoName(Who who);

struct ProcessTimes {
  std::vector<double> samples;  // one a run, in order
  std::vector<Layer> layers;    // medians of its profiled runs; may be empty
  double lost = 0;              // seconds for which others kept it from running while it was timed
};

class NightSamples {
 public:
  // Opens the file, making its folder; what it holds under the same key is kept.
  static Result<NightSamples> Open(const std::string& path, const std::string& key);

  // Null if that process has not run yet.
  const ProcessTimes* Find(Who who, int phase, int round) const;
  Status Append(Who who, int phase, int round, ProcessTimes times);

 private:
  struct Entry {
    Who who;
    int phase, round;
    ProcessTimes times;
  };
  explicit NightSamples(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::vector<Entry> entries_;
};

}  // namespace hone::nightly

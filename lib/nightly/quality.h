// What the search finds: the quality series. Each night the heaviest tasks of an accepted job are tuned from nothing
// with the same small budget and the same seeds; what it finds goes, with the canary's time, into
// nights/quality/JOB.jsonl, a line a night (version 1; times are seconds):
//   {"version": 1, "night": "...", "recorded": "...", "host": "...", "fingerprint": "...", "tools": "...",
//    "trials": 24, "canary": {"digest": "...", "seconds": 0.0071},
//    "tasks": [{"id": "...", "weight": 2, "recorded_seconds": 1.1e-4,
//               "runs": [{"seed": 1, "seconds": 1.2e-4, "trials": 24, "curve": [3.1e-4, ..]}, ..]}], "failure": "..."}
// It is a trend and no gate: a night's search is not compared with another one of the same night.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "nightly/environment.h"

namespace hone::nightly {

struct QualityRun {
  uint64_t seed = 0;
  double seconds = 0;  // the fastest found; 0: none was right
  int64_t trials = 0;
  std::vector<double> curve = {};  // the fastest so far after each trial; 0: none yet
};

struct QualityTask {
  std::string id;
  int64_t weight = 1;           // uses in the network
  double recorded_seconds = 0;  // what it was accepted with; 0: unknown
  std::vector<QualityRun> runs;
};

struct QualityNight {
  std::string night, recorded, host, fingerprint, tools;
  int64_t trials = 0;  // budget of a run
  std::string canary_digest;
  double canary_seconds = 0;  // 0: none
  std::vector<QualityTask> tasks;
  std::string failure;  // empty: measured

  // Weight x median over the seeds, summed over the tasks; 0 if a task found nothing or it failed.
  double LevelSeconds() const;
};

std::string QualityText(const QualityNight& night);  // one line, with its newline

struct QualityHistory {
  std::vector<QualityNight> nights;
  std::vector<std::string> damaged;  // as in History, a torn last line included
};
// As ParseHistory and ReadHistory.
Result<QualityHistory> ParseQuality(std::string_view text, const std::string& path);
Result<QualityHistory> ReadQuality(const std::string& path);

// LevelSeconds over the canary's, a night each; 0 where either is unknown, or tasks and budget are not those of the
// last night.
std::vector<double> QualityValues(const std::vector<QualityNight>& nights);

}  // namespace hone::nightly

// The best configuration of each task of a network: best/NET.TARGET.json, written by hone-pick-best, read by hone-build
// and hone-bench. Format (version 1):
//   {"version": 1, "network": "resnet-18", "target": "cpu -triple=...",
//    "tasks": [{"id": "conv2d-0123456789abcdef", "workload": "...", "source": "tuned", "config": {...},
//    "median": 1.2e-4,
//               "fingerprint": "...", "from": "conv2d-...", "trial": 17, "host": "...", "recorded":
//               "2026-11-21T10:00:00Z", "steps_digest": "..."}]}
// A byte changes only if a choice or where it came from does (so the number of trials is not in it): an unchanged file
// stops Ninja's chain here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "task/config.h"

namespace hone::pipeline {

enum class BestSource {
  kTuned,    // "tuned": from this task's own records
  kAnchor,   // "anchor": from the records of the same computation with another epilogue
  kDefault,  // "default": no records; the template's default is built
};

struct BestEntry {
  std::string id;        // of the task
  std::string workload;  // canonical text
  BestSource source = BestSource::kDefault;
  std::optional<Config> config;  // none for kDefault
  double median = 0;             // seconds, as measured; 0 for kDefault
  std::string fingerprint;       // of the machine that measured it
  std::string from;              // id of the task whose records it comes from; empty for kDefault
  int64_t trial = 0;             // ordinal there
  std::string host, recorded;    // where and when (ISO 8601) the session began that measured it
  std::string steps_digest;      // of the schedule that the config meant then
};

struct BestFile {
  std::string network, target;  // as in the task list
  std::vector<BestEntry> tasks;

  const BestEntry* Find(std::string_view id) const;
};

const char* BestSourceName(BestSource source);

std::string BestFileText(const BestFile& best);  // with a newline at its end
// kInvalid with `path` and the place.
Result<BestFile> ParseBestFile(std::string_view text, const std::string& path);
Result<BestFile> ReadBestFile(const std::string& path);

}  // namespace hone::pipeline

// The history of one job: an append-only file with a line for each nightly run.
//   nights/JOB.jsonl          the library of that night against the accepted reference
//   nights/replay/JOB.jsonl   the reference's own choices, built by that night's code generator, against it
// A line (version 1; times are seconds):
//   {"version": 1, "night": "2026-11-21T02:59:00Z", "recorded": "2026-11-21T03:00:00Z", "host": "...",
//    "fingerprint": "...", "tools": "...",
//    "library": {"digest": "...", "processes": [SECONDS..], "layers": [["conv1", 1.2e-4], ..]}, "reference": {...},
//    "canary": {...},
//    "ratio": 1.01, "low": .., "high": .., "p": .., "threshold": .., "change": "none", "why": "...",
//    "repeat": {"library": [..], "reference": [..], "change": "none"}, "environment": "...", "failure": "...",
//    "no_canary": "..."}
// These keys may be missing: `night`, `tools`, `canary`, `repeat`, `environment`, `failure`, `no_canary`, and `layers`.
// `change` is the decision after the repeat. nightly/samples.h describes the file with the samples of all processes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "nightly/gate.h"

namespace hone::nightly {

// A layer in the network, by its node: the median of its times over all processes.
struct Layer {
  std::string node;
  double seconds = 0;
};

struct Subject {
  std::string digest;              // of the artifact (nightly/accepted.h), hex
  std::vector<double> processes;   // one value per process (nightly/samples.h); empty if nothing was measured
  std::vector<Layer> layers = {};  // in the order in which they run; empty if not profiled
};

struct Repeat {
  std::vector<double> library, reference;
  Change change = Change::kNone;
};

struct Night {
  std::string recorded, host;
  std::string fingerprint;  // of the machine alone: changes of the library are what is measured
  Subject library, reference;
  std::optional<Subject> canary;  // the first library ever accepted: never rebuilt, it represents the machine itself
  Comparison comparison;          // its `change` is the decision after the repeat
  std::optional<Repeat> repeat;
  std::string environment;     // why the night gives no verdict on the library; empty: it does
  std::string night = {};      // its start: the same for all jobs of a night
  std::string tools = {};      // versions of the tools that built the library
  std::string failure = {};    // one line: why nothing was measured, so that only digests are known; empty on success
  std::string no_canary = {};  // one line: why the canary was left out; empty if it was measured

  bool Usable() const { return environment.empty() && failure.empty(); }
  double CanarySeconds() const;  // its median process; 0: it was not timed
  double ShareOfCanary() const;  // the library's median process divided by the canary's; 0: one of them was not timed
};

std::string NightText(const Night& night);  // one line, with its newline

struct History {
  std::vector<Night> nights;         // in the order of the file
  std::vector<std::string> damaged;  // a sentence for each skipped line, including a torn last one
};

// Returns kUnsupported (a newer version) with `path` and the line. A malformed line loses only its own night.
Result<History> ParseHistory(std::string_view text, const std::string& path);
// Empty without the file.
Result<History> ReadHistory(const std::string& path);

// The noise of the measurement, from the nights with this fingerprint: the ratios of equal libraries, and, for each
// pair of different libraries compared in at least five nights, the ratios divided by their median.
std::vector<double> NoiseRatios(const std::vector<Night>& nights, const std::string& fingerprint);

}  // namespace hone::nightly

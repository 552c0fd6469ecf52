// The history of one job: a file with a line for each nightly run. It is only appended to.
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
  std::vector<double> processes;   // what each stands for (nightly/samples.h); empty if nothing was measured
  std::vector<Layer> layers = {};  // in the order they run; empty if not profiled
};

struct Repeat {
  std::vector<double> library, reference;
  Change change = Change::kNone;
};

struct Night {
  std::string recorded, host;
  std::string fingerprint;  // of the machine alone, not of the library, whose changes are the question
  Subject library, reference;
  std::optional<Subject> canary;  // the first library that was ever accepted: never rebuilt, the machine itself
  Comparison comparison;          // its `change` is what stands after the repeat
  std::optional<Repeat> repeat;
  std::string environment;     // why the night is no verdict on the library; empty: it is one
  std::string night = {};      // when it began: the same for all jobs of it
  std::string tools = {};      // versions of what built the library
  std::string failure = {};    // one line: why nothing was measured, so that only digests are known; empty: it was
  std::string no_canary = {};  // one line: why the canary was left out; empty: it was not

  bool Usable() const { return environment.empty() && failure.empty(); }
  double CanarySeconds() const;  // the median process; 0: it was not timed
  double ShareOfCanary() const;  // the library's median process over the canary's; 0: one of them was not timed
};

std::string NightText(const Night& night);  // one line, with its newline

struct History {
  std::vector<Night> nights;         // as they stand in the file
  std::vector<std::string> damaged;  // what is wrong with lines that are left out, a torn last one too: a sentence each
};

// kUnsupported (a newer version) with `path` and the line. A line that makes no sense costs that night alone.
Result<History> ParseHistory(std::string_view text, const std::string& path);
// Empty if there is no such file.
Result<History> ReadHistory(const std::string& path);

// The noise of the measurement, from the nights with this fingerprint: the ratios of equal libraries, and for each pair
// of different ones that was compared in five nights or more, the ratios divided by their median.
std::vector<double> NoiseRatios(const std::vector<Night>& nights, const std::string& fingerprint);

}  // namespace hone::nightly

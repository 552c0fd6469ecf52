// What the nights found, of one job: nights/NET.TARGET.jsonl, a line a night, only ever appended to. A line (version 1; times are seconds):
//   {"version": 1, "recorded": "2026-11-21T03:00:00Z", "host": "...", "fingerprint": "...",
//    "library": {"digest": "...", "processes": [MEDIAN..]}, "reference": {...}, "canary": {...},
//    "ratio": 1.01, "low": .., "high": .., "p": .., "threshold": .., "change": "none", "why": "...",
//    "repeat": {"library": [..], "reference": [..], "change": "none"}, "environment": "..."}
// `canary`, `repeat` and `environment` may be missing. `change` is what stands after the repeat.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "nightly/gate.h"

namespace hone::nightly {

struct Subject {
  std::string digest;             // of the library, hex
  std::vector<double> processes;  // the median of each
};

struct Repeat {
  std::vector<double> library, reference;
  Change change = Change::kNone;
};

struct Night {
  std::string recorded, host, fingerprint;
  Subject library, reference;
  std::optional<Subject> canary;  // a library that is never rebuilt: the machine itself
  Comparison comparison;          // its `change` is what stands after the repeat
  std::optional<Repeat> repeat;
  std::string environment;  // why the night says nothing about the library; empty: it does
};

std::string NightText(const Night& night);  // one line, with its newline

struct History {
  std::vector<Night> nights;  // as they stand in the file
  int torn = 0;               // 1: the last line was cut off (a full disk, a lost machine) and is left out
};

// kInvalid, kUnsupported (a newer version) with `path` and the line.
Result<History> ParseHistory(std::string_view text, const std::string& path);

// Ratios of equal libraries in nights with this fingerprint: what the same measurement says where nothing changed.
std::vector<double> EqualRatios(const std::vector<Night>& nights, const std::string& fingerprint);

// Did the machine change between the nights? Compares tonight's canary with the median of those before, with the same
// fingerprint and the same canary: a sentence if it moved by more than the rule's threshold, else empty. Silent with
// fewer nights than the rule's least_history.
std::string EnvironmentMoved(const std::vector<Night>& before, const Night& tonight, const GateRule& rule = {});

}  // namespace hone::nightly

// The best configuration of each task of a network. One format in three files of a job:
//   best/NET.TARGET.json            written by hone-pick-best: the best alone, with figures and finalists
//   best/NET.TARGET.confirmed.json  written by hone-confirm: the best in the network, with both figures
//   best/NET.TARGET.choice.json     what hone-build builds, without figures. Measuring the same choice again changes
//                                   the two others but not this one, so Ninja's chain stops here
// Format, version 4. Versions 1 to 3 are read as well: they lack keys that may be missing in version 4:
//   {"version": 4, "network": "resnet-18", "target": "cpu -triple=...",
//    "tasks": [{"id": "conv2d-0123456789abcdef", "workload": "...", "source": "tuned",
//               "config": {...}, "steps_digest": "...",
//               "candidate": {"algorithm": "winograd(m=4, tiles=98)", "steps": ["split out oh [4] -> ty y", ..]},
//               "artifact_digest": "...",
//               "median": 1.2e-4, "fingerprint": "...", "from": "conv2d-...", "trial": 17, "host": "...",
//               "recorded": "2026-11-21T10:00:00Z",
//               "finalists": [{"config": {...}, "steps_digest": "...", "candidate": {..}, "artifact_digest": "...",
//                              "median": 1.2e-4, "trial": 17, "host": "...", "recorded": "...",
//                              "in_network": 1.3e-4}]}],
//    "alternatives": [{"replaces": ["conv1", "pool1"], "by": [..]}], "share": {"slices": true, "in_place": true},
//    "partition": {"alone_seconds": .., "chosen_seconds": .., "taken": 1, "exact": true},
//    "in_network": {"key": "...", "kept": "confirmed", "alone_seconds": .., "confirmed_seconds": .., "runs": 80,
//                   "compared": [{"what": "alternatives", "with_seconds": .., "without_seconds": .., "runs": 80,
//                                 "kept": true}],
//                   "host": "...", "recorded": "..."}}
// `alternatives` (pipeline/task_list.h) lists the alternatives that are built; if it is missing, no alternative is.
// `share` says which tensors share memory; if it is missing, all that can do. The choice file lists only the tasks that
// hone-build compiles.
// An entry has `config` and `steps_digest` unless its source is "default". hone-build builds `candidate`; without it,
// what the template named in `config` makes of that. It has all figures (`median` to `recorded`) or no figure. The
// file's bytes change only with a choice, a figure or their origin, so the number of trials is not in it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pipeline/task_list.h"
#include "task/candidate.h"
#include "task/config.h"

namespace hone::pipeline {

enum class BestSource {
  kTuned,    // "tuned": from this task's own records
  kAnchor,   // "anchor": from the records of the same computation with another epilogue
  kDefault,  // "default": no records; the template's default is built
};

// The recorded measurements of a configuration, and where they come from.
struct Measured {
  double median = 0;                        // seconds, measured alone; 0: unknown
  int64_t trial = 0;                        // ordinal in the records
  std::string host, recorded;               // host and start (ISO 8601) of the session that measured it
  std::string steps_digest;                 // of the schedule that the config meant at that time
  std::optional<Candidate> candidate = {};  // the config's meaning for this task
  std::string artifact_digest = {};         // of the measured code, as in records; empty: unknown
};

// A configuration that may be the best one in the network.
struct Finalist : Measured {
  Config config;
  double in_network = 0;  // seconds of all layers of the task together, in one run; 0: not measured
};

struct BestEntry : Measured {
  std::string id;        // of the task
  std::string workload;  // canonical text
  BestSource source = BestSource::kDefault;
  std::optional<Config> config;     // empty for kDefault
  std::string fingerprint;          // of the measuring machine
  std::string from;                 // id of the task with the records; empty for kDefault
  std::vector<Finalist> finalists;  // the fastest alone first, including `config`; may be empty

  // Makes a finalist the choice.
  void Choose(const Finalist& finalist);
};

// The gain of the alternatives by times measured alone (graph/alternatives.h).
struct PartitionFigures {
  double alone_seconds = 0;   // sum over the kernels of the network without alternatives
  double chosen_seconds = 0;  // with the chosen alternatives
  int64_t taken = 0;          // number of chosen places
  bool exact = true;          // false: perhaps not the best choice, as there were too many to try all
};

// One decision, made by whole runs of the network with and without the choice.
struct ComparedChoice {
  std::string what;  // "alternatives", "slices", "in_place"
  double with_seconds = 0, without_seconds = 0;
  int64_t runs = 0;  // for each side
  bool kept = false;
};

// How the choice was confirmed in the network.
struct InNetwork {
  std::string key;               // digest of the question, to reuse the answer
  bool kept = false;             // "confirmed": the choice is the best in the network; false, "alone": it was not
                                 // faster overall, and everything stays as it is best alone
  double alone_seconds = 0;      // per run of the network with the best alone
  double confirmed_seconds = 0;  // with the best in the network
  int64_t runs = 0;              // for each of the two
  std::string host, recorded;
  std::vector<ComparedChoice> compared = {};
};

// Which tensors share memory (library/build.h).
struct Sharing {
  bool slices = true;    // parts of a concatenation are written directly into it
  bool in_place = true;  // sums overwrite their residual
  bool operator==(const Sharing&) const = default;
};

struct BestFile {
  std::string network, target;  // as in the task list
  std::vector<BestEntry> tasks;
  std::optional<InNetwork> in_network = {};
  std::vector<Alternative> alternatives = {};  // to be built
  Sharing share = {};
  std::optional<PartitionFigures> partition = {};

  const BestEntry* Find(std::string_view id) const;
};

const char* BestSourceName(BestSource source);

std::string BestFileText(const BestFile& best);  // ends with a newline
// Only the choices that are built: the text of best/NET.TARGET.choice.json. `built` has the ids of these tasks; null:
// all.
std::string ChoiceText(const BestFile& best, const std::set<std::string>* built = nullptr);
// Returns kInvalid with `path` and the place.
Result<BestFile> ParseBestFile(std::string_view text, const std::string& path);
Result<BestFile> ReadBestFile(const std::string& path);

// Returns kInvalid, naming the entry, if an entry's id is not the id of its workload on the file's target. Call it
// before looking up a configuration or a figure by task id.
Status CheckTaskIds(const BestFile& best);

}  // namespace hone::pipeline

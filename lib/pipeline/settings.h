// The settings of a job: everything of its pipeline file that changes a result, except network and targets. hone-plan
// writes them as settings/JOB.extract.json, .tune.json and .bench.json (only if changed); the tools read them. Nothing
// that leaves results alone (launcher, verbosity, paths, number of jobs) may be added here: a changed byte is work to
// do.
//
// Format: one JSON object with "version": 1 and the fields below by their names. The object "measure" of the tune
// settings holds `finalists` and the settable fields of Protocol. Every field is written; a reader takes a missing one
// as its default and refuses unknown ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "task/protocol.h"

namespace hone {
class Fields;
}

namespace hone::pipeline {

struct TuneSettings {
  std::string tuner = "auto";  // search/tuner/tuner.h knows the list
  int64_t trials = 128;        // budget of one task, at least 1
  double seconds = 0;          // budget of one task in seconds of tuning over all its sessions; 0: no limit
  int64_t early_stop = 0;      // stop after this many trials without a better one; 0: never
  uint64_t seed = 1;           // below 2^63
  Protocol measure;
  int64_t finalists = 8;     // this many of the best are measured again, interleaved, before the stamp; 0: none
  double expected_gain = 0;  // stop when the tuner expects the best to get faster by less than this share; 0: never
  std::string like;          // "autotvm": the tuner with that system's constants; "": ours
  int64_t winograd = 6;      // the cap on Winograd: F(m x m, 3x3) up to this m (2, 4, 6); 0: none (op::Numerics)
  bool tf32 = false;         // products may be of factors rounded to TF32 (op::Numerics)
  int64_t trials_total = 0;  // budget of all tasks of the network together, shared out in rounds; 0: `trials` each
  bool operator==(const TuneSettings&) const = default;
};

struct BenchSettings {
  int64_t processes = 5;    // fresh processes per library, alternating between the compared libraries, at least 1
  int64_t iterations = 50;  // timed runs per process, at least 1
  int64_t warmup = 5;       // runs before them, at least 0
  uint64_t seed = 1;        // of the input
  bool operator==(const BenchSettings&) const = default;
};

// The most that `[memory] parameters` may be: more times their own size than any kernel's weights take.
inline constexpr double kMostMemory = 1000;

// Numerics as flags of tools, `--winograd 4 --tf32`: only those that differ from the default, so that the default
// changes no command.
std::string NumericsFlags(int64_t winograd, bool tf32);
// The value of --winograd: "off" (0), "2", "4" or "6"; kInvalid for anything else.
Result<int> ParseWinograd(const std::string& text);

// Keys that the pipeline file has in a table of its own: [tune], [measure], [bench].
void ListTuneKeys(Fields* f, TuneSettings* s);
void ListMeasureKeys(Fields* f, TuneSettings* s);
void ListFields(Fields* f, BenchSettings* s);

// The JSON text, with a newline at its end; the same settings give the same bytes.
std::string TuneSettingsText(const TuneSettings& settings);
std::string BenchSettingsText(const BenchSettings& settings);

// kInvalid with `path` and the key, or file:line:column for a syntax error; a version newer than ours is named as such.
Result<TuneSettings> ParseTuneSettings(std::string_view text, const std::string& path);
Result<BenchSettings> ParseBenchSettings(std::string_view text, const std::string& path);
Result<TuneSettings> ReadTuneSettings(const std::string& path);
Result<BenchSettings> ReadBenchSettings(const std::string& path);

// How many rounds `trials_total` is shared out in (pipeline/shares.h).
inline constexpr int kRounds = 4;

// Is `a` the larger budget? More trials; then more seconds, then more patience before an early stop (0, no limit, is
// most).
bool LargerBudget(const TuneSettings& a, const TuneSettings& b);

// The first error in the values, "" if there is none: "trials: must be at least 1, is 0". The first part is the key.
// One place for both the pipeline file and the JSON.
std::string CheckValues(const TuneSettings& settings);
std::string CheckValues(const BenchSettings& settings);

}  // namespace hone::pipeline

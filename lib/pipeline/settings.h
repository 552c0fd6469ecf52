// The settings of a job: everything in its pipeline file that affects a result, except network and targets. hone-plan
// writes them as settings/JOB.extract.json, .tune.json and .bench.json (only if changed); the tools read them. Do not
// add anything that does not affect results (launcher, verbosity, paths, number of jobs): a changed byte causes work.
//
// Format: one JSON object with "version": 1 and the fields below by their names. The object "measure" of the tune
// settings contains `finalists` and the settable fields of Protocol. Every field is written; readers use the default
// for a missing field and reject unknown ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "task/protocol.h"

namespace hone {
class Fields;
}

namespace hone::pipeline {

// A sketch that a user wrote (sketch/sketch.h), with its text, so that a job depends on no other file.
struct SketchFile {
  std::string file;  // for messages
  std::string text;
  bool operator==(const SketchFile&) const = default;
};
void ListFields(Fields* f, SketchFile* s);

// A saved model (pipeline/model_file.h); the digest of its text, so that a job depends on what it says.
struct ModelFile {
  std::string file, digest;  // empty: no model
  bool operator==(const ModelFile&) const = default;
};
void ListFields(Fields* f, ModelFile* m);

inline constexpr const char* kShares[] = {"gain", "time", "gradient", "equal"};  // pipeline/share_needs.h
inline constexpr const char* kObjectives[] = {"sum", "geomean"};                 // pipeline/joint_total.h
inline constexpr int64_t kMostTrials = 1'000'000'000;

// A line of [weights]: how many times as important a task is as its uses say.
struct TaskWeight {
  std::string name;  // id of a task, or an operator: all its tasks
  double weight = 1;
  bool operator==(const TaskWeight&) const = default;
};
void ListFields(Fields* f, TaskWeight* w);

struct TuneSettings {
  std::string tuner = "auto";  // search/tuner/tuner.h has the list
  int64_t trials = 128;        // budget of one task, at least 1; kMostTrials: only `seconds` limits it
  double seconds = 0;          // budget of one task in seconds of tuning over all its sessions; 0: no limit
  int64_t early_stop = 0;      // stops after this many trials without an improvement; 0: never
  uint64_t seed = 1;           // below 2^63
  Protocol measure;
  int64_t finalists = 8;      // number of the best measured again, interleaved, before the stamp; 0: none
  double expected_gain = 0;   // stops when the tuner expects less than this share of speedup; 0: never
  std::string like;           // "autotvm": the tuner with that system's constants; "ansor": that tuner; "": Hone's
  std::string mode = "both";  // who proposes: "templates", "sketches" or "both" (propose::Mode)
  int64_t winograd = 6;       // limit on Winograd: F(m x m, 3x3) up to this m (2, 4, 6); 0: no Winograd (op::Numerics)
  bool tf32 = false;          // allows products of factors rounded to TF32 (op::Numerics)
  std::vector<SketchFile> sketches;  // join the proposers of the tasks that they fit
  ModelFile model;                   // what the tuner knows before its first trial; a path from the work folder
  // The budget of all the network's tasks together, distributed in rounds (pipeline/shares.h). At most one of the first
  // two is above 0; if both are 0, each task has its own budget. hone-allocate reads these, hone-tune does not.
  int64_t trials_total = 0;
  double seconds_total = 0;
  int64_t rounds = 4;
  std::string share = "gain";       // rule of the rounds after the first: one of kShares
  std::string objective = "sum";    // of several networks with one total: one of kObjectives
  double target_ms = 0;             // a network whose estimated total is at most this takes no more; 0: no target
  std::vector<TaskWeight> weights;  // sorted by name
  bool HasTotal() const { return trials_total > 0 || seconds_total > 0; }
  std::string TunerName() const { return like == "ansor" ? like : tuner; }  // that of the tuner that searches
  bool operator==(const TuneSettings&) const = default;
};

struct BenchSettings {
  int64_t processes = 5;    // fresh processes per library, alternating between the compared libraries, at least 1
  int64_t iterations = 50;  // timed runs per process, at least 1
  int64_t warmup = 5;       // runs before the timed ones, at least 0
  uint64_t seed = 1;        // of the input
  bool operator==(const BenchSettings&) const = default;
};

// The largest `[memory] parameters`: a larger multiple of their own size than any kernel's weights need.
inline constexpr double kMostMemory = 1000;

// Numerics as flags of tools, `--winograd 4 --tf32`: only those that differ from the default, so that the default
// changes no command.
std::string NumericsFlags(int64_t winograd, bool tf32);
// The value of --winograd: "off" (0), "2", "4" or "6"; else kInvalid.
Result<int> ParseWinograd(const std::string& text);

// The keys of a pipeline file's tables [tune], [measure], [bench].
void ListTuneKeys(Fields* f, TuneSettings* s);
void ListMeasureKeys(Fields* f, TuneSettings* s);
void ListFields(Fields* f, BenchSettings* s);

// The JSON text, ending with a newline; equal settings give equal bytes.
std::string TuneSettingsText(const TuneSettings& settings);
std::string BenchSettingsText(const BenchSettings& settings);

// Returns kInvalid with `path` and the key, or with file:line:column for a syntax error; the message names a newer
// version.
Result<TuneSettings> ParseTuneSettings(std::string_view text, const std::string& path);
Result<BenchSettings> ParseBenchSettings(std::string_view text, const std::string& path);
Result<TuneSettings> ReadTuneSettings(const std::string& path);
Result<BenchSettings> ReadBenchSettings(const std::string& path);

inline constexpr double kMostWeight = 1000;

// Each round of a total adds an edge a task to the manifest.
inline constexpr int64_t kMostRounds = 64;

// The settings of one task: without the total, its rounds and how it is shared.
TuneSettings WithoutTotal(const TuneSettings& settings);

// Whether `a` is the larger budget: more trials; then more seconds; then a later early stop (0, no limit, is the
// largest).
bool LargerBudget(const TuneSettings& a, const TuneSettings& b);

// The first error in the values, "" if all are valid: "trials: must be at least 1, is 0", beginning with the key. Used
// for both the pipeline file and the JSON.
std::string CheckValues(const TuneSettings& settings);
std::string CheckValues(const BenchSettings& settings);

}  // namespace hone::pipeline

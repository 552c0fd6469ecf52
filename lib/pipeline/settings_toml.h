// The tables [tune], [measure], [numerics], [memory], [bench], [quantise] and [input] of a pipeline file.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/settings.h"
#include "pipeline/toml_table.h"
#include "quantise/settings.h"

namespace hone::pipeline {

// The tasks from whose records a task learns: `transfer = true | false | ["TASKID", ..]`.
struct Transfer {
  bool any = false;              // those nearest in shape (pipeline/donors.h)
  std::vector<std::string> ids;  // these
  bool operator==(const Transfer&) const = default;
};

// [input]: the shapes of a model's inputs, by name, sorted.
using InputShapes = std::vector<std::pair<std::string, std::vector<int64_t>>>;

// [quantise]: how hone-quantise makes a network of integers.
struct QuantiseTable {
  quantise::Settings settings;
  std::string data;  // path from the pipeline's folder of the calibration inputs; empty: seeded ones
};

// A pipeline file's settings for its jobs.
struct JobSettings {
  TuneSettings tune;
  Transfer transfer;
  std::string total_of;  // [tune] total_of: the pipeline whose total also pays for this one's tasks; "": none
  std::vector<std::string> sketches;  // [tune] sketch: paths from the pipeline's folder of files of tune.sketches
  std::string model;                  // [tune] model: path from the pipeline's folder of tune.model; may be empty
  bool in_network = true;             // [tune] in_network: compares the tasks' finalists in the network (hone-confirm)
  bool alternatives = true;           // [tune] alternatives: also tunes fused kernels and other layouts (hone-extract)
  // [memory] parameters: limit on the packed parameters, as a multiple of the network's own bytes (hone-pick-best). Not
  // in a settings file, since tuning and timing do not depend on it. 0: no limit.
  double memory = 0;
  BenchSettings bench;

  // Whether rounds of a total tune its tasks, its own or another pipeline's.
  bool InRounds() const { return tune.HasTotal() || !total_of.empty(); }
};

// Selects tables: [tune], [measure], .., or with `target` [tune.TARGET], .., which override those. `targets` are the
// names allowed for such tables.
struct TablesOf {
  const std::vector<std::string>& targets;
  std::string target;
};

// All return kInvalid with "PATH:LINE: what" for an unknown key, a wrong type, a value out of range, or two keys that
// exclude each other.
Status ReadJobSettings(TomlTable* file, const TablesOf& of, JobSettings* settings);
Status ReadWeights(TomlTable* file, std::vector<TaskWeight>* weights);  // [weights]
// Nothing without the table.
Result<std::optional<QuantiseTable>> ReadQuantiseTable(TomlTable* file);
Status ReadInputTable(TomlTable* file, InputShapes* inputs);

}  // namespace hone::pipeline

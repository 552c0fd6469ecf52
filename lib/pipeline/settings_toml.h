// The tables [tune], [measure], [numerics], [memory], [bench] and [input] of a pipeline file.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "pipeline/settings.h"
#include "pipeline/toml_table.h"

namespace hone::pipeline {

// Which records of other tasks a task is tuned with: `transfer = true | false | ["TASKID", ..]`.
struct Transfer {
  bool any = false;              // those nearest in shape (pipeline/donors.h)
  std::vector<std::string> ids;  // these
  bool operator==(const Transfer&) const = default;
};

// [input]: the shapes of a model's inputs, by name, sorted.
using InputShapes = std::vector<std::pair<std::string, std::vector<int64_t>>>;

// Which tables: [tune], [measure], .. themselves, or with `target` [tune.TARGET], .. , which change what those said.
// `targets`: all whose tables are no unknown keys.
struct TablesOf {
  const std::vector<std::string>& targets;
  std::string target;
};

// kInvalid with "PATH:LINE: what" for an unknown key, a wrong type, a value out of range, or two keys that exclude each
// other.
// `in_network`, `alternatives`: of [tune], see PipelineFile.
Status ReadTuneTables(TomlTable* file, const TablesOf& of, TuneSettings* tune, Transfer* transfer, bool* in_network,
                      bool* alternatives);
// [memory] parameters, see PipelineFile.
Status ReadMemoryTable(TomlTable* file, const TablesOf& of, double* parameters);
Status ReadBenchTable(TomlTable* file, const TablesOf& of, BenchSettings* bench);
Status ReadInputTable(TomlTable* file, InputShapes* inputs);

}  // namespace hone::pipeline

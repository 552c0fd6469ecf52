// The tables [tune], [measure], [numerics], [bench] and [input] of a pipeline file.
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

// kInvalid with "PATH:LINE: what" for an unknown key, a wrong type, a value out of range, or two keys that exclude each
// other.
// `in_network`, `alternatives`: of [tune], see PipelineFile.
Status ReadTuneTables(TomlTable* file, TuneSettings* tune, Transfer* transfer, bool* in_network, bool* alternatives);
Status ReadBenchTable(TomlTable* file, BenchSettings* bench);
Status ReadInputTable(TomlTable* file, InputShapes* inputs);

}  // namespace hone::pipeline

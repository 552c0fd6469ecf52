// The task list of a network on a target: tasks/NET.TARGET.tasks.json. hone-extract writes it; every tool that asks
// what to tune reads it. Format, version 3 (version 1 had no `alternatives`, version 2 neither `optional` nor `reads`):
//   {"version": 3, "network": "resnet-18", "target": "cpu -triple=...", "target_name": "cpu",
//    "tasks": [{"id": "conv2d-0123456789ab", "workload": "conv2d(...) + bias + relu", "weight": 4, "flop": 231211008},
//              ...],
//    "reads": ["weights.bin"], "alternatives": [{"replaces": ["conv1", "pool1"], "by": [{"name": "pool1", ..}]}, ...]}
// There is one entry for each distinct task: first those of the network as it is, then those with "optional": true.
// Optional tasks are measured only to choose among alternatives: the alternatives' kernels, and kernels with one
// schedule that they would replace. The network can be built without them. An empty `alternatives` is left out;
// pipeline/alternative.h has its format. An id depends only on workload and target, so networks share tasks and
// records.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pipeline/alternative.h"

namespace hone::pipeline {

struct TaskEntry {
  std::string id;        // characters from [A-Za-z0-9_.-]: part of file names
  std::string workload;  // canonical text
  // How often the network computes it, either without alternatives or, if only they need it, with them; at least 1.
  int64_t weight = 1;
  int64_t flop = 0;       // per computation, at least 0
  bool optional = false;  // measured only to choose among alternatives: the network does not need it
};

struct TaskList {
  std::string network;
  std::string target;                          // canonical text
  std::string target_name;                     // stem of its file in pipelines/targets
  std::vector<TaskEntry> tasks;                // in the network's order, ids distinct
  std::vector<Alternative> alternatives = {};  // in the network's order
  // Why the network could not be extracted; empty on success. A list with a failure has no tasks.
  std::string failure = {};
  // Files that the network's own file refers to (values of an ONNX model), relative to its folder: also inputs of the
  // edges.
  std::vector<std::string> reads = {};
};

// The JSON text, ending with a newline.
std::string TaskListText(const TaskList& list);

// Returns kInvalid with `path` and the place for a syntax error, a missing or unknown key, a bad or repeated id, or a
// newer version.
Result<TaskList> ParseTaskList(std::string_view text, const std::string& path);
Result<TaskList> ReadTaskList(const std::string& path);

// Whether `name` is a valid job, target or task name: not empty, characters from [A-Za-z0-9_.-], no leading '.' or '-'.
bool IsPlainName(std::string_view name);

}  // namespace hone::pipeline

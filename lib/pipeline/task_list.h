// The task list of a network on a target: tasks/NET.TARGET.tasks.json. hone-extract writes it; every tool that asks
// what to tune reads it. Format, version 3 (version 1 had no `alternatives`, version 2 neither `optional` nor `reads`):
//   {"version": 3, "network": "resnet-18", "target": "cpu -triple=...", "target_name": "cpu",
//    "tasks": [{"id": "conv2d-0123456789ab", "workload": "conv2d(...) + bias + relu", "weight": 4, "flop": 231211008},
//              ...],
//    "reads": ["weights.bin"], "alternatives": [{"replaces": ["conv1", "pool1"], "by": [{"name": "pool1", ..}]}, ...]}
// There is one entry for each distinct task: first those of the network as it is, then those with "optional": true.
// Optional tasks are measured only to choose among alternatives: the alternatives' kernels, and kernels with one
// schedule that they would replace. The network can be built without them. `alternatives` is missing if there are none;
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
  std::string id;        // of [A-Za-z0-9_.-]: part of file names
  std::string workload;  // canonical text
  // How often the network computes it as it stands, or else could by its alternatives; at least 1.
  int64_t weight = 1;
  int64_t flop = 0;       // of one computation, at least 0
  bool optional = false;  // measured only to choose among alternatives: the network does without it
};

struct TaskList {
  std::string network;
  std::string target;                          // canonical text
  std::string target_name;                     // stem of its file in pipelines/targets
  std::vector<TaskEntry> tasks;                // in the network's order, ids distinct
  std::vector<Alternative> alternatives = {};  // in the network's order
  // Why the network could not be extracted; empty: it was. A list that says so has no tasks.
  std::string failure = {};
  // Files that the network's own file refers to (values of an ONNX model), from its folder: also inputs of the edges.
  std::vector<std::string> reads = {};
};

// The JSON text, with a newline at its end.
std::string TaskListText(const TaskList& list);

// kInvalid with `path` and the place: syntax, a missing or unknown key, a bad or repeated id, a newer version.
Result<TaskList> ParseTaskList(std::string_view text, const std::string& path);
Result<TaskList> ReadTaskList(const std::string& path);

// Is `name` of [A-Za-z0-9_.-], not empty, and without a leading '.' or '-'? Job, target and task names are.
bool IsPlainName(std::string_view name);

}  // namespace hone::pipeline

// The task list of a network on a target: tasks/NET.TARGET.tasks.json. hone-extract writes it; every tool that asks
// what to tune reads it. Format, version 3 (version 1 had no `alternatives`, version 2 neither `optional` nor `reads`):
//   {"version": 3, "network": "resnet-18", "target": "cpu -triple=...", "target_name": "cpu",
//    "tasks": [{"id": "conv2d-0123456789ab", "workload": "conv2d(...) + bias + relu", "weight": 4, "flop": 231211008},
//              ...],
//    "reads": ["weights.bin"], "alternatives": [{"replaces": ["conv1", "pool1"], "by": [{"name": "pool1", ..}]}, ...]}
// There is one entry for each distinct task: first those of the network as it is, then those with "optional": true.
// Optional tasks are measured only to choose among alternatives: the alternatives' kernels, and kernels with one
// schedule that they would replace. The network can be built without them. An empty `alternatives` is left out. An id
// depends only on workload and target, so networks share tasks and records.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "target/target.h"
#include "task/workload.h"

namespace hone {
class Fields;
}

namespace hone::pipeline {

// An alternative in files (tasks/*.tasks.json, best/*.json); lib/graph/alternatives.h explains alternatives:
//   {"replaces": ["conv1", "pool1"],
//    "by": [{"name": "pool1", "workload": "conv2d(..) + bias -> max_pool2d(..)", "inputs": ["data", "w", "b"]}]}
struct AlternativeNode {
  std::string name;                 // of the replaced node, or of a new one
  std::string workload;             // canonical text
  std::vector<std::string> inputs;  // tensors, as for a graph's nodes
  bool operator==(const AlternativeNode&) const = default;
};

struct Alternative {
  std::vector<std::string> replaces;  // nodes of the graph
  std::vector<AlternativeNode> by;    // at least one
  bool operator==(const Alternative&) const = default;
};

void ListFields(Fields* f, Alternative* alternative);

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

// tasks/TASKID.task.json, written by hone-extract: one tuning task. Format, version 1:
//   {"version": 1, "id": "conv2d-..", "workload": "<canonical text>", "target": "<canonical text>", "flop": 231211008}
// For an operator of a plugin, or a plugin's rule that has a sketch for the task, also "plugin": "/its/file.so" and
// "plugin_digest": "<hex>", the file's content, so that a rebuilt plugin changes the task file. `space` has the
// versions of the task's templates, "dense_packed=3": a raised version changes only the files of its own tasks, and
// only those are tuned again. Older files lack it.
struct TaskFile {
  std::string id;
  Workload workload;
  Target target;
  int64_t flop = 0;
  std::string plugin;         // file of the plugin with the operator or a rule; empty without one
  std::string plugin_digest;  // of its content when the task was extracted
  std::string space;          // versions of its templates; empty: unknown
};

// The text of the file; equal tasks give equal bytes.
std::string TaskFileText(const TaskFile& task);

// Returns kInvalid with `path` and the place for a syntax error, a missing or unknown key, a malformed workload or
// target, or an id that does not match them; kUnsupported for a newer version.
Result<TaskFile> ParseTaskFile(const std::string& text, const std::string& path);

}  // namespace hone::pipeline

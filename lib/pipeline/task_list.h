// The task list of a network on a target: tasks/NET.TARGET.tasks.json, written by hone-extract, read by everything that
// asks what there is to tune. Format (version 1):
//   {"version": 1, "network": "resnet-18", "target": "cpu -triple=...", "target_name": "cpu",
//    "tasks": [{"id": "conv2d-0123456789ab", "workload": "conv2d(...) + bias + relu", "weight": 4, "flop": 231211008},
//    ...]}
// One entry a distinct task. An id depends on the workload and the target alone, so networks share tasks, their records
// too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone::pipeline {

struct TaskEntry {
  std::string id;        // of [A-Za-z0-9_.-]: part of file names
  std::string workload;  // canonical text
  int64_t weight = 1;    // how often the network computes it, at least 1
  int64_t flop = 0;      // of one computation, at least 0
};

struct TaskList {
  std::string network;
  std::string target;            // canonical text
  std::string target_name;       // stem of its file in pipelines/targets
  std::vector<TaskEntry> tasks;  // in the network's order, ids distinct
};

// The JSON text, with a newline at its end.
std::string TaskListText(const TaskList& list);

// kInvalid with `path` and the place: syntax, a missing or unknown key, a bad or repeated id, a newer version.
Result<TaskList> ParseTaskList(std::string_view text, const std::string& path);
Result<TaskList> ReadTaskList(const std::string& path);

// Is `name` of [A-Za-z0-9_.-], not empty, and without a leading '.' or '-'? Job, target and task names are.
bool IsPlainName(std::string_view name);

}  // namespace hone::pipeline

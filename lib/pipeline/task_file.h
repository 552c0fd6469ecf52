// tasks/TASKID.task.json, written by hone-extract: one tuning task. Format, version 1:
//   {"version": 1, "id": "conv2d-..", "workload": "<canonical text>", "target": "<canonical text>", "flop": 231211008}
// For an operator of a plugin also "plugin": "/its/file.so" and "plugin_digest": "<hex>", the file's content, so that a
// rebuilt plugin changes the task file. `space` has the versions of the task's templates, "conv2d_direct=3": a raised
// version changes only the files of its own tasks, and only those are tuned again. Older files lack it.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "target/target.h"
#include "task/workload.h"

namespace hone::pipeline {

struct TaskFile {
  std::string id;
  Workload workload;
  Target target;
  int64_t flop = 0;
  std::string plugin;         // file of the plugin with the operator; empty for Hone's own
  std::string plugin_digest;  // of its content when the task was extracted
  std::string space;          // versions of its templates; empty: unknown
};

// The text of the file; equal tasks give equal bytes.
std::string TaskFileText(const TaskFile& task);

// Returns kInvalid with `path` and the place for a syntax error, a missing or unknown key, a malformed workload or
// target, or an id that does not match them; kUnsupported for a newer version.
Result<TaskFile> ParseTaskFile(const std::string& text, const std::string& path);

}  // namespace hone::pipeline

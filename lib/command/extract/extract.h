// hone-extract: what there is to tune in a network: the normalised graph, the task list, one file a task.
#pragma once

#include <string>
#include <vector>

namespace hone::command {

struct ExtractOptions {
  std::string network;               // a built-in one's name, the path of a graph (*.json) or model (*.onnx), or one
                                     // workload: "dense(f32[1,16], f32[4,16]) + relu"
  std::vector<std::string> inputs;   // of a model: NAME=1,3,224,224, the shapes of its inputs
  std::string check;                 // with RunExtractCheck: the model
  std::vector<std::string> plugins;  // libraries with operators of users (op/plugin.h)
  std::string target;                // target file (JSON)
  std::string graph;                 // files to write: nets/NET.graph.json,
  std::string tasks;                 // tasks/NET.TARGET.tasks.json
  std::string task_dir;              // folder of TASKID.task.json
  std::string parameters;            // empty, or a file for the values of the parameters, for other engines
  std::string parameter_file;        // empty, or the values of a graph's parameters of kind `file`
  bool alone = false;                // no alternatives are listed (`[tune] alternatives = false`)
  bool keep_going = false;           // write the reason of a failure into the task list, and succeed
  std::string failed;                // with RunExtractFailed: the task list
  int batch = 1;                     // of a built-in network; a graph file has its own
};

// The versions that make old outputs stale.
std::string ExtractAbi();

// Writes each file only if its bytes change. Mistakes go to stderr in one line. Returns the exit code: 0 done, 1
// failed, 2 an input is wrong.
int RunExtract(const ExtractOptions& options);

// Says why the task list options.failed has no tasks (TaskList::failure). Returns 2; 0 if nothing is wrong with it.
int RunExtractFailed(const ExtractOptions& options);

// Prints whether Hone supports the model options.check: 0 yes, 1 no, 2 not a model.
int RunExtractCheck(const ExtractOptions& options);

}  // namespace hone::command

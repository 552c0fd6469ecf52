// hone-extract: finds the tuning tasks of a network; writes the normalised graph, the task list and one file per task.
#pragma once

#include <string>
#include <vector>

namespace hone::command {

struct ExtractOptions {
  std::string network;                // a built-in one's name, the path of a graph (*.json) or model (*.onnx), or one
                                      // workload: "dense(f32[1,16], f32[4,16]) + relu"
  std::vector<std::string> inputs;    // for a model: NAME=1,3,224,224, the shapes of its inputs
  std::string check;                  // for RunExtractCheck: the model
  std::vector<std::string> plugins;   // libraries with user-defined operators and rules (plugin/plugin.h)
  std::vector<std::string> sketches;  // sketches that a user wrote (sketch/sketch.h): each must fit a task
  std::string target;                 // target file (JSON)
  std::string graph;                  // files to write: nets/NET.graph.json,
  std::string tasks;                  // tasks/NET.TARGET.tasks.json
  std::string task_dir;               // folder for TASKID.task.json
  std::string parameters;             // file for the values of the parameters, for other engines; may be empty
  std::string parameter_file;         // file with values of a graph's parameters of kind `file`; may be empty
  std::string quantise;     // settings (quantise/settings.h): the graph of integers is extracted, whose values
                            // hone-quantise makes; may be empty
  bool alone = false;       // lists no alternatives (`[tune] alternatives = false`)
  bool keep_going = false;  // on failure, writes the reason into the task list and succeeds
  std::string failed;       // for RunExtractFailed: the task list
  std::string layout;       // of the graph (kLayoutNames); empty: its own, or blocked
  int batch = 1;            // for a built-in network; a graph file has its own
};

// The versions that make old outputs stale.
std::string ExtractAbi();

// Writes each file only if its bytes change. Prints mistakes to stderr in one line. Returns the exit code: 0 done, 1
// failed, 2 wrong input.
int RunExtract(const ExtractOptions& options);

// Prints why the task list options.failed has no tasks (TaskList::failure). Returns 2, or 0 if there is no failure.
int RunExtractFailed(const ExtractOptions& options);

// Prints whether Hone supports the model options.check. Returns 0 for yes, 1 for no, 2 if it is not a model.
int RunExtractCheck(const ExtractOptions& options);

}  // namespace hone::command

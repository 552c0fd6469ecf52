// hone-extract: writes the normalised graph and the tuning tasks of a network.
#include <CLI/CLI.hpp>

#include "base/flags.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "command/extract/extract.h"

int main(int argc, char** argv) {
  hone::SetLogName("hone-extract");
  hone::command::ExtractOptions options;
  CLI::App app("Writes the normalised graph of a network, its task list and a file for each task.", "hone-extract");
  app.add_option(
      "--network", options.network,
      "a built-in network (resnet-18, mobilenet_v2, ...), a graph file (*.json), an ONNX model (*.onnx), or the text "
      "of one workload");
  app.add_option("--plugin", options.plugins, "a library with operators of your own (repeatable)");
  app.add_option("--input", options.inputs, "the shape of an ONNX model's input: NAME=1,3,224,224 (repeatable)");
  app.add_option("--check", options.check, "only check whether Hone can use this ONNX model");
  app.add_option("--batch", options.batch, "batch size of a built-in network")->capture_default_str();
  app.add_option("--target", options.target, "target file (JSON), written by hone-plan");
  app.add_option("--graph", options.graph, "graph file to write (nets/NET.graph.json)");
  app.add_option("--tasks", options.tasks, "task list to write (tasks/NET.TARGET.tasks.json)");
  app.add_option("--task-dir", options.task_dir, "folder for the task files (TASKID.task.json)");
  app.add_flag("--alone", options.alone, "no alternatives: every node is one kernel, in one layout");
  app.add_flag("--keep-going", options.keep_going,
               "if the network is at fault: write the reason into the task list, and exit with 0");
  app.add_option("--failed", options.failed, "only say why this task list has no tasks, and exit with 2");
  app.add_option("--parameters", options.parameters, "parameter file to write: all values of the normalised graph");
  app.add_option("--parameter-file", options.parameter_file, "file with the values of the graph's `file` parameters");
  if (const auto code = hone::ParseFlags(&app, argc, argv, hone::command::ExtractAbi)) return *code;
  hone::InstallInterruptHandlers();
  if (!options.failed.empty()) return hone::command::RunExtractFailed(options);
  if (!options.check.empty()) return hone::command::RunExtractCheck(options);
  if (const auto code = hone::RequireFlags(app, {"--network", "--target", "--graph", "--tasks", "--task-dir"})) {
    return *code;
  }
  return hone::command::RunExtract(options);
}

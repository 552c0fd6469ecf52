// hone-extract: writes the normalised graph and the tuning tasks of a network.
#include "base/flags.h"
#include "base/interrupt.h"
#include "command/extract/extract.h"

int main(int argc, char** argv) {
  hone::command::ExtractOptions options;
  hone::Flags flags("hone-extract",
                    "Writes the normalised graph of a network, its task list and a file for each task.");
  flags.Add(
      "--network", &options.network,
      "a built-in network (resnet-18, mobilenet_v2, ...), a graph file (*.json), an ONNX model (*.onnx), or the text "
      "of one workload");
  flags.Add("--plugin", &options.plugins, "a library with operators of your own (repeatable)");
  flags.Add("--sketch", &options.sketches, "a sketch of your own: what it fits is a task (repeatable)");
  flags.Add("--input", &options.inputs, "the shape of an ONNX model's input: NAME=1,3,224,224 (repeatable)");
  flags.Add("--check", &options.check, "only check whether Hone can use this ONNX model");
  flags.Add("--batch", &options.batch, "batch size of a built-in network").ShowDefault();
  flags.Add("--layout", &options.layout,
            "how tensors of images are stored: blocked, nchw or nhwc (default: a graph file's own, else blocked)");
  flags.Add("--target", &options.target, "target file (JSON), written by hone-plan");
  flags.Add("--graph", &options.graph, "graph file to write (nets/NET.graph.json)");
  flags.Add("--tasks", &options.tasks, "task list to write (tasks/NET.TARGET.tasks.json)");
  flags.Add("--task-dir", &options.task_dir, "folder for the task files (TASKID.task.json)");
  flags.Add("--quantise", &options.quantise, "settings file: extract the network as hone-quantise makes it");
  flags.Add("--alone", &options.alone, "no alternatives: every node is one kernel, in one layout");
  flags.Add("--keep-going", &options.keep_going,
            "if the network is at fault: write the reason into the task list, and exit with 0");
  flags.Add("--failed", &options.failed, "only say why this task list has no tasks, and exit with 2");
  flags.Add("--parameters", &options.parameters, "parameter file to write: all values of the normalised graph");
  flags.Add("--parameter-file", &options.parameter_file, "file with the values of the graph's `file` parameters");
  if (const auto code = flags.Parse(argc, argv, hone::command::ExtractAbi)) return *code;
  hone::InstallInterruptHandlers();
  if (!options.failed.empty()) return hone::command::RunExtractFailed(options);
  if (!options.check.empty()) return hone::command::RunExtractCheck(options);
  if (const auto code = flags.Require({"--network", "--target", "--graph", "--tasks", "--task-dir"})) {
    return *code;
  }
  return hone::command::RunExtract(options);
}

// hone-confirm: compares the finalists of a network's tasks in the network.
#include "base/flags.h"
#include "base/interrupt.h"
#include "command/confirm/confirm.h"
#include "command/confirm/trial_networks.h"

int main(int argc, char** argv) {
  hone::command::ConfirmOptions options;
  std::string child;
  hone::Flags flags("hone-confirm", "Runs the network with the finalists of its tasks and chooses the fastest there.");
  flags.Add("--graph", &options.graph, "graph file (nets/NET.graph.json)");
  flags.Add("--target", &options.target, "target file (JSON)");
  flags.Add("--best", &options.best, "choices with finalists, written by hone-pick-best (best/NET.TARGET.json)");
  flags.Add("--out", &options.out, "file to write (best/NET.TARGET.confirmed.json); not touched if nothing changes");
  flags.Add("--choice", &options.choice,
            "file to write: the choices without figures, for hone-build (best/NET.TARGET.choice.json)");
  flags.Add("--parameter-file", &options.parameter_file, "file with the values of the graph's `file` parameters");
  flags.Add("--input", &options.inputs,
            "if that file is an ONNX model: the shapes of its inputs, as given to hone-extract");
  flags.Add("--seconds", &options.seconds, "time limit for timing the finalists").Within(0.0, 3600.0).ShowDefault();
  flags.Add("--child", &child, "internal: request file; time libraries in this process and write the reply to --out");
  if (const auto code = flags.Parse(argc, argv, hone::command::ConfirmAbi)) return *code;
  if (!child.empty()) return hone::command::RunTrialChild(child, options.out);
  if (const auto code = flags.Require({"--graph", "--target", "--best", "--out", "--choice"})) return *code;
  hone::InstallInterruptHandlers();
  return hone::command::RunConfirm(options);
}

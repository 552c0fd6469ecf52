// hone-confirm: compares the finalists of a network's tasks in the network.
#include <CLI/CLI.hpp>

#include "base/flags.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "command/confirm/confirm.h"
#include "command/confirm/trial_networks.h"

int main(int argc, char** argv) {
  hone::SetLogName("hone-confirm");
  hone::command::ConfirmOptions options;
  std::string child;
  CLI::App app("Runs the network with the finalists of its tasks and chooses the fastest there.",
               "hone-confirm");
  app.add_option("--graph", options.graph, "graph file (nets/NET.graph.json)");
  app.add_option("--target", options.target, "target file (JSON)");
  app.add_option("--best", options.best, "choices with finalists, written by hone-pick-best (best/NET.TARGET.json)");
  app.add_option("--out", options.out, "file to write (best/NET.TARGET.confirmed.json); not touched if nothing changes");
  app.add_option("--choice", options.choice,
                 "file to write: the choices without figures, for hone-build (best/NET.TARGET.choice.json)");
  app.add_option("--parameter-file", options.parameter_file, "file with the values of the graph's `file` parameters");
  app.add_option("--input", options.inputs,
                 "if that file is an ONNX model: the shapes of its inputs, as given to hone-extract");
  app.add_option("--seconds", options.seconds, "time limit for timing the finalists")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  app.add_option("--child", child, "internal: request file; time libraries in this process and write the reply to --out");
  if (const auto code = hone::ParseFlags(&app, argc, argv, hone::command::ConfirmAbi)) return *code;
  if (!child.empty()) return hone::command::RunTrialChild(child, options.out);
  if (const auto code = hone::RequireFlags(app, {"--graph", "--target", "--best", "--out", "--choice"})) return *code;
  hone::InstallInterruptHandlers();
  return hone::command::RunConfirm(options);
}

// hone-build: builds the library of a network.
#include <CLI/CLI.hpp>

#include "base/flags.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "command/build/build.h"

int main(int argc, char** argv) {
  hone::SetLogName("hone-build");
  hone::command::BuildOptions options;
  CLI::App app("Builds a C library of a network, with header, parameters and a manifest.",
               "hone-build");
  app.add_option("--graph", options.graph, "graph file (nets/NET.graph.json)")->required();
  app.add_option("--target", options.target, "target file (JSON)")->required();
  app.add_option("--best", options.best, "best configurations (best/NET.TARGET.json)");
  app.add_flag("--untuned", options.untuned, "instead of --best: use the default configuration of every task");
  app.add_option("--out", options.out, "folder to write libNET.so, NET.h, NET.params and manifest.json to")->required();
  app.add_option("--name", options.name, "NET (default: the name of the graph file up to its first dot)");
  app.add_option("--parameter-file", options.parameter_file, "file with the values of the graph's `file` parameters");
  app.add_option("--input", options.inputs,
                 "if that file is an ONNX model: the shapes of its inputs, as given to hone-extract");
  app.add_flag("--tf32", options.tf32, "allow choices in TF32");
  app.add_option("--winograd", options.winograd, "largest Winograd tile that is allowed: off, 2, 4 or 6")
      ->capture_default_str();
  app.add_option("--jobs", options.jobs, "threads that compile (0: as many as cores)")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  if (const auto code = hone::ParseFlags(&app, argc, argv, hone::command::BuildAbi)) return *code;
  hone::InstallInterruptHandlers();
  return hone::command::RunBuild(options);
}

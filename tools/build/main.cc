// hone-build: the library of a network.
#include <CLI/CLI.hpp>

#include "base/flags.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "command/build/build.h"

int main(int argc, char** argv) {
  hone::SetLogName("hone-build");
  hone::command::BuildOptions options;
  CLI::App app("Builds a network into a C library, its header, its parameters and a manifest of what went in.",
               "hone-build");
  app.add_option("--graph", options.graph, "graph file (nets/NET.graph.json)")->required();
  app.add_option("--target", options.target, "target file (JSON)")->required();
  app.add_option("--best", options.best, "best configurations (best/NET.TARGET.json)");
  app.add_flag("--untuned", options.untuned, "instead of --best: the default configuration of every template");
  app.add_option("--out", options.out, "folder to write libNET.so, NET.h, NET.params and manifest.json to")->required();
  app.add_option("--name", options.name, "NET (default: the name of the graph file up to its first dot)");
  app.add_option("--parameter-file", options.parameter_file, "values of parameters that the graph says are in a file");
  app.add_option("--input", options.inputs,
                 "if that is an ONNX model: the shapes of its inputs, as hone-extract had them");
  app.add_flag("--tf32", options.tf32, "take choices with products in TF32");
  app.add_option("--winograd", options.winograd, "refuse choices with a larger Winograd tile: off, 2, 4 or 6")
      ->capture_default_str();
  app.add_option("--jobs", options.jobs, "threads that compile (0: as many as cores)")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  if (const auto code = hone::ParseFlags(&app, argc, argv, hone::command::BuildAbi)) return *code;
  hone::InstallInterruptHandlers();
  return hone::command::RunBuild(options);
}

// hone-build: builds the library of a network.
#include "base/flags.h"
#include "base/interrupt.h"
#include "command/build/build.h"

int main(int argc, char** argv) {
  hone::command::BuildOptions options;
  hone::Flags flags("hone-build", "Builds a C library of a network, with header, parameters and a manifest.");
  flags.Add("--graph", &options.graph, "graph file (nets/NET.graph.json)").Required();
  flags.Add("--target", &options.target, "target file (JSON)").Required();
  flags.Add("--best", &options.best, "best configurations (best/NET.TARGET.json)");
  flags.Add("--untuned", &options.untuned, "instead of --best: use the default configuration of every task");
  flags.Add("--out", &options.out, "folder to write libNET.so, NET.h, NET.params and manifest.json to").Required();
  flags.Add("--name", &options.name, "NET (default: the name of the graph file up to its first dot)");
  flags.Add("--parameter-file", &options.parameter_file, "file with the values of the graph's `file` parameters");
  flags.Add("--input", &options.inputs,
            "if that file is an ONNX model: the shapes of its inputs, as given to hone-extract");
  flags.Add("--tf32", &options.tf32, "allow choices in TF32");
  flags.Add("--winograd", &options.winograd, "largest Winograd tile that is allowed: off, 2, 4 or 6").ShowDefault();
  flags.Add("--jobs", &options.jobs, "threads that compile (0: as many as cores)").Within(0, 1024).ShowDefault();
  if (const auto code = flags.Parse(argc, argv, hone::command::BuildAbi)) return *code;
  hone::InstallInterruptHandlers();
  return hone::command::RunBuild(options);
}

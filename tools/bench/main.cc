// hone-bench: verifies and times built networks.
#include <CLI/CLI.hpp>

#include "base/flags.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "command/bench.h"

int main(int argc, char** argv) {
  hone::SetLogName("hone-bench");
  hone::command::BenchOptions options;
  bool child = false;
  CLI::App app("Checks a built network against the reference, times it in fresh processes and prints a table.",
               "hone-bench");
  app.add_option("--lib", options.lib, "folder of the library (out/NET.TARGET)");
  app.add_option("--baseline", options.baseline, "folder of another library of the same network; the two alternate");
  app.add_option("--best", options.best,
                 "the figures of tuning (best/NET.TARGET.json): predict the network from its kernels");
  app.add_option("--settings", options.settings,
                 "settings file (settings/JOB.bench.json): processes, iterations, warmup, seed");
  app.add_option("--out", options.out, "file to write with all samples (bench/NET.TARGET.json)");
  app.add_option("--slowest", options.slowest, "so many layers in the table")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app.add_option("--parameter-file", options.parameter_file, "values of parameters that the graph says are in a file");
  app.add_option("--input", options.inputs, "if that is an ONNX model: the shapes of its inputs, as hone-extract had them");
  app.add_flag("--child", child, "internal: time one library in this process; request on stdin, reply on stdout");
  if (const auto code = hone::ParseFlags(&app, argc, argv, hone::command::BenchAbi)) return *code;
  if (child) return hone::command::RunBenchChild();
  hone::InstallInterruptHandlers();
  return hone::command::RunBench(options);
}

// hone-bench: verifies and times built networks.
#include <CLI/CLI.hpp>

#include "base/flags.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "command/bench/bench.h"
#include "command/bench/nightly.h"

int main(int argc, char** argv) {
  hone::SetLogName("hone-bench");
  hone::command::BenchOptions options;
  hone::command::NightlyOptions night;
  bool child = false;
  CLI::App app("Checks a built network against the reference, times it in fresh processes and prints a table.",
               "hone-bench");
  app.add_option("--lib", options.lib, "folder of the library (out/NET.TARGET)");
  app.add_option("--baseline", options.baseline, "folder of another library of the same network, timed alternately");
  app.add_option("--best", options.best,
                 "choices with their times in tuning (best/NET.TARGET.json), to predict the network from");
  app.add_option("--settings", options.settings,
                 "settings file (settings/JOB.bench.json): processes, iterations, warmup, seed");
  app.add_option("--out", options.out, "file to write with all samples (bench/NET.TARGET.json)");
  const std::string parameter_help = "file with the values of the graph's `file` parameters";
  const std::string input_help = "if that file is an ONNX model: the shapes of its inputs, as given to hone-extract";
  app.add_option("--parameter-file", options.parameter_file, parameter_help);
  app.add_option("--input", options.inputs, input_help);
  app.add_flag("--child", child, "internal: time one library in this process; request on stdin, reply on stdout");

  CLI::App* nightly = app.add_subcommand("nightly", "time a job's library and its accepted reference");
  nightly->add_option("--job", night.job, "NET.TARGET")->required();
  nightly->add_option("--lib", night.lib, "folder of the library (out/NET.TARGET)")->required();
  nightly->add_option("--accepted", night.accepted, "folder of the references")->capture_default_str();
  nightly->add_option("--nights", night.nights, "folder of the histories")->capture_default_str();
  nightly->add_option("--series", night.series, "history to append to: main or replay")
      ->check(CLI::IsMember({"main", "replay"}))
      ->capture_default_str();
  nightly->add_option("--parameter-file", night.parameter_file, parameter_help);
  nightly->add_option("--input", night.inputs, input_help);
  nightly->add_option("--fake-times", night.fake_times, "tests: a file with lines `DIGEST SECONDS`")->group("");
  if (const auto code = hone::ParseFlags(&app, argc, argv, hone::command::BenchAbi)) return *code;
  if (child) return hone::command::RunBenchChild();
  hone::InstallInterruptHandlers();
  if (nightly->parsed()) return hone::command::RunNightly(night);
  if (const auto code = hone::RequireFlags(app, {"--lib"})) return *code;
  return hone::command::RunBench(options);
}

// hone-bench: verifies and times built networks.
#include <CLI/CLI.hpp>

#include "base/flags.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "command/bench/bench.h"
#include "command/nightly/nightly.h"

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
  app.add_option("--slowest", options.slowest, "number of layers in the table")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app.add_option("--parameter-file", options.parameter_file, "file with the values of the graph's `file` parameters");
  app.add_option("--input", options.inputs,
                 "if that file is an ONNX model: the shapes of its inputs, as given to hone-extract");
  app.add_flag("--child", child, "internal: time one library in this process; request on stdin, reply on stdout");

  CLI::App* nightly = app.add_subcommand("nightly", "time a job's library and its accepted reference");
  nightly->add_option("--job", night.job, "NET.TARGET")->required();
  nightly->add_option("--lib", night.lib, "folder of the library (out/NET.TARGET)")->required();
  nightly->add_option("--accepted", night.accepted, "folder of the references")->capture_default_str();
  nightly->add_option("--nights", night.nights, "folder of the histories")->capture_default_str();
  nightly->add_option("--series", night.series, "history to append to: main or replay")
      ->check(CLI::IsMember({"main", "replay"}))
      ->capture_default_str();
  nightly->add_option("--processes", night.processes, "fresh processes of each library")
      ->check(CLI::Range(5, 30))
      ->capture_default_str();
  nightly->add_option("--iterations", night.timing.iterations, "least number of runs of a process")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  nightly->add_option("--seconds", night.timing.min_seconds, "least duration of these runs")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  nightly->add_option("--seed", night.timing.seed, "seed of the inputs")->capture_default_str();
  nightly->add_option("--parameter-file", night.parameter_file, "as above");
  nightly->add_option("--input", night.inputs, "as above");
  nightly->add_option("--fake-times", night.fake_times, "tests: a file with lines `DIGEST SECONDS`")->group("");
  if (const auto code = hone::ParseFlags(&app, argc, argv, hone::command::BenchAbi)) return *code;
  if (child) return hone::command::RunBenchChild();
  hone::InstallInterruptHandlers();
  if (nightly->parsed()) return hone::command::RunNightly(night);
  return hone::command::RunBench(options);
}

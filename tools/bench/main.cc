// hone-bench: verifies and times built networks.
#include <CLI/CLI.hpp>

#include "base/flags.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "command/bench/bench.h"
#include "command/bench/quality.h"
#include "command/nightly/nightly.h"

int main(int argc, char** argv) {
  hone::SetLogName("hone-bench");
  hone::command::BenchOptions options;
  hone::command::NightlyOptions night;
  hone::command::QualityOptions quality_options;
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
  app.add_option("--input", options.inputs,
                 "if that is an ONNX model: the shapes of its inputs, as hone-extract had them");
  app.add_flag("--child", child, "internal: time one library in this process; request on stdin, reply on stdout");

  CLI::App* nightly = app.add_subcommand("nightly", "a job's library of this night against its accepted reference");
  nightly->add_option("--job", night.job, "NET.TARGET")->required();
  nightly->add_option("--lib", night.lib, "folder of the library (out/NET.TARGET)")->required();
  nightly->add_option("--accepted", night.accepted, "folder of the references")->capture_default_str();
  nightly->add_option("--nights", night.nights, "folder of the histories")->capture_default_str();
  nightly->add_option("--series", night.series, "whose history: main or replay")
      ->check(CLI::IsMember({"main", "replay"}))
      ->capture_default_str();
  nightly->add_option("--processes", night.processes, "fresh ones of each library")
      ->check(CLI::Range(5, 30))
      ->capture_default_str();
  nightly->add_option("--iterations", night.timing.iterations, "runs of a process at least")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  nightly->add_option("--seconds", night.timing.min_seconds, "and so long at least")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  nightly->add_option("--seed", night.timing.seed, "of the inputs")->capture_default_str();
  nightly->add_option("--parameter-file", night.parameter_file, "as above");
  nightly->add_option("--input", night.inputs, "as above");
  nightly->add_option("--fake-times", night.fake_times, "tests: a file with lines `DIGEST SECONDS`")->group("");
  CLI::App* quality = app.add_subcommand("quality", "what the search finds for a job's heaviest tasks, from nothing");
  quality->add_option("--job", quality_options.job, "NET.TARGET")->required();
  quality->add_option("--tasks", quality_options.tasks, "task list of the network")->required();
  quality->add_option("--tune", quality_options.tune, "the program hone-tune")->required();
  quality->add_option("--accepted", quality_options.accepted, "folder of the references")->capture_default_str();
  quality->add_option("--nights", quality_options.nights, "folder of the histories")->capture_default_str();
  quality->add_option("--best", quality_options.best, "best/NET.TARGET.json: what a full budget found");
  quality->add_option("--trials", quality_options.trials, "of each run")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  quality->add_option("--heaviest", quality_options.heaviest, "so many tasks")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  quality->add_option("--winograd", quality_options.winograd, "the cap on Winograd's tile: off, 2, 4 or 6")
      ->capture_default_str();
  quality->add_flag("--tf32", quality_options.tf32, "products may be in TF32");
  quality->add_option("--fake-times", quality_options.fake_times, "tests: as of nightly")->group("");
  if (const auto code = hone::ParseFlags(&app, argc, argv, hone::command::BenchAbi)) return *code;
  if (child) return hone::command::RunBenchChild();
  hone::InstallInterruptHandlers();
  if (nightly->parsed()) return hone::command::RunNightly(night);
  if (quality->parsed()) return hone::command::RunQuality(quality_options);
  return hone::command::RunBench(options);
}

// hone-bench: verifies and times built networks.
#include "base/flags.h"
#include "base/interrupt.h"
#include "command/bench/bench.h"
#include "command/bench/nightly.h"

int main(int argc, char** argv) {
  hone::command::BenchOptions options;
  hone::command::NightlyOptions night;
  bool child = false;
  hone::Flags flags("hone-bench",
                    "Checks a built network against the reference, times it in fresh processes and prints a table.");
  flags.Add("--lib", &options.lib, "folder of the library (out/NET.TARGET)");
  flags.Add("--baseline", &options.baseline, "folder of another library of the same network, timed alternately");
  flags.Add("--best", &options.best,
            "choices with their times in tuning (best/NET.TARGET.json), to predict the network from");
  flags.Add("--settings", &options.settings,
            "settings file (settings/JOB.bench.json): processes, iterations, warmup, seed");
  flags.Add("--out", &options.out, "file to write with all samples (bench/NET.TARGET.json)");
  flags.Add("--again", &options.again,
            "measure although the file of --out is of the same libraries, settings and machine");
  const std::string parameter_help = "file with the values of the graph's `file` parameters";
  const std::string input_help = "if that file is an ONNX model: the shapes of its inputs, as given to hone-extract";
  flags.Add("--parameter-file", &options.parameter_file, parameter_help);
  flags.Add("--input", &options.inputs, input_help);
  flags.Add("--child", &child, "internal: time one library in this process; request on stdin, reply on stdout");

  hone::Flags& nightly = flags.AddCommand("nightly", "time a job's library and its accepted reference");
  nightly.Add("--job", &night.job, "NET.TARGET").Required();
  nightly.Add("--lib", &night.lib, "folder of the library (out/NET.TARGET)").Required();
  nightly.Add("--accepted", &night.accepted, "folder of the references").ShowDefault();
  nightly.Add("--nights", &night.nights, "folder of the histories").ShowDefault();
  nightly.Add("--series", &night.series, "history to append to: main or replay")
      .OneOf({"main", "replay"})
      .ShowDefault();
  nightly.Add("--parameter-file", &night.parameter_file, parameter_help);
  nightly.Add("--input", &night.inputs, input_help);
  nightly.Add("--fake-times", &night.fake_times, "tests: a file with lines `DIGEST SECONDS`").Hidden();
  if (const auto code = flags.Parse(argc, argv, hone::command::BenchAbi)) return *code;
  if (child) return hone::command::RunBenchChild();
  hone::InstallInterruptHandlers();
  if (nightly.given()) return hone::command::RunNightly(night);
  if (const auto code = flags.Require({"--lib"})) return *code;
  return hone::command::RunBench(options);
}

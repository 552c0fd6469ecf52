// hone-tune: finds the fastest schedule of one task by compiling and measuring candidates.
#include <CLI/CLI.hpp>

#include "base/flags.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "command/tune/tune.h"

int main(int argc, char** argv) {
  hone::SetLogName("hone-tune");
  hone::InstallInterruptHandlers();
  hone::command::TuneOptions options;
  CLI::App app("Finds the fastest schedule of one task. Continues where it stopped.", "hone-tune");
  app.add_option("--task", options.task_path, "task file (TASKID.task.json), written by hone-extract");
  app.add_option("--settings", options.settings_path, "settings of the job: tuner, budget, seed, measuring (JOB.tune.json)");
  app.add_option("--db", options.db_path, "records of the task (TASKID.db); created or continued");
  app.add_option("--stamp", options.stamp_path, "file to write when the budget is met; not touched if nothing changes");
  app.add_option("--donor", options.donor_paths, "records of another task on this target to learn from; may be repeated");
  app.add_flag("--optional", options.optional, "optional task: succeed even if no candidate is correct");
  app.add_option("--like", options.like, "autotvm: the tuner uses that system's constants (default: the settings')");
  app.add_option("--tuner", options.tuner, "tuner to use (default: the settings')");
  app.add_flag("--list-space", options.list_space, "print the knobs and the number of legal points, and stop");
  app.add_flag("--compile-only", options.compile_only,
               "check that the first candidates compile, and stop");
  app.add_option("--explain", options.explain, "print the recorded trial with this number (config, steps, sizes), and stop");
  app.add_option("--show", options.show, "with --explain: also print program, llvm, assembly or source")
      ->delimiter(',');
  app.add_option("--trial", options.trial, "build and measure the point with this index, and stop");
  app.add_option("--find-device", options.find_device,
                 "find the device of this target (targets/NAME.json), describe it in --out, and stop");
  app.add_option("--out", options.out, "with --find-device: the file to write");
  app.add_option("--describe-device", options.describe_device,
                 "print the present device (cuda, opencl) as a target file, and stop");
  app.add_flag("--verbose", options.verbose, "print more on stderr");
  app.add_option("--worker", options.worker_program, "hone-worker to start (default: the one beside this program)")->group("");
  app.add_option("--fake-measure", options.fake_measure, "tests: invented times, SEED[,SLEEP[,FAIL_SHARE]]")->group("");
  for (const std::string tool : {"doctor", "replay"}) {
    const auto moved = [tool] {
      throw CLI::ParseError("--" + tool + " is now a separate tool: run hone-" + tool, CLI::ExitCodes::InvalidError);
    };
    app.add_flag_callback("--" + tool, moved)->group("");
  }
  if (const auto code = hone::ParseFlags(&app, argc, argv, hone::command::TuneAbi)) return *code;
  return hone::command::RunTune(options);
}

// hone-tune: finds the fastest schedule of one task by compiling and measuring candidates.
#include "base/flags.h"
#include "base/interrupt.h"
#include "command/tune/tune.h"

int main(int argc, char** argv) {
  hone::InstallInterruptHandlers();
  hone::command::TuneOptions options;
  hone::Flags flags("hone-tune", "Finds the fastest schedule of one task. Continues where it stopped.");
  flags.Add("--task", &options.task_path, "task file (TASKID.task.json), written by hone-extract");
  flags.Add("--settings", &options.settings_path,
            "settings of the job: tuner, budget, seed, measuring (JOB.tune.json)");
  flags.Add("--db", &options.db_path, "records of the task (TASKID.db); created or continued");
  flags.Add("--stamp", &options.stamp_path, "file to write when the budget is met; not touched if nothing changes");
  flags.Add("--donor", &options.donor_paths, "records of another task on this target to learn from; may be repeated");
  flags.Add("--optional", &options.optional, "optional task: succeed even if no candidate is correct");
  flags.Add("--wait", &options.wait, "if another process tunes this task, wait until it ends");
  flags.Add("--like", &options.like,
            "autotvm: the tuner uses that system's constants; ansor: tuner of that name (default: the settings')");
  flags.Add("--mode", &options.mode, "who proposes candidates: templates, sketches or both (default: the settings')");
  flags.Add("--sketch", &options.sketches, "file with a sketch of your own, which adds candidates; may be repeated");
  flags.Add("--model", &options.model,
            "file of `hone-records learn` that the tuner starts from (default: the settings')");
  flags.Add("--tuner", &options.tuner, "tuner to use (default: the settings')");
  flags.Add("--compile-only", &options.compile_only, "check that the first candidates compile, and stop");
  flags.Add("--explain", &options.explain,
            "print the recorded trial with this number (config, steps, sizes), and stop");
  flags.Add("--show", &options.show, "with --explain: also print program, llvm, assembly or source").SplitAt(',');
  flags.Add("--list-sketches", &options.list_sketches, "print the sketches of the task, and stop");
  flags.Add("--write-sketch", &options.write_sketch,
            "print the recorded trial (or record of Ansor) with this number as a sketch, for --sketch, and stop");
  flags.Add("--trial", &options.trial, "build and measure the point with this index, and stop");
  flags.Add("--find-device", &options.find_device,
            "find the device of this target (targets/NAME.json), describe it in --out, and stop");
  flags.Add("--out", &options.out, "with --find-device: the file to write");
  flags.Add("--describe-device", &options.describe_device,
            "print the present device (cuda, opencl) as a target file, and stop");
  flags.Add("--verbose", &options.verbose, "print more on stderr");
  flags.Add("--worker", &options.worker_program, "hone-worker to start (default: the one beside this program)")
      .Hidden();
  flags.Add("--fake-measure", &options.fake_measure, "tests: invented times, SEED[,SLEEP[,FAIL_SHARE]]").Hidden();
  if (const auto code = flags.Parse(argc, argv, hone::command::TuneAbi)) return *code;
  return hone::command::RunTune(options);
}

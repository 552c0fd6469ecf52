// hone-allocate: divides the budget of a network among its tasks.
#include "base/flags.h"
#include "command/allocate/allocate.h"

int main(int argc, char** argv) {
  hone::command::AllocateOptions options;
  hone::Flags flags("hone-allocate",
                    "Divides one round of a budget (trials_total or seconds_total) among the tasks of its networks.");
  flags.Add("--tasks", &options.tasks, "task lists of the networks (NET.TARGET.tasks.json)").Required();
  flags.Add("--settings", &options.settings, "their pipelines' settings (NET.tune.json), the first with the total")
      .Required();
  flags.Add("--round", &options.round, "number of the round, from 1").Required();
  flags.Add("--stamps", &options.stamps, "folder of the previous round's stamps; not read for round 1").Required();
  flags.Add("--out", &options.out, "folder for the settings of each task (TASKID.tune.json)").Required();
  if (const auto code = flags.Parse(argc, argv, hone::command::AllocateAbi)) return *code;
  return hone::command::RunAllocate(options);
}

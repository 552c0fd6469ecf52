// hone-allocate: divides the trials of a network among its tasks.
#include <CLI/CLI.hpp>

#include "base/flags.h"
#include "base/log.h"
#include "command/allocate/allocate.h"

int main(int argc, char** argv) {
  hone::SetLogName("hone-allocate");
  hone::command::AllocateOptions options;
  CLI::App app("Divides one round of a network's trials among its tasks, in proportion to uses x time.",
               "hone-allocate");
  app.add_option("--tasks", options.tasks, "task list (NET.TARGET.tasks.json)")->required();
  app.add_option("--settings", options.settings, "the pipeline's settings with trials_total (NET.tune.json)")
      ->required();
  app.add_option("--round", options.round, "number of the round, from 1")->required();
  app.add_option("--stamps", options.stamps, "folder of the previous round's stamps; not read for round 1")
      ->required();
  app.add_option("--out", options.out, "folder for the settings of each task (TASKID.tune.json)")->required();
  if (const auto code = hone::ParseFlags(&app, argc, argv, hone::command::AllocateAbi)) return *code;
  return hone::command::RunAllocate(options);
}

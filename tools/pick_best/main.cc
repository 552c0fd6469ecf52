// hone-pick-best: picks the best recorded configuration of each task of a network.
#include <CLI/CLI.hpp>

#include "base/flags.h"
#include "base/log.h"
#include "command/pick_best/pick_best.h"
#include "pipeline/settings.h"

int main(int argc, char** argv) {
  hone::SetLogName("hone-pick-best");
  hone::command::PickBestOptions options;
  CLI::App app("Picks the best recorded configuration of each task of a network.", "hone-pick-best");
  app.add_option("--tasks", options.tasks, "task list of the network (NET.TARGET.tasks.json)")->required();
  app.add_option("--graph", options.graph,
                 "graph of the network (NET.graph.json): also choose among its alternatives");
  app.add_option("--records", options.records, "folder of the record files (TASKID.db)")->required();
  app.add_option("--out", options.out, "file to write (best/NET.TARGET.json); not touched if nothing changes")
      ->required();
  app.add_option("--choice", options.choice,
                 "file to write: the choices without figures, for hone-build (best/NET.TARGET.choice.json)");
  app.add_option("--finalists", options.finalists, "configurations of each task for hone-confirm to compare")
      ->check(CLI::Range(0, 64))
      ->capture_default_str();
  app.add_flag("--tf32", options.tf32, "allow choices in TF32");
  app.add_option("--winograd", options.winograd, "largest Winograd tile that is allowed: off, 2, 4 or 6")
      ->capture_default_str();
  app.add_option("--memory", options.memory,
                 "limit on the packed parameters, as a multiple of the network's own bytes")
      ->check(CLI::Range(1.0, hone::pipeline::kMostMemory));
  app.add_flag("--allow-missing", options.allow_missing,
               "if a task has no records, take those of another epilogue, or the default");
  if (const auto code = hone::ParseFlags(&app, argc, argv, "pick_best 5")) return *code;
  return hone::command::RunPickBest(options);
}

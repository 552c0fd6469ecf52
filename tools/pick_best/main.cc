// hone-pick-best: writes the best recorded configuration of each task of a network.
#include <CLI/CLI.hpp>

#include "base/flags.h"
#include "base/log.h"
#include "command/pick_best/pick_best.h"
#include "pipeline/settings.h"

int main(int argc, char** argv) {
  hone::SetLogName("hone-pick-best");
  hone::command::PickBestOptions options;
  CLI::App app("Picks the best recorded configuration of each task.", "hone-pick-best");
  app.add_option("--tasks", options.tasks, "task list of the network (NET.TARGET.tasks.json)")->required();
  app.add_option("--graph", options.graph,
                 "graph of the network (NET.graph.json): also choose among its alternatives, by measured times");
  app.add_option("--records", options.records, "folder of the record files (TASKID.db)")->required();
  app.add_option("--out", options.out, "file to write (best/NET.TARGET.json); left alone if nothing changes")
      ->required();
  app.add_option("--choice", options.choice,
                 "also write what is to be built, without figures (best/NET.TARGET.choice.json)");
  app.add_option("--finalists", options.finalists, "configurations of each task that hone-confirm is to compare")
      ->check(CLI::Range(0, 64))
      ->capture_default_str();
  app.add_flag("--tf32", options.tf32, "products in TF32 may be chosen");
  app.add_option("--winograd", options.winograd, "largest Winograd tile that may be chosen: off, 2, 4 or 6")
      ->capture_default_str();
  app.add_option("--memory", options.memory,
                 "so many times the memory of the network's own may the packed parameters take")
      ->check(CLI::Range(1.0, hone::pipeline::kMostMemory));
  app.add_flag("--allow-missing", options.allow_missing,
               "take the same computation with another epilogue, or the default schedule, where a task has no records");
  if (const auto code = hone::ParseFlags(&app, argc, argv, "pick_best 4")) return *code;
  return hone::command::RunPickBest(options);
}

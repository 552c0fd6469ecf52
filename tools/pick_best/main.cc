// hone-pick-best: picks the best recorded configuration of each task of a network.
#include "base/flags.h"
#include "command/pick_best/pick_best.h"
#include "pipeline/settings.h"

int main(int argc, char** argv) {
  hone::command::PickBestOptions options;
  hone::Flags flags("hone-pick-best", "Picks the best recorded configuration of each task of a network.");
  flags.Add("--tasks", &options.tasks, "task list of the network (NET.TARGET.tasks.json)").Required();
  flags.Add("--graph", &options.graph, "graph of the network (NET.graph.json): also choose among its alternatives");
  flags.Add("--records", &options.records, "folder of the record files (TASKID.db)").Required();
  flags.Add("--out", &options.out, "file to write (best/NET.TARGET.json); not touched if nothing changes").Required();
  flags.Add("--choice", &options.choice,
            "file to write: the choices without figures, for hone-build (best/NET.TARGET.choice.json)");
  flags.Add("--finalists", &options.finalists, "configurations of each task for hone-confirm to compare")
      .Within(0, 64)
      .ShowDefault();
  flags.Add("--tf32", &options.tf32, "allow choices in TF32");
  flags.Add("--winograd", &options.winograd, "largest Winograd tile that is allowed: off, 2, 4 or 6").ShowDefault();
  flags.Add("--memory", &options.memory, "limit on the packed parameters, as a multiple of the network's own bytes")
      .Within(1.0, hone::pipeline::kMostMemory);
  flags.Add("--allow-missing", &options.allow_missing,
            "if a task has no records, take those of another epilogue, or the default");
  flags.Add("--or-default", &options.or_default, "if no trial of a task was correct, take the default");
  if (const auto code = flags.Parse(argc, argv, "pick_best 6")) return *code;
  return hone::command::RunPickBest(options);
}

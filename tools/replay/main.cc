// hone-replay: runs a tuner on a recorded space, to compare tuners without a device.
#include <CLI/CLI.hpp>

#include "base/flags.h"
#include "base/log.h"
#include "session/replay_file.h"

int main(int argc, char** argv) {
  hone::SetLogName("hone-replay");
  const CLI::Range count(int64_t{1}, int64_t{1'000'000});
  hone::session::ReplayJobOptions options;
  CLI::App app("Runs a tuner on a recorded space and prints how fast it finds the best points.",
               "hone-replay");
  app.add_option("file", options.path, "replay file, or records (TASKID.db) in which every point was tried")
      ->required();
  app.add_option("--tuner", options.tuner, "tuner to run")->capture_default_str();
  app.add_option("--like", options.like, "autotvm: the tuner uses that system's constants");
  app.add_option("--donor", options.donor_paths,
                 "records of another task on this target to learn from; may be repeated");
  app.add_option("--seeds", options.seeds, "number of runs; their seeds are 1, 2, ..")
      ->check(count)
      ->capture_default_str();
  app.add_option("--trials", options.trials, "trials of a run")->check(count)->capture_default_str();
  if (const auto code = hone::ParseFlags(&app, argc, argv)) return *code;
  return hone::session::RunReplayJob(options);
}

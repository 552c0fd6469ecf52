// hone-replay: runs a tuner on a recorded space, to compare tuners without a device.
#include "base/flags.h"
#include "session/replay.h"

int main(int argc, char** argv) {
  constexpr int kMost = 1'000'000;
  hone::session::ReplayJobOptions options;
  hone::Flags flags("hone-replay", "Runs a tuner on a recorded space and prints how fast it finds the best points.");
  flags.Add("file", &options.path, "replay file, or records (TASKID.db) in which every point was tried").Required();
  flags.Add("--tuner", &options.tuner, "tuner to run").ShowDefault();
  flags.Add("--like", &options.like, "autotvm: the tuner uses that system's constants; ansor: tuner of that name");
  flags.Add("--donor", &options.donor_paths, "records of another task on this target to learn from; may be repeated");
  flags.Add("--seeds", &options.seeds, "number of runs; their seeds are 1, 2, ..").Within(1, kMost).ShowDefault();
  flags.Add("--trials", &options.trials, "trials of a run").Within(1, kMost).ShowDefault();
  if (const auto code = flags.Parse(argc, argv)) return *code;
  return hone::session::RunReplayJob(options);
}

// How well tuners search: replays of fully measured spaces, as a Markdown table.
//
//   replay_bench [--tuners=auto,xgb,random] [--seeds=32] [--trials=128] [--batch=16] [--like-autotvm] [--donors]
//                [--unseen] [--each] FILE..
//
// FILE is a replay file or a records database. Prints for each tuner over all spaces and seeds: the median share of the
// best possible speed after 4, 8, .. trials, the worst share, the trials to reach 95 % (median, and that of the worst
// quarter), and milliseconds in the tuner per trial.
// --each: also a table per space. --donors: the tasks learn from each other like those of a pipeline with `transfer =
// true`; --unseen: each learns from the trials on all others, as with a saved model (replay_donors.h). Nothing is
// measured; all figures except the milliseconds are the same on every machine.
#include "perf/flags.h"
#include "perf/replay_donors.h"

namespace {

using namespace hone;  // NOLINT: a program, not a header

struct Options {
  int64_t seeds = 32, trials = 128, batch = 16;
  bool like_autotvm = false, donors = false, unseen = false, each = false;
  std::vector<std::string> tuners, files;
};

struct Loaded {
  std::string name;
  record::ReplaySpace replay;
  search::TaskSpace space;
  search::LoopProgram loops;
};

Status Run(const Options& options) {
  std::vector<Loaded> spaces;
  for (const std::string& file : options.files) {
    Loaded loaded;
    std::string missing;
    HONE_ASSIGN_OR_RETURN(loaded.replay, session::LoadReplay(file, &missing));
    if (!missing.empty()) std::fprintf(stderr, "replay_bench: %s\n", missing.c_str());
    loaded.space = loaded.replay.MakeSpace();
    loaded.name = BaseName(file);
    HONE_ASSIGN_OR_RETURN(const search::TunerContext context, session::ReplayContext(loaded.replay));
    loaded.loops = session::RememberLoops(context.loops);
    spaces.push_back(std::move(loaded));
  }
  std::printf("%zu spaces, %lld seeds, batches of at most %lld%s\n\n", spaces.size(),
              static_cast<long long>(options.seeds), static_cast<long long>(options.batch),
              options.unseen   ? ", each learns from all others"
              : options.donors ? ", donors as in a pipeline"
                               : "");
  for (const Loaded& l : spaces) {
    std::printf("- %s: %s, %zu points, best %s\n", l.name.c_str(), l.replay.workload.c_str(), l.replay.points.size(),
                FormatSeconds(l.replay.best()).c_str());
  }
  std::string all = session::ReplayTableHead(options.trials, "tuner"),
              each = session::ReplayTableHead(options.trials, "tuner, space");
  for (const std::string& tuner : options.tuners) {
    session::ReplayOptions replay;
    replay.tuner = tuner;
    replay.trials = options.trials;
    replay.batch = static_cast<int>(options.batch);
    replay.like_autotvm = options.like_autotvm && tuner != "auto";
    std::vector<std::vector<session::ReplayRun>> of_spaces;
    if (options.donors || options.unseen) {
      std::vector<session::ReplayTask> tasks;
      for (const Loaded& l : spaces) tasks.push_back({&l.replay, &l.space, l.loops});
      const auto with = options.unseen ? session::ReplayUnseen : session::ReplayWithDonors;
      HONE_ASSIGN_OR_RETURN(of_spaces, with(tasks, replay, options.seeds));
    } else {
      for (const Loaded& l : spaces) {
        replay.loops = l.loops;
        HONE_ASSIGN_OR_RETURN(std::vector<session::ReplayRun> here,
                              session::ReplaySeeds(l.replay, l.space, replay, options.seeds));
        of_spaces.push_back(std::move(here));
      }
    }
    std::vector<session::ReplayRun> runs;
    for (size_t s = 0; s < spaces.size(); ++s) {
      const std::vector<session::ReplayRun>& here = of_spaces[s];
      each += session::ReplayTableRow(tuner + ", " + spaces[s].name, here, options.trials);
      runs.insert(runs.end(), here.begin(), here.end());
    }
    all += session::ReplayTableRow(tuner, runs, options.trials);
  }
  std::printf("\n%s", all.c_str());
  if (options.each) std::printf("\n%s", each.c_str());
  return Status();
}

}  // namespace

int main(int argc, char** argv) {
  perf::Flags flags("replay_bench [--tuners=auto,xgb,random] [--seeds=32] [--trials=128] .. FILE..", argc, argv);
  Options options;
  options.tuners = Split(flags.Text("--tuners", "auto,random"), ',');
  options.seeds = flags.Number("--seeds", options.seeds);
  options.trials = flags.Number("--trials", options.trials);
  options.batch = flags.Number("--batch", options.batch);
  options.like_autotvm = flags.Has("--like-autotvm");
  options.donors = flags.Has("--donors");
  options.unseen = flags.Has("--unseen");
  options.each = flags.Has("--each");
  options.files = flags.Words();
  if (options.files.empty()) flags.Misused("no replay files");
  return ExitCodeOf(Run(options));
}

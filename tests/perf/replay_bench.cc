// How well tuners search: replays of fully measured spaces, as a Markdown table.
//
//   replay_bench [--tuners=auto,xgb,random] [--seeds=32] [--trials=128] [--batch=16] [--like-autotvm] [--donors]
//                [--each] [--dump] [--trace] FILE..
//
// FILE: a replay file or a records database. For each tuner over all spaces and seeds: the median share of the best
// possible speed after 4, 8, .. trials, the worst of them, the trials to reach 95 % (median, and of the worst quarter),
// and milliseconds in the tuner a trial.
// --each: a table a space too. --dump: every point's time and estimate. --trace: what was tried. --donors: the tasks
// learn from each other as those of a pipeline with `transfer = true` do (session/replay_donors.h). Nothing is
// measured; figures but the milliseconds are the same on every machine.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "record/replay_space.h"
#include "session/replay.h"
#include "session/replay_donors.h"
#include "session/replay_file.h"
#include "session/replay_table.h"

namespace {

using namespace hone;  // NOLINT: a program, not a header

struct Options {
  std::vector<std::string> tuners = {"auto", "random"};
  int64_t seeds = 32, trials = 128, batch = 16;
  bool like_autotvm = false, donors = false, each = false, dump = false, trace = false;
  std::vector<std::string> files;
};

struct Loaded {
  std::string name;
  record::ReplaySpace replay;
  search::TaskSpace space;
  search::LoopProgram loops;
};

// Every point with its estimate, for looking at.
Status Dump(const Loaded& loaded) {
  HONE_ASSIGN_OR_RETURN(const search::TunerContext context, session::ReplayContext(loaded.replay));
  for (const record::ReplayPoint& p : loaded.replay.points) {
    const Config config = loaded.space.At(p.index);
    std::printf("%s\t%.6g", config.Text().c_str(), p.median * 1e6);
    for (double f : context.estimate(context.workload)(config)) std::printf("\t%.4f", f);
    std::printf("\n");
  }
  return Status();
}

void Trace(const Loaded& loaded, const std::vector<session::ReplayRun>& runs) {
  for (size_t seed = 0; seed < runs.size(); ++seed) {
    for (size_t i = 0; i < runs[seed].tried.size(); ++i) {
      const uint64_t index = runs[seed].tried[i];
      std::printf("seed %zu trial %zu: %.4g us, best so far %.1f %%: %s\n", seed + 1, i,
                  1e6 * loaded.replay.Find(index)->median, 100 * runs[seed].share[i],
                  loaded.space.At(index).Text().c_str());
    }
  }
}

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
    if (options.dump) HONE_RETURN_IF_ERROR(Dump(spaces.back()));
  }
  if (options.dump) return Status();
  std::printf("%zu spaces, %lld seeds, batches of at most %lld%s\n\n", spaces.size(),
              static_cast<long long>(options.seeds), static_cast<long long>(options.batch),
              options.donors ? ", donors as in a pipeline" : "");
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
    if (options.donors) {
      std::vector<session::ReplayTask> tasks;
      for (const Loaded& l : spaces) tasks.push_back({&l.replay, &l.space, l.loops});
      HONE_ASSIGN_OR_RETURN(of_spaces, session::ReplayWithDonors(tasks, replay, options.seeds));
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
      if (options.trace) Trace(spaces[s], here);
      each += session::ReplayTableRow(tuner + ", " + spaces[s].name, here, options.trials);
      runs.insert(runs.end(), here.begin(), here.end());
    }
    all += session::ReplayTableRow(tuner, runs, options.trials);
  }
  std::printf("\n%s", all.c_str());
  if (options.each) std::printf("\n%s", each.c_str());
  return Status();
}

Result<Options> Parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const std::string value = arg.substr(std::min(arg.size(), arg.find('=') + 1));
    const auto number = [&](int64_t* out) -> Status {
      HONE_ASSIGN_OR_RETURN(*out, ParseInt(value));
      return *out >= 1 ? Status() : Status::Invalid(arg + ": must be at least 1");
    };
    if (StartsWith(arg, "--tuners=")) {
      options.tuners = Split(value, ',');
    } else if (StartsWith(arg, "--seeds=")) {
      HONE_RETURN_IF_ERROR(number(&options.seeds));
    } else if (StartsWith(arg, "--trials=")) {
      HONE_RETURN_IF_ERROR(number(&options.trials));
    } else if (StartsWith(arg, "--batch=")) {
      HONE_RETURN_IF_ERROR(number(&options.batch));
    } else if (arg == "--like-autotvm") {
      options.like_autotvm = true;
    } else if (arg == "--donors") {
      options.donors = true;
    } else if (arg == "--each") {
      options.each = true;
    } else if (arg == "--dump") {
      options.dump = true;
    } else if (arg == "--trace") {
      options.trace = true;
    } else if (StartsWith(arg, "-")) {
      return Status::Invalid("unknown flag " + arg);
    } else {
      options.files.push_back(arg);
    }
  }
  if (options.files.empty()) return Status::Invalid("no replay files given");
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  auto options = Parse(argc, argv);
  const Status status = options.ok() ? Run(*options) : options.status();
  if (!status.ok()) std::fprintf(stderr, "replay_bench: %s\n", status.message().c_str());
  return status.ok() ? 0 : options.ok() ? 1 : 2;
}

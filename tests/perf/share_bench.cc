// How well the rules of `[tune] share` spend a total: networks of fully measured tasks, as a Markdown table.
//
//   share_bench [--networks=100] [--tasks=12] [--trials=8,24] [--rounds=4,8] [--tuner=auto] [--seeds=4] FILE..
//
// FILE is a replay file (tests/replay/spaces). A network is a random choice of `tasks` of them, used 1 to 8 times; its
// total is `trials` a task, spent in `rounds`. The table has for each rule the geometric mean over networks and the
// tuner's seeds of the estimated total over that by equal shares, and over the best possible, after half of the rounds
// and after all. Nothing is measured; all figures are the same on every machine.
#include <cmath>

#include "base/rng.h"
#include "perf/flags.h"
#include "pipeline/shares.h"
#include "session/replay.h"

namespace {

using namespace hone;  // NOLINT: a program, not a header

constexpr int64_t kMostTrials = 192;  // of a task
constexpr int kGroup = 4;             // of `auto`: its expectation changes with every group

struct Options {
  int64_t networks = 100, tasks = 12, seeds = 4;
  std::vector<std::string> trials, rounds;
  std::string tuner = "auto";
  std::vector<std::string> files;
};

struct Space {
  double best = 0;
  std::vector<session::ReplayRun> runs;  // by seed
};

pipeline::SearchState After(const session::ReplayRun& run, double budget) {
  pipeline::SearchState search{.given = budget};
  search.trials = std::min(static_cast<int64_t>(budget), static_cast<int64_t>(run.trials.size()));
  search.spent = static_cast<double>(search.trials);
  search.ended = search.spent < budget;
  for (int64_t i = 0; i < search.trials; ++i) {
    const Outcome& outcome = run.trials[static_cast<size_t>(i)];
    if (outcome.state != TrialState::kOk || (search.seconds > 0 && outcome.median >= search.seconds)) continue;
    search.seconds = outcome.median;
    search.improvements.push_back({i + 1, outcome.median});
  }
  if (search.trials > 0) search.tuner_gain = run.gains[static_cast<size_t>(search.trials) - 1];
  return search;
}

struct Totals {
  double half = 0, all = 0;
};

Totals Play(const std::vector<const session::ReplayRun*>& runs, const std::vector<int64_t>& uses,
            const pipeline::TuneSettings& settings) {
  std::vector<pipeline::ShareTask> tasks;
  for (const int64_t use : uses) tasks.push_back({use, 1000, false, {}});
  Totals totals;
  for (int64_t round = 1; round <= settings.rounds; ++round) {
    const std::vector<double> budgets = pipeline::ShareOut(tasks, settings, round);
    for (size_t i = 0; i < tasks.size(); ++i) tasks[i].search = After(*runs[i], budgets[i]);
    if (round == settings.rounds / 2) totals.half = pipeline::EstimatedTotal(tasks);
  }
  totals.all = pipeline::EstimatedTotal(tasks);
  return totals;
}

std::string Row(const Options& options, const std::vector<Space>& spaces, const pipeline::TuneSettings& settings) {
  double half = 0, all = 0, half_best = 0, all_best = 0;
  for (int64_t n = 0; n < options.networks; ++n) {
    Rng rng(static_cast<uint64_t>(n) + 1);
    std::vector<int64_t> uses;
    std::vector<const session::ReplayRun*> runs;
    double best = 0;
    for (int64_t i = 0; i < options.tasks; ++i) {
      const Space& space = spaces[rng.UniformInt(spaces.size())];
      uses.push_back(1 + static_cast<int64_t>(rng.UniformInt(8)));
      runs.push_back(&space.runs[rng.UniformInt(space.runs.size())]);
      best += static_cast<double>(uses.back()) * space.best;
    }
    pipeline::TuneSettings equally = settings;
    equally.share = "equal";
    const Totals equal = Play(runs, uses, equally), own = Play(runs, uses, settings);
    half += std::log(own.half / equal.half), all += std::log(own.all / equal.all);
    half_best += std::log(own.half / best), all_best += std::log(own.all / best);
  }
  const auto mean = [&](double sum) { return std::exp(sum / static_cast<double>(options.networks)); };
  return fmt::format("{:.4f} | {:.4f} | {:.4f} | {:.4f}", mean(half), mean(all), mean(half_best), mean(all_best));
}

Status Run(const Options& options) {
  std::vector<Space> spaces;
  for (const std::string& file : options.files) {
    HONE_ASSIGN_OR_RETURN(const record::ReplaySpace replay, session::LoadReplay(file));
    session::ReplayOptions how{.tuner = options.tuner, .trials = kMostTrials, .batch = kGroup};
    Space space{.best = replay.best()};
    HONE_ASSIGN_OR_RETURN(space.runs, session::ReplaySeeds(replay, replay.MakeSpace(), how, options.seeds));
    spaces.push_back(std::move(space));
  }
  std::printf("%zu spaces, %lld networks of %lld tasks, %s\n\n", spaces.size(),
              static_cast<long long>(options.networks), static_cast<long long>(options.tasks), options.tuner.c_str());
  std::printf(
      "| trials a task, rounds, share | half / equal | all / equal | half / best possible | all / best possible |\n");
  std::printf("| --- | --- | --- | --- | --- |\n");
  for (const std::string& trials : options.trials) {
    for (const std::string& rounds : options.rounds) {
      pipeline::TuneSettings settings;
      HONE_ASSIGN_OR_RETURN(settings.rounds, ParseInt(rounds));
      HONE_ASSIGN_OR_RETURN(settings.trials_total, ParseInt(trials));
      settings.trials_total *= options.tasks;
      for (const char* share : {"equal", "time", "gradient", "gain"}) {
        settings.share = share;
        std::printf("| %s, %s, %s | %s |\n", trials.c_str(), rounds.c_str(), share,
                    Row(options, spaces, settings).c_str());
      }
    }
  }
  return Status();
}

}  // namespace

int main(int argc, char** argv) {
  perf::Flags flags("share_bench [--networks=100] [--tasks=12] [--trials=8,24] [--rounds=4,8] .. FILE..", argc, argv);
  Options options;
  options.networks = flags.Number("--networks", options.networks);
  options.tasks = flags.Number("--tasks", options.tasks);
  options.trials = Split(flags.Text("--trials", "8,24"), ',');
  options.rounds = Split(flags.Text("--rounds", "4,8"), ',');
  options.seeds = flags.Number("--seeds", options.seeds);
  options.tuner = flags.Text("--tuner", options.tuner);
  options.files = flags.Words();
  if (options.files.empty()) flags.Misused("no replay files");
  return ExitCodeOf(Run(options));
}

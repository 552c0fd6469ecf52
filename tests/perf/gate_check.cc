// The gate of nightly runs on this machine: nights of a library against a copy of itself, which must not alarm, and
// against one with a deliberately slower kernel, which must be found.
//
//   gate_check make --work=W --job=NET.TARGET --dir=DIR   the libraries, from a tuned work folder
//   gate_check nights --dir=DIR [--seconds=55]   more nights, into DIR/samples
//   gate_check report --dir=DIR
//
// A night is as in hone-bench nightly: 7 fresh processes of each in turns (reference, its copy, the slower one), each
// with the reference as its pace. The following night serves as the repeat of a flagged one; the noise is that of the
// earlier nights of equal libraries. A process has at least 30 runs and 1.2 seconds. More nights may be added later, in
// pieces as long as a machine is free.
#include <stdio.h>

#include <cmath>
#include <map>
#include <set>

#include "base/clock.h"
#include "base/hash.h"
#include "base/subprocess.h"
#include "command/bench/bench.h"
#include "command/bench/library_process.h"
#include "command/bench/nightly.h"
#include "library/loaded_network.h"
#include "nightly/measure_night.h"
#include "perf/copy_library.h"
#include "perf/flags.h"
#include "pipeline/best_file.h"
#include "record/store.h"
#include "report/bench_file.h"
#include "session/machine.h"
#include "task/outcome.h"

namespace {

using namespace hone;           // NOLINT: a program, not a header
using namespace hone::nightly;  // NOLINT

constexpr const char* kKey = "gate";
constexpr int kProcesses = 7;  // NightInput's
constexpr double kSlower = 0.05;
constexpr double kFill = 1.2;  // seconds per process

struct Options {
  std::string work, job, dir;
  double seconds = 55;
};

// A kernel whose task is not in `taken`, and the trial of it that slows down the network by nearly `seconds`.
struct Replacement {
  std::string task;
  record::Trial trial;
  double seconds = 0;  // additional time of a network's run
};

Result<Replacement> FindReplacement(const std::string& records, const pipeline::BestFile& figures,
                                    const library::LibraryFolder& folder, double seconds,
                                    const std::set<std::string>& taken) {
  Replacement best;
  for (const auto& kernel : folder.kernels) {
    if (taken.contains(kernel.task)) continue;
    const pipeline::BestEntry* entry = figures.Find(kernel.task);
    const std::string db = JoinPath(records, kernel.task + ".db");
    if (entry == nullptr || !entry->config || entry->median <= 0 || !Exists(db)) continue;
    HONE_ASSIGN_OR_RETURN(const auto store, record::Store::OpenForReading(db));
    HONE_ASSIGN_OR_RETURN(const auto trials, store->Trials());
    for (const record::Trial& trial : trials) {
      if (trial.outcome.state != TrialState::kOk) continue;
      if (trial.outcome.config.template_name != entry->config->template_name) continue;
      const double more = (trial.outcome.median - entry->median) * static_cast<double>(kernel.uses);
      if (std::abs(more - seconds) < std::abs(best.seconds - seconds)) best = {kernel.task, trial, more};
    }
  }
  if (best.task.empty()) return Status::NotFound(records + ": no trial that is slower by about as much");
  return best;
}

// Builds the network with the best choices except this one.
Status BuildWith(const Options& o, const library::LibraryFolder& folder, pipeline::BestFile best,
                 const Replacement& found, const std::string& dir) {
  for (pipeline::BestEntry& entry : best.tasks) {
    if (entry.id != found.task) continue;
    entry.config = found.trial.outcome.config;
    entry.steps_digest = Digest128(found.trial.outcome.steps).Hex();
  }
  const std::string target = o.job.substr(o.job.rfind('.') + 1), choice = dir + ".choice.json";
  HONE_RETURN_IF_ERROR(MakeDirs(o.dir));
  HONE_RETURN_IF_ERROR(WriteFileAtomic(choice, pipeline::ChoiceText(best)));
  CommandOptions options;
  options.timeout_seconds = 600;
  HONE_ASSIGN_OR_RETURN(const auto built, RunCommand({HONE_BUILD, "--graph", folder.GraphPath(), "--target",
                                                      JoinPath(o.work, "targets/" + target + ".json"), "--best", choice,
                                                      "--name", folder.name, "--out", dir},
                                                     options));
  return built.status.ok() ? Status() : Status::Crashed(built.err);
}

// One process with the reference as its pace.
Result<ProcessTimes> TimeLibrary(const Options& o, const std::string& dir, MachineLock* machine) {
  library::TimeRequest request = command::NightRequest();
  request.dir = dir;
  request.pace = JoinPath(o.dir, "reference");
  request.min_seconds = kFill;
  request.max_seconds = 0;
  HONE_ASSIGN_OR_RETURN(const auto reply, command::TimeInProcess(request, machine));
  return ProcessTimes{reply.samples, reply.pace, {}, reply.lost_seconds};
}

// A kernel that is slower alone may cost less in the network, where small weights stay in the caches. So builds several
// networks, each with another slow kernel, times them as in a night, and takes the nearest.
Status Make(const Options& o) {
  const std::string library = JoinPath(o.work, "out/" + o.job), best_path = JoinPath(o.work, "best/" + o.job);
  HONE_ASSIGN_OR_RETURN(const auto folder, library::CheckedLibrary(library));
  HONE_ASSIGN_OR_RETURN(const auto bench, report::ReadBenchFile(JoinPath(o.work, "bench/" + o.job + ".json")));
  HONE_ASSIGN_OR_RETURN(const auto best, pipeline::ReadBestFile(best_path + ".choice.json"));
  HONE_ASSIGN_OR_RETURN(const auto figures, pipeline::ReadBestFile(best_path + ".json"));
  const std::string records = JoinPath(o.work, "records/" + o.job.substr(o.job.rfind('.') + 1));
  const double latency = bench.libraries[0].latency().median;
  HONE_RETURN_IF_ERROR(perf::CopyLibrary(library, JoinPath(o.dir, "reference")));
  HONE_RETURN_IF_ERROR(perf::CopyLibrary(library, JoinPath(o.dir, "same")));
  std::vector<library::LibraryFolder> folders = {folder};
  std::set<std::string> taken;
  for (const double times : {8.0, 6.0, 4.5, 3.3, 2.5, 1.8, 1.2}) {
    HONE_ASSIGN_OR_RETURN(const Replacement found,
                          FindReplacement(records, figures, folder, times * kSlower * latency, taken));
    taken.insert(found.task);
    const std::string dir = fmt::format("{}/candidate{}", o.dir, folders.size());
    HONE_RETURN_IF_ERROR(BuildWith(o, folder, best, found, dir));
    fmt::print("{}: {}, trial {} in place of the best: {:+.1f} % by the records\n", dir, found.task,
               found.trial.ordinal, 100 * found.seconds / latency);
    HONE_ASSIGN_OR_RETURN(auto built, library::CheckedLibrary(dir));
    folders.push_back(std::move(built));
  }
  HONE_ASSIGN_OR_RETURN(MachineLock machine, session::OpenMachine());
  std::vector<std::vector<ProcessTimes>> times(folders.size());
  for (int round = 0; round < kProcesses; ++round) {
    for (size_t i = 1; i < folders.size(); ++i) {
      HONE_ASSIGN_OR_RETURN(ProcessTimes process, TimeLibrary(o, folders[i].dir, &machine));
      times[i].push_back(std::move(process));
    }
  }
  size_t nearest = 1;
  // Relative to the reference's pace.
  auto more = [&](size_t i) { return Median(Summarise("", times[i], 1).processes) - 1; };
  for (size_t i = 1; i < folders.size(); ++i) {
    fmt::print("{}: {:+.1f} % in the network\n", folders[i].dir, 100 * more(i));
    if (std::abs(more(i) - kSlower) < std::abs(more(nearest) - kSlower)) nearest = i;
  }
  return perf::CopyLibrary(folders[nearest].dir, JoinPath(o.dir, "slower"));
}

std::string SamplesPath(const Options& o, size_t night) { return fmt::format("{}/samples/{:03}.jsonl", o.dir, night); }

NightInput InputOf(const std::vector<Night>* before, bool equal) {
  NightInput input;
  input.fingerprint = "this one";
  input.library = equal ? "reference" : "slower";
  input.reference = "reference";
  if (!equal) input.canary = "same";
  input.before = before;
  return input;
}

// The copy plays the library when equal ones are compared, and the canary when the slower one is tried.
TimeProcess Part(const TimeProcess& time, bool equal) {
  return [time, equal](const ProcessKey& key) {
    return time({equal && key.who == Who::kLibrary ? Who::kCanary : key.who, key.phase, key.round});
  };
}

Status Judge(const TimeProcess& time, std::vector<Night>* equal, std::vector<Night>* slower) {
  HONE_ASSIGN_OR_RETURN(Night same, MeasureNight(InputOf(equal, true), Part(time, true)));
  HONE_ASSIGN_OR_RETURN(Night tried, MeasureNight(InputOf(equal, false), Part(time, false)));
  for (Night* night : {&same, &tried}) {
    if (!night->failure.empty()) return Status::Crashed(night->failure);
    // The experiment itself tests that equal ones do not differ, and the copy's level is not a machine's.
    if (night->environment.find("busy") == std::string::npos) night->environment.clear();
  }
  equal->push_back(std::move(same));
  slower->push_back(std::move(tried));
  return Status();
}

std::string FolderOf(const Options& o, Who who) {
  return JoinPath(o.dir, who == Who::kLibrary ? "slower" : who == Who::kReference ? "reference" : "same");
}

// In the order of MeasureNight; the report interprets them.
Status RunNights(const Options& o) {
  HONE_ASSIGN_OR_RETURN(MachineLock machine, session::OpenMachine());
  size_t number = 0;
  while (Exists(SamplesPath(o, number))) ++number;
  const double end = RealClock()->NowSeconds() + o.seconds;
  for (double longest = 0; RealClock()->NowSeconds() + longest < end; ++number) {
    const double begin = RealClock()->NowSeconds();
    HONE_ASSIGN_OR_RETURN(auto store, NightSamples::Open(SamplesPath(o, number), kKey));
    const std::vector<Who> who = {Who::kLibrary, Who::kReference, Who::kCanary};
    for (int round = 0; round < kProcesses; ++round) {
      for (size_t i = 0; i < who.size(); ++i) {
        const ProcessKey key{who[round % 2 == 0 ? i : who.size() - 1 - i], 0, round};
        HONE_ASSIGN_OR_RETURN(ProcessTimes times, TimeLibrary(o, FolderOf(o, key.who), &machine));
        HONE_RETURN_IF_ERROR(store.Append(key, std::move(times)));
      }
    }
    const double spent = RealClock()->NowSeconds() - begin;
    longest = std::max(longest, spent);
    fmt::print("night {}: {:.1f} s\n", number, spent);
    fflush(stdout);
  }
  return Status();
}

void Print(const char* name, const std::vector<Night>& nights) {
  int flagged = 0, slower = 0, faster = 0, busy = 0;
  std::vector<double> ratios, levels;
  for (const Night& night : nights) {
    if (!night.environment.empty()) {
      ++busy;
      continue;
    }
    flagged += night.repeat.has_value();
    slower += night.comparison.change == Change::kSlower;
    faster += night.comparison.change == Change::kFaster;
    ratios.push_back(night.comparison.ratio);
    levels.push_back(Median(night.reference.processes));
  }
  if (ratios.empty()) ratios = levels = {1};
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  fmt::print(
      "{:<7} {:>3} nights, {} of them busy; of the others flagged {}, confirmed slower {}, faster {}; ratio {:.4f} "
      "({:.4f} .. {:.4f}), robust deviation {:.2f} %; reference {:.3f} ms, night to night {:.2f} %\n",
      name, nights.size(), busy, flagged, slower, faster, Median(ratios), *least, *most, 100 * RobustDeviation(ratios),
      1e3 * Median(levels), 100 * RobustDeviation(levels));
}

// Applies the nights' rules to the samples. The following night serves as a night's repeat.
Status Report(const Options& o) {
  std::vector<NightSamples> stores;
  for (size_t number = 0; Exists(SamplesPath(o, number)); ++number) {
    HONE_ASSIGN_OR_RETURN(auto store, NightSamples::Open(SamplesPath(o, number), kKey));
    stores.push_back(std::move(store));
  }
  std::vector<Night> equal, slower;
  int cut = 0;
  for (size_t i = 0; i < stores.size(); ++i) {
    const TimeProcess time = [&](const ProcessKey& key) -> Result<ProcessTimes> {
      const size_t night = i + static_cast<size_t>(key.phase);
      const ProcessTimes* known = night < stores.size() ? stores[night].Find({key.who, 0, key.round}) : nullptr;
      return known ? Result<ProcessTimes>(*known) : Status::Interrupted("cut off");
    };
    if (!Judge(time, &equal, &slower).ok()) ++cut;
  }
  Print("equal", equal);
  Print("slower", slower);
  if (cut > 0) fmt::print("{} nights were cut off\n", cut);
  return Status();
}

}  // namespace

int main(int argc, char** argv) {
  perf::Flags flags("gate_check make | nights | report --dir=DIR [--work=W --job=NET.TARGET] ..", argc, argv);
  if (flags.Has("--child")) return command::RunBenchChild();
  Options o;
  o.work = flags.Text("--work");
  o.job = flags.Text("--job");
  o.dir = flags.Text("--dir");
  o.seconds = flags.Real("--seconds", o.seconds);
  const std::vector<std::string> command = flags.Words();
  InstallInterruptHandlers();
  if (command == std::vector<std::string>{"make"}) return ExitCodeOf(Make(o));
  if (command == std::vector<std::string>{"nights"}) return ExitCodeOf(RunNights(o));
  if (command == std::vector<std::string>{"report"}) return ExitCodeOf(Report(o));
  flags.Misused("the command");
}

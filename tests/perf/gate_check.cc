// The gate of nightly runs on this machine: nights of a library against a copy of itself, which must not alarm, and
// against one with a kernel that is deliberately slower, which must be found.
//
//   gate_check make --work=W --job=NET.TARGET --out=DIR [--slower=0.05]   DIR/same, DIR/slower from a tuned work folder
//   gate_check equal  --dir=DIR [--seconds=55]    more nights of equal libraries, into DIR/equal.jsonl
//   gate_check slower --dir=DIR [--seconds=55]    more tries at the slower one, into DIR/slower.jsonl
//   gate_check report --dir=DIR
//
// A night is what hone-bench nightly does: 7 fresh processes each in turns, a repeat of what is flagged; noise is that
// of the nights of equal libraries before it. Measuring goes on where it stopped, in pieces as long as a machine is
// free.
#include <fmt/format.h>
#include <stdio.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/subprocess.h"
#include "command/bench.h"
#include "command/library_process.h"
#include "nightly/measure_night.h"
#include "pipeline/best_file.h"
#include "record/store.h"
#include "report/bench_file.h"
#include "session/machine.h"
#include "task/outcome.h"

namespace {

using hone::JoinPath;
using hone::Result;
using hone::Status;
using hone::nightly::Night;
using hone::nightly::ProcessTimes;
using hone::nightly::Who;

struct Options {
  std::string command, work, job, out, dir;
  double slower = 0.05, seconds = 55;
};

Status CopyLibrary(const std::string& from, const std::string& to) {
  HONE_ASSIGN_OR_RETURN(const auto names, hone::ListDir(from));
  HONE_RETURN_IF_ERROR(hone::MakeDirs(to));
  for (const std::string& name : names) {
    HONE_ASSIGN_OR_RETURN(const std::string bytes, hone::ReadFile(JoinPath(from, name)));
    HONE_RETURN_IF_ERROR(hone::WriteFileAtomic(JoinPath(to, name), bytes));
  }
  return Status();
}

// Of the kernel, and the trial of it, that make the network slower by nearest to `seconds`.
struct Replacement {
  std::string task;
  hone::record::Trial trial;
  double seconds = 0;  // of a run of the network, more
};

Result<Replacement> FindReplacement(const std::string& records, const hone::pipeline::BestFile& figures,
                                    const hone::library::LibraryFolder& folder, double seconds) {
  Replacement best;
  for (const auto& kernel : folder.kernels) {
    const hone::pipeline::BestEntry* entry = figures.Find(kernel.task);
    const std::string db = JoinPath(records, kernel.task + ".db");
    if (entry == nullptr || !entry->config || entry->median <= 0 || !hone::Exists(db)) continue;
    HONE_ASSIGN_OR_RETURN(const auto store, hone::record::Store::OpenForReading(db));
    HONE_ASSIGN_OR_RETURN(const auto trials, store->Trials());
    for (const hone::record::Trial& trial : trials) {
      if (trial.outcome.state != hone::TrialState::kOk) continue;
      if (trial.outcome.config.template_name != entry->config->template_name) continue;
      const double more = (trial.outcome.median - entry->median) * static_cast<double>(kernel.uses);
      if (std::abs(more - seconds) < std::abs(best.seconds - seconds)) best = {kernel.task, trial, more};
    }
  }
  if (best.task.empty()) return Status::NotFound(records + ": no trial that is slower by about as much");
  return best;
}

Status Make(const Options& o) {
  const std::string library = JoinPath(o.work, "out/" + o.job),
                    choice = JoinPath(o.work, "best/" + o.job + ".choice.json");
  HONE_ASSIGN_OR_RETURN(const auto folder, hone::command::CheckedLibrary(library));
  HONE_ASSIGN_OR_RETURN(const auto bench, hone::report::ReadBenchFile(JoinPath(o.work, "bench/" + o.job + ".json")));
  HONE_ASSIGN_OR_RETURN(hone::pipeline::BestFile best, hone::pipeline::ReadBestFile(choice));
  HONE_ASSIGN_OR_RETURN(const auto figures, hone::pipeline::ReadBestFile(JoinPath(o.work, "best/" + o.job + ".json")));
  const std::string target = o.job.substr(o.job.rfind('.') + 1);
  const double latency = bench.libraries[0].latency().median;
  HONE_ASSIGN_OR_RETURN(const Replacement found,
                        FindReplacement(JoinPath(o.work, "records/" + target), figures, folder, o.slower * latency));
  for (hone::pipeline::BestEntry& entry : best.tasks) {
    if (entry.id != found.task) continue;
    entry.config = found.trial.outcome.config;
    entry.steps_digest = hone::Digest128(found.trial.outcome.steps).Hex();
  }
  fmt::print("{}: trial {} in place of the best: {:+.1f} % of {:.3f} ms by the records\n", found.task,
             found.trial.ordinal, 100 * found.seconds / latency, 1e3 * latency);
  HONE_RETURN_IF_ERROR(CopyLibrary(library, JoinPath(o.out, "reference")));
  HONE_RETURN_IF_ERROR(CopyLibrary(library, JoinPath(o.out, "same")));
  const std::string slower = JoinPath(o.out, "slower.choice.json");
  HONE_RETURN_IF_ERROR(hone::WriteFileAtomic(slower, hone::pipeline::ChoiceText(best)));
  hone::CommandOptions options;
  options.timeout_seconds = 600;
  HONE_ASSIGN_OR_RETURN(const auto built,
                        hone::RunCommand({HONE_BUILD, "--graph", JoinPath(library, folder.name + ".graph.json"),
                                          "--target", JoinPath(o.work, "targets/" + target + ".json"), "--best", slower,
                                          "--name", folder.name, "--out", JoinPath(o.out, "slower")},
                                         options));
  return built.status.ok() ? Status() : Status::Crashed(built.err);
}

Status RunNights(const Options& o) {
  HONE_ASSIGN_OR_RETURN(hone::MachineLock machine, hone::session::OpenMachine());
  const bool equal = o.command == "equal";
  HONE_ASSIGN_OR_RETURN(auto noise, hone::nightly::ReadHistory(JoinPath(o.dir, "equal.jsonl")));
  hone::nightly::NightInput input;
  input.host = input.fingerprint = "this one";
  input.reference = "reference";
  input.library = equal ? "reference" : "slower";
  const std::map<Who, std::string> dirs = {{Who::kLibrary, JoinPath(o.dir, equal ? "same" : "slower")},
                                           {Who::kReference, JoinPath(o.dir, "reference")}};
  auto time = [&](Who who, int, int) -> Result<ProcessTimes> {
    hone::library::TimeRequest request;
    request.dir = dirs.at(who);
    request.warmup = 5;
    request.iterations = 30;
    request.min_seconds = 0.2;
    HONE_ASSIGN_OR_RETURN(const auto reply, hone::command::TimeUndisturbed(request, &machine));
    ProcessTimes times;
    times.samples = reply.samples;
    times.lost = reply.lost_seconds;
    return times;
  };
  const double end = hone::RealClock()->NowSeconds() + o.seconds;
  for (double longest = 0; hone::RealClock()->NowSeconds() + longest < end;) {
    const double begin = hone::RealClock()->NowSeconds();
    input.before = &noise.nights;
    input.recorded = hone::FormatIso8601(hone::RealClock()->WallSeconds());
    HONE_ASSIGN_OR_RETURN(Night night, hone::nightly::MeasureNight(input, time));
    if (!night.failure.empty()) return Status::Crashed(night.failure);
    // What the tool makes of equal libraries that differ is not what is asked here.
    if (equal && night.library.digest == night.reference.digest &&
        night.comparison.change != hone::nightly::Change::kNone)
      night.environment.clear();
    HONE_RETURN_IF_ERROR(
        hone::nightly::AppendLine(JoinPath(o.dir, o.command + ".jsonl"), hone::nightly::NightText(night)));
    if (equal) noise.nights.push_back(night);
    longest = std::max(longest, hone::RealClock()->NowSeconds() - begin);
    fmt::print("{:.1f} s: {} {}\n", hone::RealClock()->NowSeconds() - begin,
               hone::nightly::ChangeName(night.comparison.change),
               night.environment.empty() ? night.comparison.why : night.environment);
    fflush(stdout);
  }
  return Status();
}

Status Report(const Options& o) {
  for (const char* name : {"equal", "slower"}) {
    HONE_ASSIGN_OR_RETURN(const auto history,
                          hone::nightly::ReadHistory(JoinPath(o.dir, std::string(name) + ".jsonl")));
    int flagged = 0, slower = 0, faster = 0, busy = 0;
    std::vector<double> ratios, levels;
    for (const Night& night : history.nights) {
      if (!night.environment.empty()) {
        ++busy;
        continue;
      }
      flagged += night.repeat.has_value();
      slower += night.comparison.change == hone::nightly::Change::kSlower;
      faster += night.comparison.change == hone::nightly::Change::kFaster;
      ratios.push_back(night.comparison.ratio);
      levels.push_back(hone::Median(night.reference.processes));
    }
    if (ratios.empty()) continue;
    const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    fmt::print(
        "{:<7} {:>3} nights, {} of them on a busy machine; of the others flagged {}, confirmed slower {}, faster {}; "
        "ratio {:.4f} ({:.4f} .. {:.4f}), robust "
        "deviation {:.2f} %; reference {:.3f} ms, night to night {:.2f} %\n",
        name, history.nights.size(), busy, flagged, slower, faster, hone::Median(ratios), *least, *most,
        100 * hone::nightly::RobustDeviation(ratios), 1e3 * hone::Median(levels),
        100 * hone::nightly::RobustDeviation(levels));
  }
  return Status();
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t equals = word.find('=');
    const std::string flag = word.substr(0, equals), value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (flag == "--child") return hone::command::RunBenchChild();
    if (flag == "--work") {
      o.work = value;
    } else if (flag == "--job") {
      o.job = value;
    } else if (flag == "--out" || flag == "--dir") {
      o.out = o.dir = value;
    } else if (flag == "--slower") {
      o.slower = std::atof(value.c_str());
    } else if (flag == "--seconds") {
      o.seconds = std::atof(value.c_str());
    } else if (flag[0] != '-' && o.command.empty()) {
      o.command = word;
    } else {
      fmt::print(stderr, "gate_check: unknown flag {}\n", word);
      return 2;
    }
  }
  hone::InstallInterruptHandlers();
  if (o.command == "make") return hone::ExitCodeOf(Make(o));
  if (o.command == "equal" || o.command == "slower") return hone::ExitCodeOf(RunNights(o));
  if (o.command == "report") return hone::ExitCodeOf(Report(o));
  fmt::print(stderr, "gate_check: make, equal, slower or report?\n");
  return 2;
}

// Measures whole spaces with hone-tune and writes each to a replay file (record/replay_space.h).
//
//   space_sweep --tasks=FILE --work=FOLDER [--set=report|develop|sketch|all] [--only=NAME,..] [--most=POINTS] [--sweeps=N]
//               [--list]
//
// FILE: tests/replay/tasks.txt. For each of its tasks of the set, N times (3): every legal point is measured in a
// random order, a different one each time, so that a slow phase of the machine affects points of all kinds, and the
// fastest tenth is measured again, interleaved. Records go to FOLDER/NAME.SWEEP.db, the median of the sweeps to
// FOLDER/NAME.replay. An interrupted sweep continues where it stopped; a task with a result for the same space is
// skipped. --most: limits the legal points of a space that are measured, the same in each sweep; the others are left
// out of the replay; 0, the default: no limit. --list: only counts.
#include "base/subprocess.h"
#include "op/operator.h"
#include "perf/flags.h"
#include "perf/replay_sweeps.h"
#include "perf/sketch_cut.h"
#include "pipeline/settings.h"
#include "pipeline/task_list.h"
#include "propose/propose.h"
#include "semantics/semantics.h"
#include "session/own_sketches.h"
#include "session/replay.h"
#include "target/target.h"

namespace {

using namespace hone;  // NOLINT: a program, not a header

constexpr uint64_t kEnumerable = uint64_t{1} << 24;
constexpr int64_t kMostBytes = 2 << 20;
constexpr char kSketchSet[] = "sketch";   // the set whose tasks have a cut sketch instead of their templates
constexpr int64_t kMostOfSketch = 2000;  // legal points of it

struct Options {
  std::string tasks, work, set = "all";
  std::vector<std::string> only;
  int64_t most = 0, sweeps = 3;
  bool list = false;
};

struct Task {
  std::string set, name, workload;
};

Result<std::vector<Task>> ReadTasks(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::vector<Task> tasks;
  int line_number = 0;
  for (const std::string& line : Split(text, '\n')) {
    ++line_number;
    const std::string trimmed(Trim(line));
    if (trimmed.empty() || trimmed[0] == '#') continue;
    const std::vector<std::string> words = SplitWords(trimmed);
    if (words.size() < 3) return Status::Invalid(fmt::format("{}:{}: expected SET NAME WORKLOAD", path, line_number));
    tasks.push_back({words[0], words[1], std::string(Trim(trimmed.substr(trimmed.find(words[1]) + words[1].size())))});
  }
  return tasks;
}

struct Whole {
  pipeline::TaskFile task;
  pipeline::TuneSettings settings;  // who proposes
  search::TaskSpace space;
  std::vector<record::ReplayTemplate> templates;
  int64_t legal = 0;
};

// The task's own sketch, with values taken away, as a user's text.
Result<pipeline::SketchFile> CutSketch(const pipeline::TaskFile& task) {
  using propose::Mode;
  HONE_ASSIGN_OR_RETURN(const auto all, propose::ProposersOf(task.workload, task.target, Mode::kSketches));
  if (all[0].sketch() == nullptr) return Status::Unsupported(task.workload.Text() + " has no sketch");
  for (uint64_t seed = 1;; ++seed) {
    const sketch::Sketch cut = sketch::Cut(*all[0].sketch(), kMostOfSketch, seed);
    if (sketch::LegalPoints(cut) >= kMostOfSketch / 4) return pipeline::SketchFile{"cut", sketch::SketchText(cut)};
    if (seed == 100) return Status::Unsupported("no cut leaves enough legal points");
  }
}

Result<Whole> Load(const Task& task) {
  Whole whole;
  HONE_ASSIGN_OR_RETURN(whole.task.workload, op::ParseChecked(task.workload));
  HONE_ASSIGN_OR_RETURN(whole.task.target, HostTarget());
  const Workload& workload = whole.task.workload;
  whole.task.id = TaskId(workload, whole.task.target.Text());
  whole.task.flop = static_cast<int64_t>(semantics::Flop(workload));
  whole.settings.mode = "templates";
  if (task.set == kSketchSet) {
    whole.settings.mode = "sketches";
    HONE_ASSIGN_OR_RETURN(whole.settings.sketches.emplace_back(), CutSketch(whole.task));
  }
  HONE_ASSIGN_OR_RETURN(const propose::Proposers proposers, session::ProposersOf(whole.task, whole.settings));
  HONE_ASSIGN_OR_RETURN(whole.space, propose::MakeTaskSpace(proposers));
  HONE_ASSIGN_OR_RETURN(whole.templates, session::ReplayTemplates(proposers));
  const auto legal = whole.space.LegalIndices(kEnumerable);
  if (!legal) return Status::Unsupported(task.name + ": the space is too large to be enumerated");
  whole.legal = static_cast<int64_t>(legal->size());
  return whole;
}

Status Pack(const Task& task, const Whole& whole, const std::vector<std::string>& dbs, const std::string& out) {
  std::vector<record::ReplaySpace> sweeps;
  for (const std::string& db : dbs) {
    HONE_ASSIGN_OR_RETURN(record::ReplaySpace sweep, session::LoadReplay(db, nullptr, whole.settings));
    sweeps.push_back(std::move(sweep));
  }
  HONE_ASSIGN_OR_RETURN(const record::ReplaySpace replay, record::MiddleOf(sweeps));
  const std::string text = record::ReplayText(replay);
  if (static_cast<int64_t>(text.size()) > kMostBytes) {
    return Status::Invalid(
        fmt::format("{}: {} bytes, a replay file has at most {}", task.name, text.size(), kMostBytes));
  }
  HONE_RETURN_IF_ERROR(WriteFileIfChanged(out, text).status());
  std::printf("%s: %zu points, best %s, %zu bytes\n", out.c_str(), replay.points.size(),
              FormatSeconds(replay.best()).c_str(), text.size());
  return Status();
}

// Every point once, or the `trials` that the seed names.
Status SweepOnce(const std::string& name, const std::string& task_file, const std::string& sweep,
                 pipeline::TuneSettings settings, int64_t trials, int64_t seed) {
  settings.tuner = "random";
  settings.trials = trials;
  settings.seed = static_cast<uint64_t>(seed);
  settings.measure.candidate_seconds = 0.1;
  settings.measure.prune_factor = 3;
  settings.finalists = std::clamp<int64_t>(trials / 10, 32, 256);
  HONE_RETURN_IF_ERROR(WriteFileIfChanged(sweep + ".tune.json", pipeline::TuneSettingsText(settings)).status());
  SpawnOptions spawn;
  spawn.argv = {HONE_TUNE, "--task",      task_file, "--settings",   sweep + ".tune.json",
                "--db",    sweep + ".db", "--stamp", sweep + ".done"};
  HONE_ASSIGN_OR_RETURN(Subprocess child, Subprocess::Spawn(spawn));
  while (child.Running()) {
    if (Interrupted()) child.Kill(2);  // it commits its work
    const auto status = child.Wait(0.5);
    if (!status.ok()) continue;
    if (Interrupted()) return Status::Interrupted("interrupted; the same command goes on");
    if (!status->ok()) return Status::Invalid(name + ": hone-tune " + status->ToString());
    break;
  }
  return Status();
}

Status Sweep(const Options& options, const Task& task) {
  HONE_ASSIGN_OR_RETURN(const Whole whole, Load(task));
  if (options.list) {
    std::printf("%-7s %-18s %8lld legal points  %s\n", task.set.c_str(), task.name.c_str(),
                static_cast<long long>(whole.legal), task.workload.c_str());
    return Status();
  }
  const std::string base = JoinPath(options.work, task.name), out = base + ".replay";
  const record::ReplaySpace expected{whole.task.workload.Text(), whole.task.target.Text(), "", whole.templates, {}};
  if (Exists(out)) {
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(out));
    auto done = record::ParseReplay(text, out);
    if (done.ok() && record::SameSpace(*done, expected)) {
      std::printf("%s: done before\n", out.c_str());
      return Status();
    }
  }
  const int64_t trials = options.most > 0 ? std::min(options.most, whole.legal) : whole.legal;
  HONE_RETURN_IF_ERROR(WriteFileIfChanged(base + ".task.json", pipeline::TaskFileText(whole.task)).status());
  std::vector<std::string> dbs;
  for (int64_t i = 1; i <= options.sweeps; ++i) {
    const std::string sweep = fmt::format("{}.{}", base, i);
    // If not all points are measured, the seed selects them: then use the same seed.
    const int64_t seed = trials < whole.legal ? 1 : i;
    HONE_RETURN_IF_ERROR(SweepOnce(task.name, base + ".task.json", sweep, whole.settings, trials, seed));
    dbs.push_back(sweep + ".db");
  }
  return Pack(task, whole, dbs, out);
}

Status Run(const Options& options) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Task> tasks, ReadTasks(options.tasks));
  HONE_RETURN_IF_ERROR(MakeDirs(options.work));
  Status first;
  for (const Task& task : tasks) {
    const bool named = std::find(options.only.begin(), options.only.end(), task.name) != options.only.end();
    if (options.only.empty() ? options.set != "all" && options.set != task.set : !named) continue;
    const Status status = Sweep(options, task);
    if (status.kind() == StatusKind::kInterrupted) return status;
    if (status.ok()) continue;
    // The others are still measured.
    std::fprintf(stderr, "space_sweep: %s: %s\n", task.name.c_str(), status.message().c_str());
    if (first.ok()) first = status;
  }
  return first;
}

}  // namespace

int main(int argc, char** argv) {
  InstallInterruptHandlers();
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  perf::Flags flags("space_sweep --tasks=FILE --work=FOLDER [--set=report|develop|sketch|all] [--only=NAME,..] ..", argc,
                    argv);
  Options options;
  options.tasks = flags.Text("--tasks");
  options.work = flags.Text("--work");
  options.set = flags.Text("--set", options.set);
  for (const std::string& names : flags.All("--only")) options.only = Split(names, ',');
  options.most = flags.Number("--most", options.most, 0);
  options.sweeps = flags.Number("--sweeps", options.sweeps);
  options.list = flags.Has("--list");
  if (!flags.Words().empty() || options.tasks.empty() || options.work.empty()) flags.Misused("--tasks or --work");
  return ExitCodeOf(Run(options));
}

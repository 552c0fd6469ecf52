#include "command/bench/quality.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/heartbeat.h"
#include "base/interrupt.h"
#include "base/keep.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/statistics.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "command/bench/library_process.h"
#include "command/common/numerics.h"
#include "command/nightly/nightly_common.h"
#include "nightly/accepted.h"
#include "nightly/measure_night.h"
#include "nightly/quality.h"
#include "nightly/samples.h"
#include "pipeline/best_file.h"
#include "pipeline/settings.h"
#include "pipeline/task_list.h"
#include "record/store.h"
#include "session/machine.h"
#include "task/outcome.h"

namespace hone::command {
namespace {

constexpr double kTuneTimeout = 3600;
constexpr int kCanaryProcesses = 3;

class Quality {
 public:
  explicit Quality(const QualityOptions& options) : options_(options) {}

  Status Run() {
    HONE_ASSIGN_OR_RETURN(SeriesJob series, OpenSeries(options_.nights, "quality", options_.accepted, options_.job));
    series_ = &series;
    Heartbeat heartbeat(&series.lock);
    heartbeat_ = &heartbeat;
    HONE_ASSIGN_OR_RETURN(const nightly::QualityHistory history, nightly::ReadQuality(series.history));
    for (const std::string& damaged : history.damaged) LogWarning(damaged + "; skipping this night");
    if (HasItsLine(series, options_.job, history.nights)) return Status();
    night_.night = series.night;
    night_.recorded = FormatIso8601(RealClock()->WallSeconds());
    night_.host = Hostname();
    night_.tools = NightTools();
    night_.trials = options_.trials;
    const std::string scratch = fmt::format("{}/tuning/{}", series.dir, options_.job);
    const Status status = Measure(JoinPath(scratch, ReplaceAll(night_.night, ":", "")));
    if (!status.ok() && !nightly::OfTheArtifact(status)) return status;
    if (!status.ok()) night_.failure = status.message();
    ShowLiveLine("");
    HONE_RETURN_IF_ERROR(heartbeat.Check());
    HONE_RETURN_IF_ERROR(AppendLine(series.history, nightly::QualityText(night_)));
    HONE_RETURN_IF_ERROR(RemoveTree(scratch));
    const double level = night_.LevelSeconds();
    fmt::print("{}: {}\n", options_.job,
               !night_.failure.empty() ? night_.failure
               : level > 0 ? fmt::format("{} in {} tasks with {} trials", FormatSeconds(level), night_.tasks.size(),
                                         night_.trials)
                           : "a task found nothing");
    return Status();
  }

 private:
  Status Measure(const std::string& scratch) {
    const nightly::Acceptance &reference = series_->accepted.back(), &canary = series_->accepted.front();
    HONE_ASSIGN_OR_RETURN(const Target target, Target::Parse(reference.target));
    HONE_ASSIGN_OR_RETURN(night_.fingerprint, NightFingerprint(target));
    HONE_RETURN_IF_ERROR(ChooseTasks(reference));
    HONE_RETURN_IF_ERROR(MakeDirs(scratch));
    for (nightly::QualityTask& task : night_.tasks) {
      for (const uint64_t seed : options_.seeds) {
        HONE_ASSIGN_OR_RETURN(nightly::QualityRun run, Tune(task.id, seed, scratch));
        task.runs.push_back(std::move(run));
      }
    }
    const Status timed = TimeCanary(canary, target);
    if (!timed.ok() && !nightly::OfTheArtifact(timed)) return timed;
    if (!timed.ok()) LogWarning(timed.message() + " (this is the canary; the night is not compared with others)");
    return Status();
  }

  // By FLOP times uses: known without a time, so that every night asks the same.
  Status ChooseTasks(const nightly::Acceptance& reference) {
    HONE_ASSIGN_OR_RETURN(const pipeline::TaskList list, pipeline::ReadTaskList(options_.tasks));
    const std::string choice =
        JoinPath(nightly::AcceptedDir(options_.accepted, options_.job, reference.digest), nightly::kChoiceFile);
    HONE_ASSIGN_OR_RETURN(const pipeline::BestFile built, pipeline::ReadBestFile(choice));
    std::optional<pipeline::BestFile> best;
    if (!options_.best.empty() && Exists(options_.best)) {
      HONE_ASSIGN_OR_RETURN(best, pipeline::ReadBestFile(options_.best));
    }
    std::vector<pipeline::TaskEntry> tasks;
    for (const pipeline::TaskEntry& entry : list.tasks) {
      if (built.Find(entry.id) != nullptr) tasks.push_back(entry);
    }
    if (tasks.empty()) return Status::NotFound(fmt::format("{}: no task of it is in {}", options_.tasks, choice));
    std::stable_sort(tasks.begin(), tasks.end(), [](const auto& a, const auto& b) {
      return static_cast<double>(a.weight) * static_cast<double>(a.flop) >
             static_cast<double>(b.weight) * static_cast<double>(b.flop);
    });
    tasks.resize(std::min(tasks.size(), static_cast<size_t>(std::max(1, options_.heaviest))));
    for (const pipeline::TaskEntry& entry : tasks) {
      const pipeline::BestEntry* found = best ? best->Find(entry.id) : nullptr;
      night_.tasks.push_back({entry.id, entry.weight, found ? found->median : 0, {}});
    }
    return Status();
  }

  Result<nightly::QualityRun> Tune(const std::string& task, uint64_t seed, const std::string& scratch) {
    if (Interrupted()) return Status::Interrupted("interrupted; the same command goes on where it stopped");
    HONE_RETURN_IF_ERROR(heartbeat_->Check());
    ShowLiveLine(fmt::format("{}: {}, seed {}", options_.job, task, seed));
    pipeline::TuneSettings settings;
    settings.trials = options_.trials;
    HONE_ASSIGN_OR_RETURN(const op::Numerics numerics, ParseNumerics(options_.winograd, options_.tf32));
    settings.winograd = numerics.winograd;
    settings.tf32 = numerics.tf32;
    settings.seed = seed;
    settings.finalists = 0;  // what the search found, as it saw it
    const std::string stem = fmt::format("{}/{}.s{}", scratch, task, seed);
    HONE_RETURN_IF_ERROR(WriteFileAtomic(stem + ".tune.json", pipeline::TuneSettingsText(settings)));
    CommandOptions command;
    command.timeout_seconds = kTuneTimeout;
    command.env = {{"POCL_KERNEL_CACHE", "0"}};  // what KeepDeviceKernels is for, tuning is not
    HONE_ASSIGN_OR_RETURN(
        const CommandResult result,
        RunCommand({options_.tune, "--task", JoinPath(DirName(options_.tasks), task + ".task.json"), "--settings",
                    stem + ".tune.json", "--db", stem + ".db", "--stamp", stem + ".done"},
                   command));
    if (Interrupted()) return Status::Interrupted("interrupted; the same command goes on where it stopped");
    if (!result.status.ok()) {
      return Status::Crashed(
          fmt::format("{} {}: {}", task, result.status.ToString(), result.err.substr(0, result.err.find('\n'))));
    }
    HONE_ASSIGN_OR_RETURN(const auto store, record::Store::OpenForReading(stem + ".db"));
    HONE_ASSIGN_OR_RETURN(const auto trials, store->Trials());
    nightly::QualityRun run;
    run.seed = seed;
    for (const record::Trial& trial : trials) {
      const bool better =
          trial.outcome.state == TrialState::kOk && (run.seconds <= 0 || trial.outcome.median < run.seconds);
      if (better) run.seconds = trial.outcome.median;
      run.curve.push_back(run.seconds);
    }
    run.trials = static_cast<int64_t>(trials.size());
    return run;
  }

  // The machine's speed in this run, to divide by.
  Status TimeCanary(const nightly::Acceptance& canary, const Target& target) {
    HONE_RETURN_IF_ERROR(nightly::CheckAccepted(options_.accepted, options_.job, canary));
    night_.canary_digest = canary.digest;
    if (!options_.fake_times.empty()) {
      HONE_ASSIGN_OR_RETURN(const auto times, ReadFakeTimes(options_.fake_times));
      const auto found = times.find(canary.digest);
      if (found == times.end()) return NoTimeInvented(canary.digest);
      night_.canary_seconds = found->second;
      return Status();
    }
    library::TimeRequest request = NightRequest();
    request.dir = nightly::AcceptedDir(options_.accepted, options_.job, canary.digest);
    HONE_ASSIGN_OR_RETURN(MachineLock machine, session::OpenMachine(target));
    std::vector<double> processes;
    for (int i = 0; i < kCanaryProcesses; ++i) {
      HONE_ASSIGN_OR_RETURN(const library::TimeReply reply, TimeInProcess(request, &machine));
      nightly::ProcessTimes times;
      times.samples = reply.samples;
      processes.push_back(times.Seconds());
    }
    night_.canary_seconds = Median(processes);
    return Status();
  }

  const QualityOptions& options_;
  SeriesJob* series_ = nullptr;
  Heartbeat* heartbeat_ = nullptr;
  nightly::QualityNight night_;
};

}  // namespace

int RunQuality(const QualityOptions& options) {
  const Status status = Quality(options).Run();
  ShowLiveLine("");
  return ExitCodeOf(status);
}

}  // namespace hone::command

#include "session/tune_session.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <set>
#include <utility>

#include "base/interrupt.h"
#include "base/log.h"
#include "base/text.h"
#include "search/tuner/tuner.h"

namespace hone::session {
namespace {

constexpr double kCommitSeconds = 1;
constexpr double kLockSeconds = 20;
constexpr double kBuildingLockSeconds = 0.1;  // while candidates are being built: the children need more work
constexpr double kCompilerSeconds = 1;  // that others wait for the device because the next candidate is not compiled
// If a run begins with this many, this machine or its device is to blame. Fewer may be candidates that use all memory.
constexpr size_t kMostWithoutVerdict = 32;

class Run {
 public:
  // `careful`: the measurer is checked after each candidate.
  Run(const SessionOptions& options, const SessionWorld& world, bool careful, History* history)
      : options_(options), world_(world), careful_(careful), history_(*history), started_(world.clock->NowSeconds()) {}

  Result<SessionResult> Go() {
    Status status = Tune();
    if (status.ok()) status = CheckTheRest();
    if (!corrupted_) checked_ = uncommitted_.size();  // an interrupt or a failure elsewhere proves nothing against them
    Unlock();                                         // release what a failed or interrupted step may hold
    tuned_seconds_ = TuningSeconds();
    if (status.ok() && result_.reason != StopReason::kNone) status = Close();
    Unlock();
    const Status stored = Commit();  // also after an interrupt or a failure: keeps what was measured
    if (session_ != 0 && stored.ok()) {
      HONE_RETURN_IF_ERROR(CheckOwner());
      // The last commit may have been earlier, and a later run must find that the seconds are spent.
      if (options_.budget.seconds > 0) HONE_RETURN_IF_ERROR(world_.store->Append(session_, {}, TuningSeconds()));
      HONE_RETURN_IF_ERROR(world_.store->EndSession(session_, world_.clock->WallSeconds()));
    }
    result_.interrupted = status.kind() == StatusKind::kInterrupted;
    if (result_.interrupted) result_.reason = StopReason::kNone;
    if (!status.ok() && !result_.interrupted) return status;
    HONE_RETURN_IF_ERROR(stored);
    result_.seconds = Elapsed();
    result_.measuring_share = result_.seconds > 0 ? BusySeconds() / result_.seconds : 0;
    result_.peak_flops = device_.measurer ? device_.measurer->peak_flops() : 0;
    return result_;
  }

  // Whether a candidate corrupted the measurer: what it measured since it was checked last is not stored.
  bool corrupted() const { return corrupted_; }

 private:
  double Elapsed() const { return world_.clock->NowSeconds() - started_; }

  // Time that counts against the budget of seconds: without waiting for the machine and without finalists.
  double TuningSeconds() const { return tuned_seconds_.value_or(Elapsed() - waiting_seconds_); }

  double BusySeconds() const {
    const std::optional<double> device = device_.measurer ? device_.measurer->busy_seconds() : std::nullopt;
    return device.value_or(measuring_seconds_);
  }

  Status CheckOwner() const { return world_.check_owner ? world_.check_owner() : Status(); }

  Status Tune() {
    while (true) {
      result_.reason = history_.Met(options_.budget, TuningSeconds());
      if (result_.reason != StopReason::kNone) return Status();
      if (Interrupted()) return Status::Interrupted("interrupted");
      HONE_RETURN_IF_ERROR(EnsureTuner());
      if (ExpectsLittle()) {
        result_.reason = StopReason::kExpectedGain;
        return Status();
      }
      const std::vector<Config> batch = Propose();
      if (batch.empty()) {
        if (!set_aside_.empty()) return NoVerdict(fmt::format("{} candidates", set_aside_.size()));
        result_.reason = StopReason::kExhausted;
        return Status();
      }
      const size_t before = history_.outcomes().size();
      const Status status = RunBatch(batch);
      tuner_->Update(NewOutcomes(before));
      HONE_RETURN_IF_ERROR(status);
    }
  }

  Status EnsureTuner() {
    if (tuner_) return Status();
    HONE_ASSIGN_OR_RETURN(tuner_, world_.make_tuner ? world_.make_tuner()
                                                    : search::MakeTuner(options_.tuner, *options_.space, options_.seed,
                                                                        options_.context));
    tuner_->Update(NewOutcomes(0));
    return Status();
  }

  // Checked only at the ends of batches, so that a run resumed within a batch ends with the same trials.
  bool ExpectsLittle() {
    if (options_.budget.expected_gain <= 0 || !history_.best() || history_.count() % options_.batch != 0) return false;
    const std::optional<double> gain = tuner_->ExpectedGain();
    if (gain) result_.expected_gain = *gain;
    return gain && *gain < options_.budget.expected_gain;
  }

  // For the first batch, and if the records lost the default with a damaged page.
  bool WantsDefault() const { return options_.default_config && !Tried(*options_.default_config); }

  bool Tried(const Config& config) const {
    return history_.Knows(config) || set_aside_.count(config.ValueDigest()) != 0;
  }

  // The default runs alone, before the tuner is asked: it counts in the tuner's rounds, and a round planned without it
  // would have one trial more than the same round after a resume.
  //
  // Other batches end at multiples of their size, counted over all sessions, so that a learning tuner gets the same
  // outcomes at the same moment after a resume.
  std::vector<Config> Propose() {
    if (WantsDefault()) return {*options_.default_config};
    const int64_t count = history_.count();
    const int64_t room = std::min<int64_t>(options_.batch - count % options_.batch, options_.budget.trials - count);
    std::vector<Config> batch;
    while (static_cast<int64_t>(batch.size()) < room) {
      const auto next = tuner_->NextBatch(static_cast<int>(room) - static_cast<int>(batch.size()));
      if (next.empty()) break;
      for (const PointIndex index : next) {
        Config config = options_.space->At(index);
        if (!Tried(config)) batch.push_back(std::move(config));
      }
    }
    return batch;
  }

  // The host is shared now.
  Status EnsureDevice() {
    if (device_.builder) return Status();
    HONE_ASSIGN_OR_RETURN(device_, world_.open_device());
    return Status();
  }

  // Locks the device for timing, or the host for compiling, after releasing the other one. Waiting for other jobs may
  // take long; the progress line continues.
  Status Lock(bool exclusive) {
    if (world_.turns == nullptr) return Status();
    const double begin = world_.clock->NowSeconds();
    if (exclusive && !building_) world_.turns->Computed();
    while (true) {
      const double patience = building_ ? kBuildingLockSeconds : kLockSeconds;
      const Status status = exclusive ? world_.turns->Time(patience) : world_.turns->Compute(patience);
      if (status.kind() == StatusKind::kTimeout) {
        HONE_RETURN_IF_ERROR(Commit());
        HONE_RETURN_IF_ERROR(GoOnBuilding());
        HONE_RETURN_IF_ERROR(Progress());
        continue;
      }
      waiting_seconds_ += world_.clock->NowSeconds() - begin;
      return status;
    }
  }

  void Unlock() {
    if (world_.turns != nullptr) world_.turns->Unlock();
  }

  Status Progress() {
    const double peak = device_.measurer ? device_.measurer->peak_flops() : 0;  // none yet while we wait to open it
    return world_.on_progress ? world_.on_progress(history_, peak) : Status();
  }

  Status RunBatch(const std::vector<Config>& batch) {
    std::vector<Config> legal;
    std::vector<std::optional<std::string>> rejections;
    for (const Config& config : batch) {
      rejections.push_back(options_.space->Reject(config.index));
      if (!rejections.back()) legal.push_back(config);
    }
    HONE_RETURN_IF_ERROR(Lock(false));
    HONE_RETURN_IF_ERROR(EnsureDevice());
    building_ = world_.turns != nullptr && world_.turns->apart();
    const Status status = BuildAndMeasure(batch, legal, rejections);
    building_ = false;
    device_.builder->Abandon();  // after an early end some are left: nothing may compile once the host is released
    Unlock();
    return status;
  }

  // On the host, all candidates are built before the first is measured. If compiling does not disturb timing, a
  // candidate is measured as soon as it and those before it are built and the earlier ones measured, while children
  // build the others. The order is always that of the batch, so the trials are the same as one step after the other,
  // and a resume finds the same.
  Status BuildAndMeasure(const std::vector<Config>& batch, const std::vector<Config>& legal,
                         const std::vector<std::optional<std::string>>& rejections) {
    const double begin = world_.clock->NowSeconds();
    HONE_RETURN_IF_ERROR(device_.builder->Begin(legal));
    // While children build: store what was measured, and do what else need not wait for them.
    HONE_RETURN_IF_ERROR(Commit());
    HONE_RETURN_IF_ERROR(device_.measurer->Open());
    tuner_->Prepare();
    // Wait for these without holding the device, which others may use meanwhile.
    std::deque<measure::BuildResult> built;
    while (built.size() < (building_ ? std::min<size_t>(legal.size(), 1) : legal.size())) {
      HONE_ASSIGN_OR_RETURN(built.emplace_back(), device_.builder->Next());
    }
    HONE_RETURN_IF_ERROR(GoOnBuilding());
    const double compiled = world_.clock->NowSeconds();
    HONE_RETURN_IF_ERROR(Lock(true));
    const double start = world_.clock->NowSeconds();
    const Status status = MeasureBatch(batch, rejections, [&]() -> Result<measure::BuildResult> {
      if (!built.empty()) {
        measure::BuildResult next = std::move(built.front());
        built.pop_front();
        return next;
      }
      HONE_ASSIGN_OR_RETURN(const bool soon, device_.builder->Ready(kCompilerSeconds));
      if (!soon) world_.turns->Timed();
      HONE_ASSIGN_OR_RETURN(measure::BuildResult next, device_.builder->Next());
      HONE_RETURN_IF_ERROR(GoOnBuilding());
      if (!soon) HONE_RETURN_IF_ERROR(Lock(true));
      return next;
    });
    const double end = world_.clock->NowSeconds();
    measuring_seconds_ += end - start;
    LogDebug("batch of {}: compiled in {}, machine free after {}, measured in {}", batch.size(),
             FormatSeconds(compiled - begin), FormatSeconds(start - compiled), FormatSeconds(end - start));
    return status;
  }

  // Keeps the children busy; releases the host once everything is built.
  Status GoOnBuilding() {
    if (!building_) return Status();
    HONE_ASSIGN_OR_RETURN(const bool built, device_.builder->Advance());
    if (!built) return Status();
    building_ = false;
    world_.turns->Computed();
    return Status();
  }

  // `next_built` returns the candidates that are not rejected, in order.
  Status MeasureBatch(const std::vector<Config>& batch, const std::vector<std::optional<std::string>>& rejections,
                      const std::function<Result<measure::BuildResult>()>& next_built) {
    for (size_t i = 0; i < batch.size(); ++i) {
      Outcome outcome;
      if (rejections[i]) {
        outcome.error = TrialError::kInvalid;
        outcome.error_text = *rejections[i];
      } else {
        HONE_ASSIGN_OR_RETURN(const measure::BuildResult built, next_built());
        HONE_ASSIGN_OR_RETURN(outcome, Try(built));
      }
      outcome.config = batch[i];
      outcome.proposer = WantsDefault() ? "default" : tuner_->name();  // before it is recorded
      if (outcome.error == TrialError::kDevice) {
        HONE_RETURN_IF_ERROR(SetAside(std::move(outcome)));
        continue;
      }
      HONE_RETURN_IF_ERROR(Take(std::move(outcome)));
      // Stop at the exact trial, wherever it is in its batch: compiling the rest was in vain, but a run resumed in
      // between ends with the same trials.
      if (history_.Met(options_.budget, TuningSeconds()) != StopReason::kNone) return Status();
      if (Interrupted()) return Status::Interrupted("interrupted");
    }
    return history_.count() % options_.batch == 0 ? CheckMeasurer() : Status();
  }

  // A candidate that this machine failed is not recorded. The run stops there and the next one begins there, so that it
  // ends with the trials of an undisturbed run. A run that fails at its very start skips the candidate, in case it uses
  // up all memory; only the default is never skipped.
  Status SetAside(Outcome outcome) {
    last_failure_ = outcome.error_text;
    if (WantsDefault() || result_.new_trials > 0) return NoVerdict("a candidate");
    set_aside_.insert(outcome.config.ValueDigest());
    untold_.emplace_back(history_.outcomes().size(), std::move(outcome));
    if (set_aside_.size() >= kMostWithoutVerdict) return NoVerdict(fmt::format("{} candidates", set_aside_.size()));
    LogWarning("a candidate could not be tried and is left out, but not recorded: {}", last_failure_);
    return Interrupted() ? Status::Interrupted("interrupted") : Status();
  }

  Status NoVerdict(const std::string& what) const {
    return Status::Io(
        "{} could not be tried, and this machine is to blame: {}; the same command goes on where this one stops", what,
        last_failure_);
  }

  // The outcomes from position `from` on for the tuner, in the order of its proposals, including those set aside.
  // Indices are derived from the values: recorded indices may belong to a space with other templates.
  std::vector<Outcome> NewOutcomes(size_t from) {
    std::vector<Outcome> outcomes = history_.AsSearched(from);
    for (auto aside = untold_.rbegin(); aside != untold_.rend(); ++aside) {
      outcomes.insert(outcomes.begin() + static_cast<std::ptrdiff_t>(aside->first - from), std::move(aside->second));
    }
    untold_.clear();
    for (Outcome& outcome : outcomes) {
      PointIndex& index = outcome.config.index;
      if (index < options_.space->size() && options_.space->At(index) == outcome.config) continue;
      const Result<PointIndex> found = options_.space->IndexOf(outcome.config);
      index = found.ok() ? *found : kNoIndex;
    }
    return outcomes;
  }

  Result<Outcome> Try(const measure::BuildResult& built) {
    Outcome outcome;
    if (!built.ok) {
      outcome.error = built.error;
      outcome.error_text = built.error_text;
      outcome.compile_seconds = built.compile_seconds;
      return outcome;
    }
    if (const Outcome* known = history_.OfArtifact(built.kernel.artifact_digest)) {
      outcome = *known;
      outcome.samples.clear();  // the samples stay with the trial that was timed
      outcome.steps = built.kernel.steps;
      outcome.compile_seconds = built.kernel.compile_seconds;
      outcome.measure_seconds = 0;
      return outcome;
    }
    HONE_ASSIGN_OR_RETURN(outcome, device_.measurer->Measure(built.kernel, history_.best_seconds()));
    if (!careful_ || IsSound()) return outcome;
    // The check may have ended for this: it proves nothing against a candidate that is to be blamed for good.
    if (Interrupted()) return Status::Interrupted("interrupted while the measuring child was checked");
    return Outcome{.error = TrialError::kCrash,
                   .error_text = "corrupted the measuring child: after it, a kernel that was right was found wrong",
                   .artifact_digest = outcome.artifact_digest,
                   .compile_seconds = outcome.compile_seconds,
                   .measure_seconds = outcome.measure_seconds,
                   .steps = outcome.steps};
  }

  Status Take(Outcome outcome) {
    history_.Add(outcome);
    uncommitted_.push_back(std::move(outcome));
    ++result_.new_trials;
    if (world_.clock->NowSeconds() - last_commit_ >= kCommitSeconds) {
      HONE_RETURN_IF_ERROR(CheckMeasurer());
      HONE_RETURN_IF_ERROR(Commit());
    }
    return Progress();
  }

  // A measurer that gives no answer, as after an interrupt, proves nothing against the candidates.
  bool IsSound() {
    const Result<bool> sound = device_.measurer ? device_.measurer->Sound() : true;
    return !sound.ok() || *sound;
  }

  // It runs a kernel, so call it while the device is locked.
  Status CheckMeasurer() {
    if (checked_ == uncommitted_.size()) return Status();
    corrupted_ = !IsSound();
    if (corrupted_) {
      uncommitted_.resize(checked_);
      return Status::Io("a candidate corrupted the measuring child");
    }
    checked_ = uncommitted_.size();
    return Status();
  }

  // At the end of the search, when nothing is locked.
  Status CheckTheRest() {
    if (checked_ == uncommitted_.size()) return Status();
    HONE_RETURN_IF_ERROR(Lock(true));
    const Status status = CheckMeasurer();
    Unlock();
    return status;
  }

  // Stores the trials that were checked.
  Status Commit() {
    last_commit_ = world_.clock->NowSeconds();
    if (checked_ == 0) return Status();
    HONE_RETURN_IF_ERROR(CheckOwner());
    if (session_ == 0) {
      record::Session session = options_.session;
      session.started = world_.clock->WallSeconds() - Elapsed();
      HONE_ASSIGN_OR_RETURN(session_, world_.store->BeginSession(session));
    }
    const auto end = uncommitted_.begin() + static_cast<std::ptrdiff_t>(checked_);
    HONE_RETURN_IF_ERROR(world_.store->Append(session_, {uncommitted_.begin(), end}, TuningSeconds()));
    uncommitted_.erase(uncommitted_.begin(), end);
    checked_ = 0;
    return Status();
  }

  // Measures the finalists, then stores the closing row.
  Status Close() {
    if (history_.Closed(options_.finalists)) return Status();
    HONE_RETURN_IF_ERROR(Commit());
    Closing closing{history_.count(), result_.reason, options_.budget.early_stop, options_.finalists, 1};
    closing.expected_gain = options_.budget.expected_gain;
    if (tuner_) closing.tuner_gain = tuner_->ExpectedGain().value_or(-1);
    closing.winograd = history_.scope().numerics.winograd;
    closing.tf32 = history_.scope().numerics.tf32;
    if (options_.finalists > 0 && history_.best()) {
      if (!device_.builder) HONE_RETURN_IF_ERROR(Lock(false));
      HONE_RETURN_IF_ERROR(EnsureDevice());
      const FinalistWorld world{world_.store,           device_.builder.get(),
                                device_.measurer.get(), [this](bool exclusive) { return Lock(exclusive); },
                                [this] { Unlock(); },   [this] { return CheckOwner(); }};
      HONE_ASSIGN_OR_RETURN(const FinalistResult finalists, MeasureFinalists(options_.finalists, world, &history_));
      result_.finalists = finalists.measured;
      result_.drift = closing.drift = finalists.drift;
    }
    HONE_RETURN_IF_ERROR(CheckOwner());
    record::Session session = options_.session;
    session.settings = closing.ToSettings();
    session.started = world_.clock->WallSeconds();
    HONE_ASSIGN_OR_RETURN(const int64_t id, world_.store->BeginSession(session));
    return world_.store->EndSession(id, world_.clock->WallSeconds());
  }

  const SessionOptions& options_;
  const SessionWorld& world_;
  const bool careful_;
  History& history_;
  const double started_;
  double last_commit_ = 0;
  double measuring_seconds_ = 0;
  double waiting_seconds_ = 0;
  std::optional<double> tuned_seconds_;  // set once the search is over
  std::set<Digest> set_aside_;           // by value: candidates that this machine failed
  std::string last_failure_;             // the last one's message
  // Set-aside outcomes that the tuner does not know yet, each with its position in the history.
  std::vector<std::pair<size_t, Outcome>> untold_;
  int64_t session_ = 0;
  std::unique_ptr<search::Tuner> tuner_;
  Device device_;
  bool building_ = false;  // while others are measured or awaited
  std::vector<Outcome> uncommitted_;
  size_t checked_ = 0;  // the first ones, known to come from a sound measurer
  bool corrupted_ = false;
  SessionResult result_;
};

}  // namespace

Result<SessionResult> RunSession(const SessionOptions& options, const SessionWorld& world, History* history) {
  const int64_t before = history->count();
  {  // its devices are closed before the careful run opens others
    Run run(options, world, /*careful=*/false, history);
    Result<SessionResult> result = run.Go();
    if (!run.corrupted()) return result;
  }
  LogWarning("a candidate corrupted the measuring child; tuning goes on before it, one candidate at a time");
  History stored(history->fingerprint(), history->scope());
  HONE_RETURN_IF_ERROR(stored.Load(*world.store));
  *history = std::move(stored);
  HONE_ASSIGN_OR_RETURN(SessionResult rest, Run(options, world, /*careful=*/true, history).Go());
  rest.new_trials = history->count() - before;
  return rest;
}

}  // namespace hone::session

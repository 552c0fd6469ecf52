#include "measure/child_measurer.h"

#include <algorithm>
#include <random>

#include "base/clock.h"
#include "base/fields.h"
#include "base/file.h"
#include "base/log.h"
#include "base/statistics.h"
#include "base/text.h"
#include "runtime/host/peak.h"

namespace hone::measure {

// A child's later measurements of the peak may exceed the one at its start, which a neighbour may have disturbed, by
// this factor at most. Only that one precedes all candidates.
constexpr double kMostGrowth = 2;

constexpr size_t kMostReasons = 8;  // that are logged for a slow device

// Setting up reads the reference, fills the inputs and measures the peak; it runs no code of a candidate.
constexpr double kSetupTimeoutSeconds = 120;

// A driver reserves address space for all the memory of its devices, so no limit is safe.
static WorkerOptions OptionsOf(std::string program, const TaskSetup& setup) {
  WorkerOptions options{std::move(program), "measure"};
  if (!setup.target.empty()) options.max_memory_bytes = 0;
  return options;
}

// Failures of a child that the code in it can cause.
static bool MayBeTheKernel(const Status& status) {
  const StatusKind kind = status.kind();
  return kind == StatusKind::kCrashed || kind == StatusKind::kTimeout || kind == StatusKind::kCorrupt;
}

ChildMeasurer::ChildMeasurer(std::string program, TaskSetup setup, std::function<Status(TaskSetup*)> complete)
    : setup_(std::move(setup)), complete_(std::move(complete)), worker_(OptionsOf(std::move(program), setup_)) {}

// The child loads its libraries while the reference is computed.
Status ChildMeasurer::Open() {
  if (!worker_.started()) {
    HONE_RETURN_IF_ERROR(worker_.Start());
    std::random_device random;
    nonce_ = uint64_t{random()} << 32 | random();
  }
  if (!complete_) return Status();
  HONE_RETURN_IF_ERROR(complete_(&setup_));
  complete_ = nullptr;
  return Status();
}

void ChildMeasurer::Stop() {
  worker_.Stop();
  ready_ = false;
}

// A child cannot be given more folders, so a kernel in a new one gets a new child. Builders have one folder.
Status ChildMeasurer::EnsureReady(const std::vector<BuiltKernel>& kernels) {
  std::vector<std::string>& folders = setup_.kernel_folders;
  for (const BuiltKernel& kernel : kernels) {
    const std::string folder = DirName(kernel.path);
    if (!setup_.target.empty() || std::find(folders.begin(), folders.end(), folder) != folders.end()) continue;
    folders.push_back(folder);
    if (ready_) Stop();
  }
  return ready_ ? Status() : SetUp();
}

Status ChildMeasurer::SetUp() {
  for (int attempt = 0;; ++attempt) {
    HONE_RETURN_IF_ERROR(Open());
    const Result<Json> answer = Ask(FieldsText(setup_, -1), kSetupTimeoutSeconds);
    if (!answer.ok()) {
      if (answer.status().kind() == StatusKind::kIo && attempt + 1 < kMostAttempts) continue;
      return answer.status().WithContext("hone-worker measure, setting up");
    }
    JsonReader reader(*answer, "answer of hone-worker");
    bool ok = false;
    double peak = 0;
    std::string error = "no reason given";
    HONE_RETURN_IF_ERROR(reader.Read("ok", &ok));
    HONE_RETURN_IF_ERROR(reader.ReadOptional("peak", &peak));
    HONE_RETURN_IF_ERROR(reader.ReadOptional("error", &error));
    ready_ = ok;
    if (ok) {
      was_ready_ = true;
      setup_peak_ = std::max(setup_peak_, peak);
      peak_flops_ = std::max(peak_flops_, setup_peak_);
      return Status();
    }
    Stop();
    const Status refused = Status::Io("hone-worker: " + error);
    // The device has vanished: keep its measurements; the rest can be measured once it is back.
    if (!was_ready_ || setup_.target.empty()) return refused;
    return refused.WithContext("the device does not open again; the same command goes on where this one stops");
  }
}

Result<Json> ChildMeasurer::Ask(const std::string& message, double timeout_seconds) {
  const std::string id = fmt::format("{:016x}-{}\n", nonce_, ++requests_);
  const Status sent = worker_.Send(id + message);
  Result<std::string> text = sent.ok() ? worker_.Receive(timeout_seconds) : sent;
  if (text.ok() && (!StartsWith(*text, id) || worker_.Pending())) {
    text = Status::Corrupt("sent a message that it was not asked for: a candidate wrote into its channel");
  }
  Result<Json> answer = text.ok() ? ParseJson(text->substr(id.size()), "its answer") : text.status();
  if (text.ok() && (!answer.ok() || !answer->is_object())) answer = Status::Corrupt("sent an answer that is no object");
  if (!answer.ok()) Stop();
  return answer;
}

Result<Json> ChildMeasurer::AskReady(const std::string& message, double timeout_seconds) {
  HONE_ASSIGN_OR_RETURN(Json answer, Ask(message, timeout_seconds));
  JsonReader reader(answer, "its answer");
  bool ok = false, lost = false;
  double peak = 0, busy = 0;
  std::string slowed;
  const Status read = [&]() -> Status {
    HONE_RETURN_IF_ERROR(reader.Read("ok", &ok));
    HONE_RETURN_IF_ERROR(reader.ReadOptional("peak", &peak));
    HONE_RETURN_IF_ERROR(reader.ReadOptional("busy", &busy));
    HONE_RETURN_IF_ERROR(reader.ReadOptional("slowed", &slowed));
    return reader.ReadOptional("lost", &lost);
  }();
  // A sound child does what it is asked to do.
  if (!read.ok() || !ok || busy < 0) return Implausible("sent an answer without a result");
  if (answer.contains("busy")) busy_seconds_ = busy_seconds_.value_or(0) + busy;
  // Once for each reason, whatever its figures.
  if (!slowed.empty() && slowed_.size() < kMostReasons && slowed_.insert(slowed.substr(0, slowed.find(" ("))).second) {
    LogInfo("the device is slowed down: {}; runs are repeated", slowed);
  }
  peak_flops_ = std::max(peak_flops_, std::min(peak, kMostGrowth * setup_peak_));
  // A child whose device is lost has answered for its candidate; replace it before the next one.
  if (lost) Stop();
  return answer;
}

Status ChildMeasurer::Implausible(const std::string& what) {
  Stop();
  return Status::Corrupt(what);
}

Status ChildMeasurer::ReadOutcome(const Json& answer, Outcome* outcome) {
  const auto found = answer.find("outcome");
  if (found == answer.end()) return Implausible("sent no outcome");
  Status sound = VerdictFromJson(*found, outcome);
  if (sound.ok()) sound = CheckVerdict(*outcome, setup_.protocol);
  return sound.ok() ? sound : Implausible(sound.message());
}

bool ChildMeasurer::FasterThanPossible(const BuiltKernel& kernel, double seconds) {
  const double flops = setup_.flop * kernel.arithmetic / seconds, slack = setup_.protocol.roofline_slack;
  if (peak_flops_ <= 0 || flops <= peak_flops_ * slack) return false;
  if (!setup_.target.empty()) return true;  // a device's peak is what its driver says
  // This host's was measured, perhaps while others used the machine. This process runs no candidate.
  if (flops > bound_flops_ * slack) {
    const double bound =
        setup_.OfBytes() ? runtime::MeasureDot4Bound(setup_.threads) : runtime::MeasureArithmeticBound(setup_.threads);
    bound_flops_ = std::max(bound_flops_, bound);
  }
  return flops > bound_flops_ * slack;
}

Result<Outcome> ChildMeasurer::Measure(const BuiltKernel& kernel, double incumbent) {
  const auto unmeasured = [&kernel](double measure_seconds) {
    return Outcome{.config = kernel.config,
                   .artifact_digest = kernel.artifact_digest,
                   .compile_seconds = kernel.compile_seconds,
                   .measure_seconds = measure_seconds,
                   .steps = kernel.steps};
  };
  const std::string message =
      DumpJson({{"do", "measure"}, {"kernel", FieldsJson(kernel)}, {"incumbent", incumbent}}, -1);
  const double started = RealClock()->NowSeconds();
  for (int attempt = 0;; ++attempt) {
    HONE_RETURN_IF_ERROR(EnsureReady({kernel}));
    Outcome outcome = unmeasured(0);
    const Result<Json> answer = AskReady(message, setup_.protocol.timeout_seconds);
    const Status status = answer.ok() ? ReadOutcome(*answer, &outcome) : answer.status();
    if (status.ok()) {
      if (outcome.state == TrialState::kOk && FasterThanPossible(kernel, outcome.median)) {
        outcome = unmeasured(outcome.measure_seconds);
        outcome.error = TrialError::kWrong;
        outcome.error_text = "faster than the roofline allows";
      }
      if (outcome.error == TrialError::kWrong) Stop();  // it may have written anywhere
      // This host lacked some resource. Do not retry on a device: a new child would have to open it again, which takes
      // long.
      if (outcome.error == TrialError::kDevice && setup_.target.empty() && attempt + 1 < kMostAttempts) {
        Stop();
        continue;
      }
      // Without room for it, the job goes on without a canary.
      if (!canary_ && outcome.state == TrialState::kOk) (void)KeepCanary(kernel).ok();
      if (setup_.protocol.cooldown > 0) RealClock()->SleepSeconds(setup_.protocol.cooldown);
      return outcome;
    }
    const StatusKind kind = status.kind();
    if (kind == StatusKind::kIo && attempt + 1 < kMostAttempts) continue;
    if (kind != StatusKind::kIo && !MayBeTheKernel(status)) return status;
    outcome = unmeasured(RealClock()->NowSeconds() - started);
    outcome.error = kind == StatusKind::kTimeout ? TrialError::kTimeout
                    : kind == StatusKind::kIo    ? TrialError::kDevice
                                                 : TrialError::kCrash;
    outcome.error_text =
        kind == StatusKind::kTimeout
            ? fmt::format("no answer within {:g} s; the measuring child was killed", setup_.protocol.timeout_seconds)
            : "the measuring child " + status.message();
    return outcome;
  }
}

Status ChildMeasurer::KeepCanary(const BuiltKernel& kernel) {
  HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(kernel.path));
  BuiltKernel canary = kernel;
  canary.path = JoinPath(DirName(kernel.path), "canary");
  HONE_RETURN_IF_ERROR(WriteFileAtomic(canary.path, bytes));
  canary_ = std::move(canary);
  return Status();
}

Result<TrialError> ChildMeasurer::VerifyCanary() {
  HONE_RETURN_IF_ERROR(EnsureReady({*canary_}));
  const std::string message = DumpJson({{"do", "verify"}, {"kernel", FieldsJson(*canary_)}}, -1);
  const Result<Json> answer = AskReady(message, setup_.protocol.timeout_seconds);
  if (!answer.ok()) return MayBeTheKernel(answer.status()) ? Result<TrialError>(TrialError::kCrash) : answer.status();
  std::string name;
  const Status read = JsonReader(*answer, "its answer").Read("error", &name);
  const Result<TrialError> error = ParseTrialError(name);
  return read.ok() && error.ok() ? *error : TrialError::kCrash;
}

// A child that was replaced runs no more: its answers were plausible, and that is all that is known about them.
Result<bool> ChildMeasurer::Sound() {
  if (!canary_ || !ready_) return true;
  const auto right = [](TrialError error) { return error == TrialError::kNone || error == TrialError::kDevice; };
  HONE_ASSIGN_OR_RETURN(const TrialError here, VerifyCanary());
  if (right(here)) return true;
  Stop();
  const Result<TrialError> anew = VerifyCanary();
  if (!anew.ok() || right(*anew)) return false;  // without an answer, what was seen here stands
  Stop();
  canary_.reset();  // it is not right every time
  return true;
}

Result<std::vector<Series>> ChildMeasurer::AskInterleaved(const std::vector<BuiltKernel>& kernels, int rounds) {
  Json list = Json::array();
  for (const BuiltKernel& kernel : kernels) list.push_back(FieldsJson(kernel));
  const std::string message = DumpJson({{"do", "interleaved"}, {"kernels", list}, {"rounds", rounds}}, -1);
  for (int attempt = 0;; ++attempt) {
    HONE_RETURN_IF_ERROR(EnsureReady(kernels));
    const double timeout = setup_.protocol.timeout_seconds * static_cast<double>(kernels.size() + 1);
    const Result<Json> answer = AskReady(message, timeout);
    if (answer.ok()) {
      auto series = ReadSeries(*answer, kernels, rounds);
      const auto wrong = [](const Series& s) { return s.error == TrialError::kWrong; };
      if (!setup_.target.empty() && series.ok() && std::ranges::any_of(*series, wrong)) Stop();
      return series;
    }
    if (answer.status().kind() != StatusKind::kIo || attempt + 1 >= kMostAttempts) return answer.status();
  }
}

Result<std::vector<Series>> ChildMeasurer::ReadSeries(const Json& answer, const std::vector<BuiltKernel>& kernels,
                                                      int rounds) {
  std::vector<Series> series;
  JsonReader reader(answer, "its answer");
  Fields fields(&reader);
  fields.Value("series", &series);
  if (!fields.status().ok() || series.size() != kernels.size()) return Implausible("sent other lists of samples");
  for (size_t i = 0; i < series.size(); ++i) {
    const Status sound = CheckSeries(series[i], rounds);
    if (!sound.ok()) return Implausible(sound.message());
    if (!series[i].seconds.empty() && FasterThanPossible(kernels[i], Median(series[i].seconds))) {
      return Implausible("sent a time that is faster than the roofline allows");
    }
  }
  return series;
}

Result<std::vector<Series>> ChildMeasurer::MeasureInterleaved(const std::vector<BuiltKernel>& kernels, int rounds) {
  auto together = AskInterleaved(kernels, rounds);
  if (together.ok() || !MayBeTheKernel(together.status())) return together;
  // One of them fails occasionally. Run each alone to find out which; the others then take turns again.
  std::vector<Series> series(kernels.size());
  std::vector<BuiltKernel> sound;
  std::vector<size_t> slots;
  for (size_t i = 0; i < kernels.size(); ++i) {
    auto alone = AskInterleaved({kernels[i]}, rounds);
    if (!alone.ok()) {
      if (!MayBeTheKernel(alone.status())) return alone.status();
      const bool late = alone.status().kind() == StatusKind::kTimeout;
      series[i].error = late ? TrialError::kTimeout : TrialError::kCrash;
      series[i].error_text = "timed again: " + (late ? "no answer in time" : alone.status().message());
      continue;
    }
    series[i] = std::move((*alone)[0]);
    if (series[i].seconds.empty()) continue;
    sound.push_back(kernels[i]);
    slots.push_back(i);
  }
  if (sound.size() < 2) return series;
  together = AskInterleaved(sound, rounds);
  if (!together.ok()) {
    if (!MayBeTheKernel(together.status())) return together;
    return series;  // not interleaved, but each has a time
  }
  for (size_t k = 0; k < slots.size(); ++k) series[slots[k]] = std::move((*together)[k]);
  return series;
}

}  // namespace hone::measure

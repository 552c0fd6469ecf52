#include "measure/child_measurer.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "base/clock.h"
#include "base/fields.h"
#include "base/file.h"
#include "base/statistics.h"
#include "base/text.h"

namespace hone::measure {

// A child's later measurements of the peak may exceed the one at its start, which a neighbour may have disturbed, by
// this factor at most. Only that one precedes all candidates.
constexpr double kMostGrowth = 2;

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

Status ChildMeasurer::ReadAnswer(const std::string& text, Json* answer) {
  HONE_ASSIGN_OR_RETURN(*answer, ParseJson(text, "answer of hone-worker"));
  JsonReader reader(*answer, "answer of hone-worker");
  bool ok = false;
  double busy = -1;
  HONE_RETURN_IF_ERROR(reader.ReadOptional("busy", &busy));
  if (busy >= 0) busy_seconds_ = busy_seconds_.value_or(0) + busy;
  HONE_RETURN_IF_ERROR(reader.Read("ok", &ok));
  if (ok) {
    double peak = 0;
    HONE_RETURN_IF_ERROR(reader.ReadOptional("peak", &peak));
    if (!ready_) setup_peak_ = std::max(setup_peak_, peak);
    peak_flops_ = std::max(peak_flops_, std::min(peak, kMostGrowth * setup_peak_));
    return Status();
  }
  std::string error = "no reason given";
  HONE_RETURN_IF_ERROR(reader.ReadOptional("error", &error));
  return Status::Io("hone-worker: " + error);
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
    const std::string message = FieldsText(setup_, -1);
    auto text = Ask(message, kSetupTimeoutSeconds);
    if (text.ok()) {
      Json answer;
      const Status read = ReadAnswer(*text, &answer);
      if (!read.ok()) Stop();
      ready_ = read.ok();
      // The device has vanished: keep its measurements; the rest can be measured once it is back.
      if (!read.ok() && was_ready_ && !setup_.target.empty())
        return read.WithContext("the device does not open again; the same command goes on where this one stops");
      was_ready_ = was_ready_ || read.ok();
      return read;
    }
    const bool again = text.status().kind() == StatusKind::kIo && attempt + 1 < kMostAttempts;
    if (!again) return text.status().WithContext("hone-worker measure, setting up");
  }
}

Result<std::string> ChildMeasurer::Ask(const std::string& message, double timeout_seconds) {
  const std::string id = fmt::format("{:016x}-{}\n", nonce_, ++requests_);
  Status status = worker_.Send(id + message);
  if (status.ok()) {
    auto answer = worker_.Receive(timeout_seconds);
    if (answer.ok() && (!StartsWith(*answer, id) || worker_.Pending())) {
      answer = Status::Corrupt("sent what it was not asked for: a candidate wrote into its channel");
    }
    if (answer.ok()) {
      answer->erase(0, id.size());
      // A child whose device is lost has answered for its candidate; replace it before the next one.
      if (answer->find("\"lost\":true") != std::string::npos) Stop();
      return answer;
    }
    status = answer.status();
  }
  Stop();
  return status;
}

Status ChildMeasurer::ReadOutcome(const std::string& text, Outcome* outcome) {
  Json answer;
  HONE_RETURN_IF_ERROR(ReadAnswer(text, &answer));
  if (!answer.contains("outcome")) return Status::Corrupt("sent no outcome");
  HONE_RETURN_IF_ERROR(VerdictFromJson(answer["outcome"], outcome));
  return CheckVerdict(*outcome, setup_.protocol);
}

bool ChildMeasurer::FasterThanPossible(const BuiltKernel& kernel, double seconds) const {
  const double flop = setup_.flop * kernel.arithmetic;
  return peak_flops_ > 0 && flop > seconds * peak_flops_ * setup_.protocol.roofline_slack;
}

Result<Outcome> ChildMeasurer::Measure(const BuiltKernel& kernel, double incumbent) {
  Outcome outcome;
  outcome.config = kernel.config;
  outcome.artifact_digest = kernel.artifact_digest;
  outcome.steps = kernel.steps;
  outcome.compile_seconds = kernel.compile_seconds;
  const std::string message =
      DumpJson({{"do", "measure"}, {"kernel", FieldsJson(kernel)}, {"incumbent", incumbent}}, -1);
  const double started = RealClock()->NowSeconds();
  for (int attempt = 0;; ++attempt) {
    HONE_RETURN_IF_ERROR(EnsureReady({kernel}));
    auto text = Ask(message, setup_.protocol.timeout_seconds);
    if (text.ok()) {
      const Status read = ReadOutcome(*text, &outcome);
      if (read.kind() == StatusKind::kIo) return read;
      if (!read.ok()) {
        Stop();
        text = Status::Corrupt(read.message());
      }
    }
    if (text.ok()) {
      const bool impossible = outcome.state == TrialState::kOk && FasterThanPossible(kernel, outcome.median);
      if (impossible && attempt == 0) {  // a new child measures the peak anew, before any candidate
        Stop();
        continue;
      }
      if (impossible) {
        outcome.samples.clear();
        outcome.median = 0;
        outcome.disturbed = 0;
        outcome.state = TrialState::kFailed;
        outcome.error = TrialError::kWrong;
        outcome.error_text = "faster than the roofline allows, in two children";
      }
      // It may have written anywhere. A device takes long to open again, and its candidates run elsewhere.
      if (outcome.error == TrialError::kWrong && setup_.target.empty()) Stop();
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
    const StatusKind kind = text.status().kind();
    if (kind == StatusKind::kIo && attempt + 1 < kMostAttempts) continue;
    if (kind != StatusKind::kIo && !MayBeTheKernel(text.status())) return text.status();
    const BuiltKernel& k = kernel;
    outcome = Outcome{.config = k.config,
                      .artifact_digest = k.artifact_digest,
                      .compile_seconds = k.compile_seconds,
                      .steps = k.steps};
    outcome.measure_seconds = RealClock()->NowSeconds() - started;
    outcome.error = kind == StatusKind::kTimeout ? TrialError::kTimeout
                    : kind == StatusKind::kIo    ? TrialError::kDevice
                                                 : TrialError::kCrash;
    outcome.error_text =
        kind == StatusKind::kTimeout
            ? fmt::format("no answer within {:g} s; the measuring child was killed", setup_.protocol.timeout_seconds)
            : "the measuring child " + text.status().message();
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

// A child that is gone has nothing left to be trusted: its answers were checked, and the next one starts anew.
Result<bool> ChildMeasurer::Sound() {
  if (!canary_ || !ready_) return true;
  auto text = Ask(DumpJson({{"do", "verify"}, {"kernel", FieldsJson(*canary_)}}, -1), setup_.protocol.timeout_seconds);
  if (!text.ok()) return MayBeTheKernel(text.status()) ? Result<bool>(false) : text.status();
  Json answer;
  HONE_RETURN_IF_ERROR(ReadAnswer(*text, &answer));
  const bool right = answer.value("right", false);
  if (!right) Stop();
  return right;
}

Result<std::vector<Series>> ChildMeasurer::AskInterleaved(const std::vector<BuiltKernel>& kernels, int rounds) {
  Json list = Json::array();
  for (const BuiltKernel& kernel : kernels) list.push_back(FieldsJson(kernel));
  const std::string message = DumpJson({{"do", "interleaved"}, {"kernels", list}, {"rounds", rounds}}, -1);
  for (int attempt = 0;; ++attempt) {
    HONE_RETURN_IF_ERROR(EnsureReady(kernels));
    const double timeout = setup_.protocol.timeout_seconds * static_cast<double>(kernels.size() + 1);
    auto text = Ask(message, timeout);
    if (!text.ok()) {
      if (text.status().kind() == StatusKind::kIo && attempt + 1 < kMostAttempts) continue;
      return text.status();
    }
    Json answer;
    HONE_RETURN_IF_ERROR(ReadAnswer(*text, &answer));
    std::vector<Series> series;
    JsonReader reader(answer, "answer of hone-worker");
    Fields fields(&reader);
    fields.Value("series", &series);
    HONE_RETURN_IF_ERROR(fields.status());
    if (series.size() != kernels.size()) return Status::Corrupt("answer of hone-worker: wrong number of sample lists");
    for (size_t i = 0; i < series.size(); ++i) {
      Status sound = CheckSeries(series[i], rounds);
      const bool impossible = !series[i].seconds.empty() && FasterThanPossible(kernels[i], Median(series[i].seconds));
      if (impossible) sound = Status::Corrupt("sent a time that is faster than the roofline allows");
      if (!sound.ok()) Stop();
      HONE_RETURN_IF_ERROR(sound);
    }
    return series;
  }
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

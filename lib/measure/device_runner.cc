#include "measure/device_runner.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "base/file.h"
#include "measure/inputs.h"
#include "measure/reference.h"

namespace hone::measure {

// Duration of a sample: thousands of times the resolution of an event's clock, and much longer than the host needs to
// queue and await the runs, so that the device is busy most of the time.
constexpr double kSampleSeconds = 2e-3;
constexpr int64_t kMostRuns = 256;
// Untimed runs before a sample of several: the device is busy with them while the host queues the others. Without them
// if one takes longer than the second limit: the host is then fast enough.
constexpr double kWarmSeconds = 1e-4, kMostWarmSeconds = kSampleSeconds / 4;
constexpr int64_t kMostWarmRuns = 64;
// Copies of small constants. Each is a launch to record into a graph, so there are more only if they would fit into a
// cache of known size: kCacheFactor times that size, up to the second limit.
constexpr int64_t kMostCopies = 64, kMostCopiesOfCached = 1024;
constexpr double kCacheFactor = 2, kMemoryShare = 1.0 / 32;  // eight finalists have copies at the same time
constexpr size_t kTailBytes = 4096;                          // behind the output: one page, as on the host
constexpr char kTailMark = 0x2d;
constexpr int kAnchorEvery = 16;  // candidates, or samples where finalists take turns
// Times of one kernel on an undisturbed GPU agree within a few per cent.
constexpr double kAnchorShare = 0.9;

// Bytes of all copies of a candidate's constants: with fewer, a run would still find some of them in the device's
// cache.
static double ColdBytes(const Protocol& protocol, const runtime::DeviceInfo& info) {
  const double bytes = std::max(protocol.cold_bytes, kCacheFactor * static_cast<double>(info.cache_bytes));
  return info.memory_bytes > 0 ? std::min(bytes, kMemoryShare * static_cast<double>(info.memory_bytes)) : bytes;
}

// The number of copies of constants with `one` > 0 bytes in total.
static int64_t CopiesOf(double one, const Protocol& protocol, const runtime::DeviceInfo& info) {
  const double cached = std::ceil(kCacheFactor * static_cast<double>(info.cache_bytes) / one);
  const double most = std::clamp(cached, static_cast<double>(kMostCopies), static_cast<double>(kMostCopiesOfCached));
  return static_cast<int64_t>(std::clamp(ColdBytes(protocol, info) / one, 2.0, most));
}

static int64_t WarmRuns(double run_seconds) {
  if (run_seconds > kMostWarmSeconds) return 0;
  const double fill = std::ceil(kWarmSeconds / std::max(run_seconds, 1e-9));
  return static_cast<int64_t>(std::min(fill, static_cast<double>(kMostWarmRuns)));
}

struct DeviceRunner::DeviceCandidate : Candidate {
  explicit DeviceCandidate(DeviceRunner* owner) : runner(owner) {}
  ~DeviceCandidate() override {
    if (ring) runner->spare_ = std::move(ring);
  }

  DeviceRunner* runner;
  BuiltKernel kernel;
  std::unique_ptr<runtime::DeviceModule> module;
  std::vector<size_t> raw;  // constant operands that the kernel takes unpacked
  std::unique_ptr<Ring> ring;
  int64_t warm_runs = -1;  // before a sample of several runs; -1: nothing was timed yet
  double run_seconds = 0;  // of the newest sample
};

DeviceRunner::DeviceRunner(const TaskSetup& setup, std::unique_ptr<runtime::Device> device)
    : CandidateRunner(setup), device_(std::move(device)) {}
DeviceRunner::~DeviceRunner() = default;

Result<std::unique_ptr<DeviceRunner>> DeviceRunner::Create(const TaskSetup& setup,
                                                           std::unique_ptr<runtime::Device> device) {
  std::unique_ptr<DeviceRunner> runner(new DeviceRunner(setup, std::move(device)));
  HONE_RETURN_IF_ERROR(runner->Initialize());
  return runner;
}

Status DeviceRunner::Initialize() {
  for (const Operand& operand : setup_.operands) {
    std::vector<char> values = MakeInput(operand).bytes;
    if (operand.role == OperandRole::kOutput) values.resize(values.size() + kTailBytes, kTailMark);
    const int64_t bytes = static_cast<int64_t>(values.size());
    contents_.push_back(std::move(values));
    HONE_ASSIGN_OR_RETURN(pristine_.emplace_back(), device_->Allocate(bytes));
    HONE_ASSIGN_OR_RETURN(buffers_.emplace_back(), device_->Allocate(bytes));
  }
  HONE_RETURN_IF_ERROR(Upload());
  HONE_RETURN_IF_ERROR(ReadExpected());
  LoadSenses senses;
  const LoadLimits limits{
      .pulse_share = kAnchorShare, .pulse_every = 0, .patience_seconds = setup_.protocol.patience_seconds};
  if (limits.patience_seconds > 0) {
    senses.slowed = [this] {
      const std::string why = device_->Slowed();
      if (!why.empty()) slowed_ = why;
      return !why.empty();
    };
    senses.pulse = [this] { return Pulse(); };
  }
  guard_.emplace(limits, std::move(senses), RealClock());
  output_.resize(static_cast<size_t>(setup_.operands.back().PhysicalBytes()) + kTailBytes);
  return Status();
}

Status DeviceRunner::Upload() {
  for (size_t i = 0; i < pristine_.size(); ++i) {
    HONE_RETURN_IF_ERROR(device_->CopyIn(pristine_[i].get(), contents_[i].data(), pristine_[i]->bytes()));
  }
  return Status();
}

Status DeviceRunner::ResetBuffers() {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    HONE_RETURN_IF_ERROR(device_->Copy(buffers_[i].get(), *pristine_[i], buffers_[i]->bytes()));
  }
  return Status();
}

// The error to record if the device fails while a candidate runs. If the device is lost and does not report a fault of
// its own, the candidate caused it.
TrialError DeviceRunner::KindOf(const Status& status, TrialError otherwise) const {
  if (device_->lost()) return device_->broken() ? TrialError::kDevice : TrialError::kCrash;
  return status.kind() == StatusKind::kIo ? TrialError::kDevice : otherwise;
}

Status DeviceRunner::MakeRing(DeviceCandidate* c, std::unique_ptr<Ring> ring) {
  for (const ArgSource& arg : c->kernel.kernel_args) {
    const size_t index = static_cast<size_t>(arg.index);
    if (arg.kind == ArgSource::Kind::kPrepared || setup_.operands[index].role != OperandRole::kConstant) continue;
    if (std::find(c->raw.begin(), c->raw.end(), index) == c->raw.end()) c->raw.push_back(index);
  }
  std::vector<int64_t> sizes;
  for (const PreparedConstant& p : c->kernel.prepared) sizes.push_back(p.Bytes());
  for (const size_t index : c->raw) sizes.push_back(pristine_[index]->bytes());
  if (!ring || ring->sizes != sizes) {
    ring = std::make_unique<Ring>();
    ring->sizes = sizes;
    const auto padded = [alignment = device_->info().alignment](int64_t size) {
      return (std::max<int64_t>(size, 1) + alignment - 1) / alignment * alignment;
    };
    double one = 0;
    for (const int64_t size : sizes) {
      one += static_cast<double>(size);
      ring->stride += padded(size);
    }
    const int64_t copies = 1 + (one > 0 ? CopiesOf(one, setup_.protocol, device_->info()) : 1);
    HONE_ASSIGN_OR_RETURN(ring->memory, device_->Allocate(copies * ring->stride));
    for (int64_t i = 0; i < copies; ++i) {
      Buffers& copy = ring->copies.emplace_back();
      int64_t at = i * ring->stride;
      for (const int64_t size : sizes) {
        HONE_ASSIGN_OR_RETURN(copy.emplace_back(), device_->Part(*ring->memory, at, size));
        at += padded(size);
      }
    }
  }
  ring->used = ring->copies.size() - 1;
  ring->next = 0;
  c->ring = std::move(ring);
  return Status();
}

Status DeviceRunner::Prepare(DeviceCandidate* c) {
  const Buffers& first = c->ring->copies[0];
  if (c->kernel.has_prepare) {
    runtime::DeviceArguments arguments;
    for (const ArgSource& arg : c->kernel.prepare_args) {
      const size_t index = static_cast<size_t>(arg.index);
      arguments.push_back(arg.kind == ArgSource::Kind::kPrepared ? first[index].get() : buffers_[index].get());
    }
    HONE_RETURN_IF_ERROR(c->module->Run(c->kernel.prepare.symbol, arguments));
  }
  for (size_t i = 0; i < c->raw.size(); ++i) {
    runtime::DeviceBuffer* to = first[c->kernel.prepared.size() + i].get();
    HONE_RETURN_IF_ERROR(device_->Copy(to, *pristine_[c->raw[i]], to->bytes()));
  }
  return Status();
}

// Each copy doubles what is filled.
Status DeviceRunner::FillRing(const Ring& ring) {
  const auto copies = static_cast<int64_t>(ring.copies.size());
  for (int64_t filled = 1; ring.stride > 0 && filled < copies; filled *= 2) {
    const int64_t bytes = std::min(filled, copies - filled) * ring.stride;
    HONE_ASSIGN_OR_RETURN(const auto rest, device_->Part(*ring.memory, filled * ring.stride, bytes));
    HONE_RETURN_IF_ERROR(device_->Copy(rest.get(), *ring.memory, bytes));
  }
  return Status();
}

// At least as many as fill a sample. All samples should consist of the same few sets of runs, since queueing those
// again is quick: so uses as many runs as there are copies, or a part or a multiple of them; may leave out a few
// copies.
int64_t DeviceRunner::RunsOfASample(Candidate* candidate, double seconds) {
  const double fill = seconds > 0 ? std::ceil(kSampleSeconds / seconds) : static_cast<double>(kMostRuns);
  const auto runs = static_cast<int64_t>(std::clamp(fill, 1.0, static_cast<double>(kMostRuns)));
  if (runs == 1) return 1;
  Ring& ring = *static_cast<DeviceCandidate*>(candidate)->ring;
  ring.next = 0;
  const auto copies = static_cast<int64_t>(ring.used);
  if (runs >= copies) return (runs + copies - 1) / copies * copies;
  const int64_t sets = copies / runs;
  ring.used = static_cast<size_t>(copies / sets * sets);
  return copies / sets;
}

runtime::DeviceArguments DeviceRunner::ArgumentsOf(const DeviceCandidate& c, size_t copy) const {
  const Buffers& constants = c.ring->copies[copy];
  runtime::DeviceArguments arguments;
  for (const ArgSource& arg : c.kernel.kernel_args) {
    const size_t index = static_cast<size_t>(arg.index);
    const auto raw = std::find(c.raw.begin(), c.raw.end(), index);
    if (arg.kind == ArgSource::Kind::kPrepared) {
      arguments.push_back(constants[index].get());
    } else if (raw != c.raw.end()) {
      arguments.push_back(constants[c.kernel.prepared.size() + static_cast<size_t>(raw - c.raw.begin())].get());
    } else {
      arguments.push_back(buffers_[index].get());
    }
  }
  return arguments;
}

Result<std::unique_ptr<CandidateRunner::Candidate>> DeviceRunner::Ready(const BuiltKernel& kernel, bool timed,
                                                                        TrialError* error) {
  *error = TrialError::kCompile;
  current_phase = "loading";
  auto c = std::make_unique<DeviceCandidate>(this);
  c->kernel = kernel;
  HONE_RETURN_IF_ERROR(CheckArgs(kernel, setup_.operands));
  Artifact artifact{.format = kernel.format};
  *error = TrialError::kDevice;  // its file is gone
  HONE_ASSIGN_OR_RETURN(artifact.bytes, ReadFile(kernel.path));
  artifact.entries.push_back(kernel.kernel);
  if (kernel.has_prepare) artifact.entries.push_back(kernel.prepare);
  const auto on_device = [&]() -> Status {
    HONE_ASSIGN_OR_RETURN(c->module, device_->Load(artifact));
    current_phase = "packing constants";
    HONE_RETURN_IF_ERROR(ResetBuffers());
    HONE_RETURN_IF_ERROR(MakeRing(c.get(), std::move(spare_)));
    HONE_RETURN_IF_ERROR(Prepare(c.get()));
    current_phase = "verifying";
    return c->module->Run(kernel.kernel.symbol, ArgumentsOf(*c, 0));
  };
  if (const Status ran = on_device(); !ran.ok()) {
    *error = KindOf(ran, TrialError::kCompile);
    return ran;
  }
  HONE_RETURN_IF_ERROR(CheckOutput(*c, error));
  if (const Status filled = timed ? FillRing(*c->ring) : Status(); !filled.ok()) {
    *error = KindOf(filled, TrialError::kDevice);
    return filled;
  }
  return std::unique_ptr<Candidate>(std::move(c));
}

Status DeviceRunner::CheckOutput(const DeviceCandidate& c, TrialError* error) {
  const Status copied = device_->CopyOut(output_.data(), *buffers_.back(), buffers_.back()->bytes());
  if (!copied.ok()) {
    *error = KindOf(copied, TrialError::kDevice);
    return copied;
  }
  const auto difference =
      FirstDifference(setup_.operands.back(), output_.data(), reference(), tolerance() + c.kernel.rounding);
  const auto marked = [](char value) { return value == kTailMark; };
  if (!difference && std::all_of(output_.end() - kTailBytes, output_.end(), marked)) return Status();
  // It may have written anywhere. If this fails, so does the next use of the device.
  (void)Upload().ok();
  *error = TrialError::kWrong;
  return Status::Invalid(difference ? *difference : "it wrote behind its output");
}

Status DeviceRunner::CheckAgain(Candidate* candidate, TrialError* error) {
  auto* c = static_cast<DeviceCandidate*>(candidate);
  const Status status = CheckOutput(*c, error);
  if (status.ok()) KeepAnchor(c);
  if (status.ok() || *error != TrialError::kWrong) return status;
  return Status::Invalid("right at first, then not: " + status.message());
}

Status DeviceRunner::CheckShared(Candidate* candidate, int64_t number, TrialError* error) {
  auto* c = static_cast<DeviceCandidate*>(candidate);
  const auto restore = [&]() -> Status {  // another candidate may have written into all of it
    HONE_RETURN_IF_ERROR(Upload());
    HONE_RETURN_IF_ERROR(ResetBuffers());
    HONE_RETURN_IF_ERROR(Prepare(c));
    return FillRing(*c->ring);
  };
  if (const Status restored = restore(); !restored.ok()) {
    *error = KindOf(restored, TrialError::kDevice);
    return restored;
  }
  HONE_RETURN_IF_ERROR(Time(candidate, number, error).status());
  return CheckAgain(candidate, error);
}

Result<DeviceRunner::Sample> DeviceRunner::Time(Candidate* candidate, int64_t number, TrialError* error) {
  auto* c = static_cast<DeviceCandidate*>(candidate);
  Ring& ring = *c->ring;
  // They leave the timed copies alone, which would be in the caches otherwise.
  const runtime::DeviceRuns before({ArgumentsOf(*c, 0)}, number > 1 ? std::max<int64_t>(c->warm_runs, 0) : 0);
  runtime::DeviceRuns runs({}, number);
  if (number >= std::ssize(ring.copies) - 1) ring.next = 0;  // all copies in turn: always from the first, as one graph
  while (std::ssize(runs.arguments) < std::min(number, static_cast<int64_t>(ring.used))) {
    runs.arguments.push_back(ArgumentsOf(*c, 1 + ring.next));
    ring.next = (ring.next + 1) % ring.used;
  }
  while (true) {
    guard_->BeginRun();
    const Result<double> seconds = c->module->Time(c->kernel.kernel.symbol, before, runs);
    if (!seconds.ok()) {
      *error = KindOf(seconds.status(), TrialError::kCompile);
      return seconds.status();
    }
    c->run_seconds = *seconds / static_cast<double>(number);
    if (c->warm_runs < 0) c->warm_runs = WarmRuns(c->run_seconds);  // one graph for all samples
    const LoadGuard::Verdict verdict = guard_->EndRun(*seconds);
    if (verdict != LoadGuard::Verdict::kAgain) return Sample{*seconds, verdict == LoadGuard::Verdict::kDisturbed};
  }
}

void DeviceRunner::BeginPatience() {
  guard_->BeginCandidate();
  --anchor_due_;
}

// Until the anchor is as fast as before, it runs after each sample.
double DeviceRunner::Pulse() {
  if (!anchor_ || anchor_due_ > 0) return 1;
  const double share = anchor_->Share();
  if (share < kAnchorShare) {
    slowed_ = "the anchor, a kernel that is timed again and again, takes longer than before";
  } else {
    anchor_due_ = kAnchorEvery;
  }
  return share;
}

void DeviceRunner::KeepAnchor(DeviceCandidate* c) {
  if (anchor_ || setup_.protocol.patience_seconds <= 0) return;
  const runtime::DeviceArguments arguments = ArgumentsOf(*c, 0);
  std::vector<bool> own;
  for (const ArgSource& arg : c->kernel.kernel_args) {
    own.push_back(arg.kind == ArgSource::Kind::kPrepared ||
                  setup_.operands[static_cast<size_t>(arg.index)].role != OperandRole::kData);
  }
  auto anchor = DeviceAnchor::Create(device_.get(), std::move(c->module), c->kernel.kernel.symbol, arguments, own,
                                     c->run_seconds);
  if (anchor.ok()) anchor_ = *std::move(anchor);  // else memory is short, and there is no anchor
}

}  // namespace hone::measure

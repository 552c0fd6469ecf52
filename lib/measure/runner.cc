#include "measure/runner.h"

#include <atomic>
#include <cstring>
#include <limits>

#include "base/clock.h"
#include "base/file.h"
#include "base/rng.h"
#include "measure/inputs.h"
#include "measure/reference.h"
#include "runtime/host/peak.h"

namespace hone::measure {

constexpr double kPeakSeconds = 0.015;  // long enough for the clocks to settle
constexpr double kPulseSeconds = 0.0002;
// After idling or computing in registers, a machine needs some tens of milliseconds of traffic to bring its last-level
// cache and memory up to speed. Until then kernels take a third longer, which busy networks never see.
constexpr double kWarmSeconds = 0.06;

struct Runner::HostCandidate : Candidate {
  explicit HostCandidate(LoadedKernel kernel) : loaded(std::move(kernel)) {}

  LoadedKernel loaded;
  std::vector<size_t> constants;  // constant operands that the kernel takes unpacked
  std::vector<int64_t> sizes;     // of prepared constants, then of unpacked ones
  std::vector<const char*> contents;
  std::vector<char*> operands;  // addresses for the next run
  std::vector<char*> prepared;
  ColdRing* ring = nullptr;
  uint64_t output = 0;  // OutputDigest of the verified output
};

Result<std::unique_ptr<Runner>> Runner::Create(const TaskSetup& setup) {
  std::unique_ptr<Runner> runner(new Runner(setup));
  HONE_RETURN_IF_ERROR(runner->Initialize());
  return runner;
}

Status Runner::Initialize() {
  HONE_ASSIGN_OR_RETURN(pool_, runtime::ThreadPool::Create(setup_.threads, /*pin=*/true));
  for (const Operand& operand : setup_.operands) {
    HONE_ASSIGN_OR_RETURN(buffers_.emplace_back(),
                          runtime::AlignedBuffer::Create(operand.PhysicalBytes(), /*guard=*/true));
    HONE_ASSIGN_OR_RETURN(pristine_.emplace_back(), Sealed(MakeInput(operand).view()));
  }
  HONE_RETURN_IF_ERROR(ReadExpected());
  MeasurePeaks();
  LoadSenses senses;
  LoadLimits limits{.patience_seconds = setup_.protocol.patience_seconds};
  if (limits.patience_seconds > 0) {
    meter_.emplace();
    senses = {[this] { meter_->Start(); }, [this] { return meter_->Lost(); }, [this] { return meter_->Stolen(); },
              [this] { return Pulse(); }};
  }
  guard_.emplace(limits, std::move(senses), RealClock());
  return Status();
}

void Runner::MeasurePeaks() {
  fma_peak_ = std::max(fma_peak_, runtime::MeasureFmaPeak(&*pool_, kPeakSeconds));
  if (setup_.OfBytes()) byte_peak_ = std::max(byte_peak_, runtime::MeasureDot4Peak(&*pool_, kPeakSeconds));
}

double Runner::Pulse() {
  if (fma_peak_ <= 0) return 1;
  const double rate = runtime::MeasureFmaPeak(&*pool_, kPulseSeconds);
  fma_peak_ = std::max(fma_peak_, rate);
  return rate / fma_peak_;
}

void Runner::ResetBuffers() {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    std::memcpy(buffers_[i].data(), pristine_[i].data(), static_cast<size_t>(pristine_[i].bytes()));
    buffers_[i].Mend();  // do not blame this candidate for an earlier one
  }
}

namespace {

// Writes every line without changing it: the line ends up modified in the private cache of the thread that will read
// (most of) it, as after a producer with the same static partition.
void TouchBody(void* closure, int64_t begin, int64_t end, char*) {
  char* data = static_cast<char*>(closure);
  for (int64_t line = begin; line < end; ++line) {
    volatile float* at = reinterpret_cast<volatile float*>(data + line * 64);
    *at = *at;
  }
}

}  // namespace

void Runner::TouchData() {
  for (size_t i = buffers_.size(); i-- > 0;) {  // last the anchor's input, operand 0, as its producer ran last
    if (setup_.operands[i].role != OperandRole::kData) continue;
    hone_pool_launch(pool_->get(), TouchBody, buffers_[i].data(), (buffers_[i].bytes() + 63) / 64);
  }
}

namespace {

struct Output {
  char* data;
  int64_t bytes;
  std::atomic<uint64_t> digest{0};
};

// A digest over lines of 64 bytes, each read by the thread that owns it, so that lines stay in its cache. Eight chains,
// one for each word of a line; unrolled, they stay in registers, which is five times as fast.
void DigestBody(void* closure, int64_t begin, int64_t end, char*) {
  Output* output = static_cast<Output*>(closure);
  uint64_t chain[8];
  for (int i = 0; i < 8; ++i) chain[i] = Mix64(static_cast<uint64_t>(begin) * 8 + i + 1);
  const auto add = [&chain](const char* line) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      uint64_t word;
      std::memcpy(&word, line + i * 8, 8);
      chain[i] = (chain[i] ^ word) * 0x9E3779B97F4A7C15ull;
    }
  };
  const int64_t whole = std::min(end, output->bytes / 64);
  for (int64_t line = begin; line < whole; ++line) add(output->data + line * 64);
  if (whole < end) {
    char rest[64] = {};
    std::memcpy(rest, output->data + whole * 64, static_cast<size_t>(output->bytes - whole * 64));
    add(rest);
  }
  uint64_t digest = 0;
  for (const uint64_t c : chain) digest = Mix64(digest ^ c);
  output->digest.fetch_xor(digest, std::memory_order_relaxed);
}

uint64_t OutputDigest(runtime::AlignedBuffer* buffer, runtime::ThreadPool* pool) {
  Output output{buffer->data(), buffer->bytes()};
  hone_pool_launch(pool->get(), DigestBody, &output, (buffer->bytes() + 63) / 64);
  return output.digest.load();
}

constexpr const char* kBeside = "it wrote beside a buffer";

// Puts a NaN into the first element of every line, which exposes a kernel that does not write it again.
void SpoilBody(void* closure, int64_t begin, int64_t end, char*) {
  char* data = static_cast<char*>(closure);
  constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();
  for (int64_t line = begin; line < end; ++line) std::memcpy(data + line * 64, &kNothing, sizeof kNothing);
}

}  // namespace

bool Runner::FencesStand(const HostCandidate& c) const {
  return std::ranges::all_of(buffers_, &runtime::AlignedBuffer::Intact) && c.loaded.Intact();
}

Status Runner::CheckOutput(const HostCandidate& c) const {
  const auto difference = FirstDifference(setup_.operands.back(), buffers_.back().data(), reference(),
                                          tolerance() + c.loaded.built().rounding);
  return difference ? Status::Invalid(*difference) : Status();
}

Status Runner::CheckRun(HostCandidate* c) {
  Status right = FencesStand(*c) && c->ring->Intact() ? Status() : Status::Invalid(kBeside);
  runtime::AlignedBuffer& output = buffers_.back();
  // A kernel may sum in a different order in each run.
  if (right.ok() && OutputDigest(&output, &*pool_) != c->output) right = CheckOutput(*c);
  if (!right.ok()) {
    rings_.Forget();
    return right.WithContext("right at first, then not");
  }
  hone_pool_launch(pool_->get(), SpoilBody, output.data(), (output.bytes() + 63) / 64);
  return Status();
}

Result<Runner::Sample> Runner::Time(Candidate* candidate, int64_t number, TrialError* error) {
  auto* c = static_cast<HostCandidate*>(candidate);
  while (true) {
    const std::vector<char*>& copy = c->ring->Next();
    std::copy_n(copy.begin(), c->prepared.size(), c->prepared.begin());
    for (size_t i = 0; i < c->constants.size(); ++i) c->operands[c->constants[i]] = copy[c->prepared.size() + i];
    c->loaded.Bind(c->operands, c->prepared);
    guard_->BeginRun();  // a neighbour that runs while the data is fetched empties the caches again
    TouchData();
    const double start = RealClock()->NowSeconds();
    for (int64_t i = 0; i < number; ++i) c->loaded.Run();
    const double seconds = RealClock()->NowSeconds() - start;
    const LoadGuard::Verdict verdict = guard_->EndRun(seconds);
    *error = TrialError::kWrong;
    HONE_RETURN_IF_ERROR(CheckRun(c));
    if (verdict != LoadGuard::Verdict::kAgain) return Sample{seconds, verdict == LoadGuard::Verdict::kDisturbed};
  }
}

Result<std::unique_ptr<CandidateRunner::Candidate>> Runner::Ready(const BuiltKernel& kernel, bool timed,
                                                                  TrialError* error) {
  *error = TrialError::kCompile;
  current_phase = "loading";
  auto loading = LoadedKernel::Load(kernel, setup_.operands, &*pool_);
  if (!loading.ok()) {
    const bool refused = loading.status().kind() == StatusKind::kIo;  // for example, out of memory
    if (refused || !Exists(kernel.path)) *error = TrialError::kDevice;
    return loading.status();
  }
  auto c = std::make_unique<HostCandidate>(*std::move(loading));
  *error = TrialError::kDevice;
  current_phase = "packing constants";
  ResetBuffers();
  for (auto& buffer : buffers_) c->operands.push_back(buffer.data());
  HONE_RETURN_IF_ERROR(c->loaded.Prepare(c->operands));
  for (auto& buffer : c->loaded.prepared()) {
    c->sizes.push_back(buffer.bytes());
    c->contents.push_back(buffer.data());
  }
  c->prepared.resize(c->loaded.prepared().size());
  for (const ArgSource& arg : c->loaded.built().kernel_args) {
    const size_t index = static_cast<size_t>(arg.index);
    if (arg.kind == ArgSource::Kind::kPrepared) continue;
    if (setup_.operands[index].role != OperandRole::kConstant) continue;
    c->constants.push_back(index);
    c->sizes.push_back(buffers_[index].bytes());
    c->contents.push_back(buffers_[index].data());
  }
  if (timed) {
    HONE_ASSIGN_OR_RETURN(c->ring, rings_.Get(c->sizes, c->contents, &*pool_));
  }
  current_phase = "verifying";
  // Verify on the constants as they were packed, each between its guards; the copies for timing lie side by side, with
  // marked bytes between them.
  for (size_t i = 0; i < c->prepared.size(); ++i) c->prepared[i] = c->loaded.prepared()[i].data();
  c->loaded.Bind(c->operands, c->prepared);
  c->loaded.Run();
  // A wrong kernel may have written anywhere, including into the copies of the constants.
  *error = TrialError::kWrong;
  const Status right = FencesStand(*c) ? CheckOutput(*c) : Status::Invalid(kBeside);
  if (!right.ok()) {
    rings_.Forget();
    return right;
  }
  c->output = OutputDigest(&buffers_.back(), &*pool_);
  return std::unique_ptr<Candidate>(std::move(c));
}

void Runner::Mend(Candidates* candidates) {
  ResetBuffers();
  for (const auto& candidate : *candidates) {
    const auto* c = static_cast<const HostCandidate*>(candidate.get());
    if (c == nullptr || c->ring->Fill(c->sizes, c->contents, setup_.protocol.cold_bytes, &*pool_).ok()) continue;
    candidates->clear();  // out of memory: keep the times so far
    return;
  }
}

bool Runner::FasterThanPossible(double flops) {
  if (!CandidateRunner::FasterThanPossible(flops)) return false;
  // The peak may have been measured, now or before, while something else was running: reject a kernel only by a bound
  // that no load can lower.
  MeasurePeaks();
  const double bound =
      setup_.OfBytes() ? runtime::MeasureDot4Bound(setup_.threads) : runtime::MeasureArithmeticBound(setup_.threads);
  return CandidateRunner::FasterThanPossible(flops) && flops > bound * setup_.protocol.roofline_slack;
}

double Runner::warm_seconds() const { return kWarmSeconds; }

}  // namespace hone::measure

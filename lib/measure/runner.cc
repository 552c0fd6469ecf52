#include "measure/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "base/text.h"
#include "measure/inputs.h"
#include "measure/reference_file.h"
#include "measure/verify.h"
#include "runtime/host/peak.h"

namespace hone::measure {

const char* volatile current_phase = "starting";

namespace {

constexpr double kPeakSeconds = 0.015;  // long enough for the clocks to settle
constexpr double kBoundSeconds = 0.1;   // some turns of the scheduler

}  // namespace

struct Runner::Candidate {
  LoadedKernel loaded;
  std::vector<size_t> constants;  // operands that are constants and go to the kernel as they are
  std::vector<int64_t> sizes;     // of prepared constants, then of these
  std::vector<const char*> contents;
  std::vector<char*> operands;  // addresses for the next run
  std::vector<char*> prepared;
  ColdRing* ring = nullptr;
};

Result<std::unique_ptr<Runner>> Runner::Create(const TaskSetup& setup) {
  std::unique_ptr<Runner> runner(new Runner(setup));
  HONE_RETURN_IF_ERROR(runner->Initialize());
  return runner;
}

Status Runner::Initialize() {
  HONE_ASSIGN_OR_RETURN(pool_, runtime::ThreadPool::Create(setup_.threads, /*pin=*/true));
  for (const Operand& operand : setup_.operands) {
    const int64_t elements = operand.PhysicalElements();
    HONE_ASSIGN_OR_RETURN(auto buffer, runtime::AlignedBuffer::Create(elements * 4, /*guard=*/true));
    std::vector<float> values(static_cast<size_t>(elements));
    FillOperand(operand, values.data());
    pristine_.push_back(std::move(values));
    buffers_.push_back(std::move(buffer));
  }
  HONE_ASSIGN_OR_RETURN(reference_, ReadReference(setup_.reference_path, setup_.reference_key));
  if (static_cast<int64_t>(reference_.size()) != setup_.operands.back().PhysicalElements()) {
    return Status::Corrupt(setup_.reference_path + ": has the wrong number of elements");
  }
  tolerance_ = Tolerance(ReductionLength(setup_.operands));
  peak_flops_ = runtime::MeasureFmaPeak(&*pool_, kPeakSeconds);
  return Status();
}

void Runner::ResetBuffers() {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    std::memcpy(buffers_[i].data(), pristine_[i].data(), pristine_[i].size() * 4);
  }
}

namespace {

struct Range {
  char* data;
};

// Writes every line without changing it: the line ends up modified in the private cache of the thread that is to read
// (most of) it, as after a producer with the same static partition.
void TouchBody(void* closure, int64_t begin, int64_t end, char*) {
  char* data = static_cast<Range*>(closure)->data;
  for (int64_t line = begin; line < end; ++line) {
    volatile float* at = reinterpret_cast<volatile float*>(data + line * 64);
    *at = *at;
  }
}

}  // namespace

void Runner::TouchData() {
  for (size_t i = buffers_.size(); i-- > 0;) {  // the anchor's input, operand 0, was produced last
    if (setup_.operands[i].role != Operand::Role::kData) continue;
    Range range{buffers_[i].data()};
    hone_pool_launch(pool_->get(), TouchBody, &range, (buffers_[i].bytes() + 63) / 64);
  }
}

double Runner::TimedRun(Candidate* c, int64_t number) {
  const std::vector<char*>& copy = c->ring->Next();
  std::copy_n(copy.begin(), c->prepared.size(), c->prepared.begin());
  for (size_t i = 0; i < c->constants.size(); ++i) c->operands[c->constants[i]] = copy[c->prepared.size() + i];
  TouchData();
  const double start = RealClock()->NowSeconds();
  for (int64_t i = 0; i < number; ++i) c->loaded.Run(c->operands, c->prepared);
  return RealClock()->NowSeconds() - start;
}

std::vector<double> Runner::TimedBlocks(Candidate* c) {
  const Protocol& protocol = setup_.protocol;
  std::vector<double> samples;
  int64_t number = protocol.number;
  while (static_cast<int64_t>(samples.size()) < protocol.repeat) {
    const double seconds = TimedRun(c, number);
    if (seconds < protocol.min_repeat_seconds) {
      number = NextNumber(number, seconds, protocol.min_repeat_seconds);
    } else {
      samples.push_back(seconds / static_cast<double>(number));
    }
  }
  return samples;
}

Status Runner::Ready(Candidate* c, TrialError* error) {
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
  for (const ArgRef& arg : c->loaded.built().kernel_args) {
    const size_t index = static_cast<size_t>(arg.index);
    if (arg.prepared || setup_.operands[index].role != Operand::Role::kConstant) continue;
    c->constants.push_back(index);
    c->sizes.push_back(buffers_[index].bytes());
    c->contents.push_back(buffers_[index].data());
  }
  HONE_ASSIGN_OR_RETURN(c->ring, rings_.Get(c->sizes, c->contents, &*pool_));
  current_phase = "verifying";
  TimedRun(c);
  auto difference = FirstDifference(setup_.operands.back(), buffers_.back().as<float>(), reference_.data(),
                                    tolerance_ + c->loaded.built().rounding);
  if (!difference) return Status();
  // A wrong kernel may have written anywhere: into the copies of the constants too.
  rings_.Forget();
  *error = TrialError::kWrong;
  return Status::Invalid(*difference);
}

bool Runner::FasterThanPossible(double flop, double seconds) {
  if (flop <= 0 || peak_flops_ <= 0) return false;
  const auto beyond = [&](double rate) { return flop / seconds > rate * setup_.protocol.roofline_slack; };
  if (!beyond(peak_flops_)) return false;
  // The peak may have been measured while something else was running, and it may still: a kernel is condemned by what no
  // load can hide.
  peak_flops_ = std::max(peak_flops_, runtime::MeasureFmaPeak(&*pool_, kPeakSeconds));
  return beyond(peak_flops_) && beyond(runtime::MeasureFmaBound(setup_.threads, kBoundSeconds));
}

Outcome Runner::Measure(const BuiltKernel& kernel, double incumbent) {
  const double started = RealClock()->NowSeconds();
  Outcome outcome;
  const auto failed = [&](TrialError error, const std::string& text) {
    outcome.state = TrialState::kFailed;
    outcome.error = error;
    outcome.error_text = text;
    outcome.median = 0;
    outcome.measure_seconds = RealClock()->NowSeconds() - started;
    return outcome;
  };
  current_phase = "loading";
  auto loaded = LoadedKernel::Load(kernel, setup_.operands, &*pool_);
  if (!loaded.ok()) return failed(TrialError::kCompile, loaded.status().message());
  Candidate candidate{std::move(*loaded), {}, {}, {}, {}, {}, nullptr};
  TrialError error;
  const Status ready = Ready(&candidate, &error);
  if (!ready.ok()) return failed(error, ready.message());

  current_phase = "timing";
  StoppingRule rule(setup_.protocol, incumbent);
  if (setup_.protocol.number > 0) {
    outcome.samples = TimedBlocks(&candidate);
    outcome.median = Median(outcome.samples);
  } else {
    while (rule.Add(TimedRun(&candidate)) == StoppingRule::Verdict::kMore) {
    }
    outcome.samples = rule.samples();
    outcome.median = rule.median();
  }
  const double flop = setup_.flop * kernel.arithmetic;
  if (FasterThanPossible(flop, outcome.median)) {
    return failed(TrialError::kWrong,
                  fmt::format("faster than the roofline allows: {} for {}, the peak is {}",
                              FormatSeconds(outcome.median), FormatSi(flop, "FLOP"), FormatSi(peak_flops_, "FLOP/s")));
  }
  outcome.state = rule.pruned() ? TrialState::kPruned : TrialState::kOk;
  outcome.measure_seconds = RealClock()->NowSeconds() - started;
  current_phase = "waiting";
  return outcome;
}

std::vector<std::vector<double>> Runner::MeasureInterleaved(const std::vector<BuiltKernel>& kernels, int rounds) {
  std::vector<std::vector<double>> samples(kernels.size());
  std::vector<std::unique_ptr<Candidate>> candidates(kernels.size());
  RingCache rings(setup_.protocol.cold_bytes, kernels.size());  // all of them stay alive together
  std::swap(rings, rings_);
  for (size_t i = 0; i < kernels.size(); ++i) {
    current_phase = "loading";
    auto loaded = LoadedKernel::Load(kernels[i], setup_.operands, &*pool_);
    if (!loaded.ok()) continue;
    auto candidate = std::make_unique<Candidate>(Candidate{std::move(*loaded), {}, {}, {}, {}, {}, nullptr});
    TrialError error;
    if (Ready(candidate.get(), &error).ok()) candidates[i] = std::move(candidate);
  }
  current_phase = "timing";
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (!candidates[i]) continue;
      const int64_t number = std::max<int64_t>(setup_.protocol.number, 1);
      samples[i].push_back(TimedRun(candidates[i].get(), number) / static_cast<double>(number));
    }
  }
  std::swap(rings, rings_);
  current_phase = "waiting";
  return samples;
}

}  // namespace hone::measure

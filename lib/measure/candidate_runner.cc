#include "measure/candidate_runner.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/clock.h"
#include "base/statistics.h"
#include "base/text.h"
#include "measure/inputs.h"
#include "measure/reference.h"

namespace hone::measure {

const char* volatile current_phase = "starting";

Result<runtime::AlignedBuffer> Sealed(std::string_view bytes) {
  HONE_ASSIGN_OR_RETURN(auto buffer, runtime::AlignedBuffer::Create(static_cast<int64_t>(bytes.size())));
  std::memcpy(buffer.data(), bytes.data(), bytes.size());
  HONE_RETURN_IF_ERROR(buffer.Seal());
  return buffer;
}

// Weights are scaled so that sums of their products are of order 1. Sums of products of data grow with the root of their
// number, and so do their errors.
static double ToleranceOf(const TaskSetup& setup) {
  const int64_t length = std::max(ReductionLength(setup.operands), setup.products);
  return Tolerance(length) * std::sqrt(static_cast<double>(setup.products));
}

Status CandidateRunner::ReadExpected() {
  HONE_ASSIGN_OR_RETURN(const TensorData reference,
                        ReadReference(setup_.reference_path, setup_.reference_key, setup_.operands.back()));
  const double tolerance = ToleranceOf(setup_);
  HONE_ASSIGN_OR_RETURN(reference_, Sealed(reference.view()));
  HONE_ASSIGN_OR_RETURN(tolerance_, Sealed({reinterpret_cast<const char*>(&tolerance), sizeof tolerance}));
  return Status();
}

bool CandidateRunner::FasterThanPossible(double flops) {
  return peak_flops() > 0 && flops > peak_flops() * setup_.protocol.roofline_slack;
}

Status CandidateRunner::TimeBlocks(Candidate* candidate, Outcome* outcome, TrialError* error) {
  const Protocol& protocol = setup_.protocol;
  int64_t number = protocol.number;
  while (static_cast<int64_t>(outcome->samples.size()) < protocol.repeat) {
    HONE_ASSIGN_OR_RETURN(const Sample sample, Time(candidate, number, error));
    if (const double wanted = 1e-3 * protocol.min_repeat_ms; sample.seconds < wanted) {
      number = NextNumber(number, sample.seconds, wanted);
      continue;
    }
    outcome->samples.push_back(sample.seconds / static_cast<double>(number));
    outcome->disturbed += sample.disturbed;
  }
  outcome->median = TrimmedMean(outcome->samples);
  outcome->state = TrialState::kOk;
  return Status();
}

Status CandidateRunner::TimeSamples(Candidate* candidate, double incumbent, Outcome* outcome, TrialError* error) {
  StoppingRule rule(setup_.protocol, incumbent);
  HONE_ASSIGN_OR_RETURN(Sample sample, Time(candidate, 1, error));
  const int64_t number = RunsOfASample(candidate, sample.seconds);
  // The time of a single short run is mostly overhead: use it only to choose the number of runs in a sample.
  if (number > 1) {
    HONE_ASSIGN_OR_RETURN(sample, Time(candidate, number, error));
  }
  double total = 0;  // of all runs; the rule counts one per sample
  // If patience ran out after enough undisturbed samples, the disturbed one is not needed.
  while (!(sample.disturbed && rule.disturbed() == 0 && rule.Enough())) {
    const double seconds = sample.seconds / static_cast<double>(number);
    if (rule.Add(seconds, sample.disturbed) != StoppingRule::Verdict::kMore) break;
    total += sample.seconds;
    if (rule.Enough() && total >= setup_.protocol.usual_seconds) break;
    HONE_ASSIGN_OR_RETURN(sample, Time(candidate, number, error));
  }
  outcome->samples = rule.samples();
  outcome->median = rule.median();
  outcome->disturbed = rule.disturbed();
  outcome->state = rule.pruned() ? TrialState::kPruned : TrialState::kOk;
  return Status();
}

Outcome CandidateRunner::Measure(const BuiltKernel& kernel, double incumbent) {
  const double started = RealClock()->NowSeconds();
  Outcome outcome;
  TrialError error = TrialError::kNone;
  const auto measure = [&]() -> Status {
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Candidate> candidate, Ready(kernel, /*timed=*/true, &error));
    BeginPatience();
    current_phase = "timing";
    HONE_RETURN_IF_ERROR(setup_.protocol.number > 0 ? TimeBlocks(candidate.get(), &outcome, &error)
                                                    : TimeSamples(candidate.get(), incumbent, &outcome, &error));
    HONE_RETURN_IF_ERROR(CheckAgain(candidate.get(), &error));
    outcome.retaken = retaken();
    const double flop = setup_.flop * kernel.arithmetic;
    if (flop <= 0 || !FasterThanPossible(flop / outcome.median)) return Status();
    error = TrialError::kWrong;
    return Status::Invalid("faster than the roofline allows: {} for {}, the peak is {}", FormatSeconds(outcome.median),
                           FormatSi(flop, "FLOP"), FormatSi(peak_flops(), "FLOP/s"));
  };
  if (const Status status = measure(); !status.ok()) {
    outcome = Outcome();
    outcome.error = error;
    outcome.error_text = status.message();
  }
  outcome.measure_seconds = RealClock()->NowSeconds() - started;
  current_phase = "waiting";
  return outcome;
}

TrialError CandidateRunner::Verify(const BuiltKernel& kernel) {
  TrialError error = TrialError::kNone;
  const bool right = Ready(kernel, /*timed=*/false, &error).ok();
  current_phase = "waiting";
  return right ? TrialError::kNone : error;
}

std::vector<Series> CandidateRunner::MeasureInterleaved(const std::vector<BuiltKernel>& kernels, int rounds) {
  std::vector<Series> series(kernels.size());
  Candidates candidates(kernels.size());
  const auto failed = [&](size_t i, TrialError error, const Status& status) {
    series[i] = Series();
    candidates[i].reset();
    if (error == TrialError::kDevice) return;  // not its fault: keep its first time
    series[i].error = error;
    series[i].error_text = status.message();
  };
  KeepConstants(kernels.size());
  bool spoilt = false;  // a wrong kernel may have overwritten what the others share
  for (size_t i = 0; i < kernels.size() && !lost(); ++i) {
    TrialError error = TrialError::kNone;
    Result<std::unique_ptr<Candidate>> ready = Ready(kernels[i], /*timed=*/true, &error);
    if (ready.ok()) {
      candidates[i] = std::move(*ready);
    } else if (error == TrialError::kWrong) {
      failed(i, error, ready.status());
      spoilt = true;
    }
  }
  if (spoilt) Mend(&candidates);
  current_phase = "timing";
  std::vector<int64_t> numbers(kernels.size(), std::max<int64_t>(setup_.protocol.number, 1));
  const double warm_at = RealClock()->NowSeconds() + warm_seconds();
  const auto any = [&] { return std::ranges::any_of(candidates, [](const auto& c) { return c != nullptr; }); };
  bool warm = false;  // the first round only determines how many runs a sample needs
  for (int round = 0; round < rounds && any();) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (!candidates[i] || lost()) continue;
      TrialError error = TrialError::kNone;
      BeginPatience();
      const Result<Sample> sample = Time(candidates[i].get(), numbers[i], &error);
      if (!sample.ok()) {
        failed(i, error, sample.status());
        Mend(&candidates);
      } else if (warm) {
        series[i].seconds.push_back(sample->seconds / static_cast<double>(numbers[i]));
        series[i].disturbed += sample->disturbed;
        series[i].retaken += retaken();
      } else if (setup_.protocol.number == 0) {
        numbers[i] = RunsOfASample(candidates[i].get(), sample->seconds / static_cast<double>(numbers[i]));
      }
    }
    round += warm;
    warm = RealClock()->NowSeconds() >= warm_at;
  }
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i]) continue;
    TrialError error = TrialError::kDevice;  // device lost: its output cannot be checked
    const Status status = lost() ? Status::Io("lost") : CheckShared(candidates[i].get(), numbers[i], &error);
    if (!status.ok()) failed(i, error, status);
  }
  candidates.clear();
  current_phase = "waiting";
  return series;
}

}  // namespace hone::measure

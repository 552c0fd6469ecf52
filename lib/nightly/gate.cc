#include "nightly/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/rank_test.h"
#include "base/statistics.h"

namespace hone::nightly {
namespace {

constexpr size_t kLeastProcesses = 5;
constexpr double kLeastChange = 0.02;
constexpr double kDeviations = 4;
constexpr double kSignificance = 0.01;
constexpr double kConfidence = 0.99;
constexpr double kResolution = 0.05;

std::vector<double> Logarithms(const std::vector<double>& values) {
  std::vector<double> logs;
  for (double value : values) logs.push_back(std::log(value));
  return logs;
}

bool Usable(const std::vector<double>& seconds) {
  return std::all_of(seconds.begin(), seconds.end(), [](double s) { return std::isfinite(s) && s > 0; });
}

}  // namespace

double RobustDeviation(const std::vector<double>& ratios) {
  std::vector<double> logs = Logarithms(ratios);
  const double middle = Median(logs);
  for (double& value : logs) value = std::abs(value - middle);
  return 1.4826 * Median(logs);
}

double Threshold(const std::vector<double>& history) {
  return history.size() < kLeastHistory ? kLeastChange : std::max(kLeastChange, kDeviations * RobustDeviation(history));
}

Comparison Compare(const std::vector<double>& library, const std::vector<double>& reference,
                   const std::vector<double>& history) {
  Comparison out{.threshold = Threshold(history)};
  if (library.size() < kLeastProcesses || reference.size() < kLeastProcesses) {
    out.why = fmt::format("too few processes: {} and {}, at least {} each are needed", library.size(), reference.size(),
                          kLeastProcesses);
    return out;
  }
  if (!Usable(library) || !Usable(reference)) {
    out.why = "a time is not a positive number";
    return out;
  }
  const Shift shift = EstimateShift(Logarithms(reference), Logarithms(library), kConfidence);
  out.ratio = std::exp(shift.estimate);
  out.low = std::exp(shift.low);
  out.high = std::exp(shift.high);
  out.p = MannWhitneyP(reference, library);
  const double size = std::abs(out.ratio - 1);
  if (size <= out.threshold) {
    out.why = fmt::format("{:+.1f} % is within {:.1f} %", 100 * (out.ratio - 1), 100 * out.threshold);
  } else if (out.p >= kSignificance) {
    out.why = fmt::format("{:+.1f} %, but p = {:.2g}: may be chance", 100 * (out.ratio - 1), out.p);
  } else {
    out.change = out.ratio > 1 ? Change::kSlower : Change::kFaster;
    out.why =
        fmt::format("{:+.1f} % is more than {:.1f} %, p = {:.2g}", 100 * (out.ratio - 1), 100 * out.threshold, out.p);
  }
  return out;
}

bool TooWide(const Comparison& comparison) {
  const double most = 1 + kResolution;
  return comparison.change == Change::kNone &&
         (comparison.high > most * comparison.ratio || comparison.ratio > most * comparison.low);
}

Change Confirm(const Comparison& first, const Comparison& repeat) {
  return first.change == repeat.change ? first.change : Change::kNone;
}

}  // namespace hone::nightly

#include "report/speedup.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "base/rank_test.h"
#include "base/statistics.h"

namespace hone::report {
namespace {

constexpr double kClaims = 0.001;  // how often equal libraries may seem to differ, over all looks
constexpr double kConfidence = 1 - kClaims / std::size(kProcessCounts);
constexpr double kMargin = 0.5;  // without a pace: how far the interval of a difference must lie from 1, in its widths
constexpr double kLeastChange = 0.02;  // copies of one library differ by that much: where its pages lie in memory
constexpr double kResolution = 0.05;

// A value for each process: the logarithm of its time, or of its time over that of the other library beside it.
std::vector<double> Logs(const BenchLibrary& library, bool paced) {
  std::vector<double> logs;
  for (size_t i = 0; i < std::min(library.processes.size(), kMostProcesses); ++i) {
    std::vector<double> samples = library.processes[i];
    for (size_t k = 0; paced && k < samples.size(); ++k) samples[k] /= library.pace[i][k];
    logs.push_back(std::log(paced ? Median(samples) : LowerQuartile(samples)));
  }
  return logs;
}

// Whether the interval reaches further than `share` to either side of the ratio.
bool WiderThan(const Speedup& s, double share) {
  return s.high > (1 + share) * s.ratio || s.ratio > (1 + share) * s.low;
}

// Whether the interval, moved towards 1 by its margin, excludes 1. All in logarithms, as the processes are compared.
bool IsClear(const Speedup& s, bool paced) {
  const double margin = paced ? 0 : kMargin * std::log(s.high / s.low);
  return std::log(s.low) > margin || std::log(s.high) < -margin;
}

size_t Processes(const BenchLibrary& library, const BenchLibrary& baseline) {
  return std::min(library.processes.size(), baseline.processes.size());
}

using Verdict = Speedup::Verdict;

}  // namespace

Speedup CompareLibraries(const BenchLibrary& library, const BenchLibrary& baseline) {
  Speedup s;
  const bool paced = !library.pace.empty() && !baseline.pace.empty();
  const std::vector<double> own = Logs(library, paced), other = Logs(baseline, paced);
  const Shift shift = EstimateShift(own, other, kConfidence);
  const double scale = paced ? 0.5 : 1;  // the ratios of one library are the inverse of the other's
  s.ratio = std::exp(scale * shift.estimate);
  s.low = std::exp(scale * shift.low);
  s.high = std::exp(scale * shift.high);
  if (std::min(own.size(), other.size()) < kLeastProcesses) return s;
  if (WiderThan(s, kResolution)) {
    s.verdict = Verdict::kBusy;
  } else if (!IsClear(s, paced) || std::abs(s.ratio - 1) < kLeastChange) {
    s.verdict = Verdict::kNoDifference;
  } else {
    s.verdict = s.ratio > 1 ? Verdict::kFaster : Verdict::kSlower;
  }
  return s;
}

bool IsOpen(const Speedup& s) {
  if (s.verdict == Verdict::kNoDifference) return WiderThan(s, kLeastChange) || std::abs(s.ratio - 1) >= kLeastChange;
  return s.verdict == Verdict::kBusy || s.verdict == Verdict::kTooFew;
}

size_t NextProcesses(const BenchLibrary& library, const BenchLibrary& baseline) {
  const size_t processes = Processes(library, baseline);
  const auto next = std::ranges::upper_bound(kProcessCounts, processes);
  if (next == std::end(kProcessCounts)) return processes;
  return processes >= kLeastProcesses && !IsOpen(CompareLibraries(library, baseline)) ? processes : *next;
}

const char* VerdictName(Verdict verdict) {
  static constexpr const char* kNames[] = {"faster", "slower", "no-difference", "busy", "too-few"};
  return kNames[static_cast<size_t>(verdict)];
}

std::string SpeedupText(const Speedup& s, const std::string& other) {
  switch (s.verdict) {
    case Verdict::kFaster:
    case Verdict::kSlower:
      return fmt::format("{:.2f} times as fast as {} ({:.2f} to {:.2f})", s.ratio, other, s.low, s.high);
    case Verdict::kNoDifference:
      return fmt::format("no difference from {} shown ({:.2f} to {:.2f})", other, s.low, s.high);
    case Verdict::kBusy:
      return fmt::format("machine busy: {:.2f} to {:.2f} times as fast as {}; repeat hone-bench when idle", s.low,
                         s.high, other);
    case Verdict::kTooFew:
      break;
  }
  return fmt::format("about {:.2f} times as fast as {}, but too few processes to exclude noise", s.ratio, other);
}

std::string SpeedupTitle(const Speedup& s, const std::string& other) {
  if (s.verdict == Verdict::kBusy) return "machine busy";
  if (s.verdict == Verdict::kNoDifference) return "no difference from " + other + " shown";
  const char* about = s.verdict == Verdict::kTooFew ? "about " : "";
  return fmt::format("{}{:.2f} times as fast as {}", about, s.ratio, other);
}

std::string SpeedupCell(const Speedup& s) {
  if (s.verdict == Verdict::kNoDifference) return "-";
  const bool sure = s.verdict == Verdict::kFaster || s.verdict == Verdict::kSlower;
  return fmt::format("{:.2f}{}", s.ratio, sure ? "" : "?");
}

}  // namespace hone::report

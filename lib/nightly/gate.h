// The gate decides whether a library has become slower or faster than its reference. It compares one value of each
// process, taken at the night's pace (nightly/measure_night.h): runs within a process resemble one another and do not
// predict the next process.
//
// A change counts if all of these hold:
//   - it is larger than 2 %, and than 4 robust deviations of the same measurement of equal libraries (A/A);
//   - the exact test of Mann and Whitney gives p < 0.01: seven processes each can reach 0.0006, four each never;
//   - one immediate repeat confirms it (Confirm).
// Improvements must meet the same conditions, as accepting one moves the reference.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hone::nightly {

enum class Change { kNone, kSlower, kFaster };

inline constexpr size_t kLeastHistory = 5;  // with fewer nights, the noise is unknown

struct Comparison {
  Change change = Change::kNone;
  double ratio = 1;          // library / reference: Hodges and Lehmann's estimate over the processes
  double low = 1, high = 1;  // its interval, with 99 % confidence
  double p = 1;
  double threshold = 0;  // smallest change that counted, as a share
  std::string why;       // the condition that decided, in words
};

// The robust standard deviation (1.4826 x median absolute deviation from the median) of the logarithms of `ratios`.
double RobustDeviation(const std::vector<double>& ratios);

// The smallest change that counts, as a share: 2 %, or 4 robust deviations of `history` if it is long enough.
double Threshold(const std::vector<double>& history);

// `library` and `reference` have seconds, one value per process. `history` has ratios of equal libraries in earlier
// nights of the same environment. With fewer than 5 processes on a side, `change` is kNone and `why` says so.
Comparison Compare(const std::vector<double>& library, const std::vector<double>& reference,
                   const std::vector<double>& history);

// No change, but the machine was too busy to detect one: the ratio's interval is wider than 5 % to either side.
bool TooWide(const Comparison& comparison);

// The decision after the repeat: the change if both agree, else no change. The repeat is a new experiment, so its
// processes are not added to the first ones.
Change Confirm(const Comparison& first, const Comparison& repeat);

}  // namespace hone::nightly

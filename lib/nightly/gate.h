// The gate decides whether a library has become slower or faster than its reference. It compares one value of each
// process, taken at the night's pace (nightly/measure_night.h): runs within a process resemble one another and say
// nothing about the next process.
//
// A change counts if all of this holds:
//   - it is larger than 2 %, and than 4 robust deviations of what the same measurement says of equal libraries (A/A);
//   - the exact test of Mann and Whitney gives p < 0.01: seven processes each can reach 0.0006, four each never;
//   - one immediate repeat says the same (Confirm).
// Improvements are held to the same rule, as accepting one moves the reference.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hone::nightly {

enum class Change { kNone, kSlower, kFaster };

inline constexpr size_t kLeastHistory = 5;  // fewer nights say nothing about the noise

struct Comparison {
  Change change = Change::kNone;
  double ratio = 1;          // library / reference: Hodges and Lehmann's estimate over the processes
  double low = 1, high = 1;  // its interval, with 99 % confidence
  double p = 1;
  double threshold = 0;  // smallest change that counted, as a share
  std::string why;       // in words: which of the conditions decided
};

// The robust standard deviation (1.4826 x median absolute deviation from the median) of the logarithms of `ratios`.
double RobustDeviation(const std::vector<double>& ratios);

// The smallest change that counts, as a share: 2 %, or 4 robust deviations of `history` if it is long enough.
double Threshold(const std::vector<double>& history);

// `library`, `reference`: seconds, a value a process. `history`: ratios of equal libraries in earlier nights
// of the same environment. Nothing is decided with fewer than 5 processes a side: `change` is kNone, and `why` says so.
Comparison Compare(const std::vector<double>& library, const std::vector<double>& reference,
                   const std::vector<double>& history);

// No change, but the machine was too busy to see one: the ratio's interval is wider than 5 % to either side.
bool TooWide(const Comparison& comparison);

// The decision after the repeat: the change if both say the same, else no change. The repeat is a new experiment, so
// its processes are not added to the first ones.
Change Confirm(const Comparison& first, const Comparison& repeat);

// Compares two sets of times without assuming a distribution: the test of Mann and Whitney ("On a test of whether
// one of two random variables is stochastically larger than the other", 1947) and the estimate that goes with it
// (Hodges and Lehmann, "Estimates of location based on rank tests", 1963).

// The chance that a split of all values into two sets of these sizes is at least as uneven as this one, if it is
// blind: two-sided, exact, ties included (they share their mean rank). 1 if all values are equal. REQUIRES: neither is
// empty; at most 60 values in all; no NaN.
double MannWhitneyP(const std::vector<double>& a, const std::vector<double>& b);

struct Shift {
  double estimate = 0;       // median of all differences b - a
  double low = 0, high = 0;  // interval that holds the true shift with at least the confidence asked for, if the sets
                             // differ by a shift; the whole range of differences where the sets are too small for it
};

// How much further b lies than a. REQUIRES: neither is empty; at most 60 values in all; 0 < confidence < 1
Shift EstimateShift(const std::vector<double>& a, const std::vector<double>& b, double confidence);

}  // namespace hone::nightly

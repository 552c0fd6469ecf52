// Compares two sets of times without assuming a distribution: the test of Mann and Whitney ("On a test of whether
// one of two random variables is stochastically larger than the other", 1947) and the estimate that goes with it
// (Hodges and Lehmann, "Estimates of location based on rank tests", 1963).
#pragma once

#include <vector>

namespace hone {

// The probability that a random split of all values into two sets of these sizes is at least as uneven as this one:
// two-sided, exact, including ties (they share their mean rank). 1 if all values are equal. REQUIRES: neither is empty;
// at most 60 values in total; no NaN.
double MannWhitneyP(const std::vector<double>& a, const std::vector<double>& b);

struct Shift {
  double estimate = 0;       // median of all differences b - a
  double low = 0, high = 0;  // interval that contains the true shift with at least the given confidence, if the sets
                             // differ by a shift; the whole range of differences if the sets are too small for it
};

// How far b is shifted from a. REQUIRES: neither is empty; at most 60 values in total; 0 < confidence < 1
Shift EstimateShift(const std::vector<double>& a, const std::vector<double>& b, double confidence);

}  // namespace hone

// Comparing two sets of times without believing in a distribution: the test of Mann and Whitney ("On a test of whether
// one of two random variables is stochastically larger than the other", 1947) and the estimate that goes with it
// (Hodges and Lehmann, "Estimates of location based on rank tests", 1963).
#pragma once

#include <vector>

namespace hone::nightly {

// The chance that a split of all values into two sets of these sizes is at least as uneven as this one, if it is
// blind: two-sided, exact, ties included (they share their mean rank). With more than 60 values in all the normal
// approximation, corrected for ties. 1 if a set is empty or all values are equal. REQUIRES: no NaN.
double MannWhitneyP(const std::vector<double>& a, const std::vector<double>& b);

struct Shift {
  double estimate = 0;       // median of all differences b - a
  double low = 0, high = 0;  // interval that holds the true shift with at least the confidence asked for, if the sets
                             // differ by a shift; the whole range of differences where the sets are too small for it
};

// How much further b lies than a. REQUIRES: neither is empty; at most 60 values in all; 0 < confidence < 1
Shift EstimateShift(const std::vector<double>& a, const std::vector<double>& b, double confidence);

}  // namespace hone::nightly

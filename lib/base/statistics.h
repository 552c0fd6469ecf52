// Statistics of samples: one function for each definition. All return 0 for no values.
#pragma once

#include <vector>

namespace hone {

double Median(std::vector<double> values);  // the mean of the middle two if their number is even
// Between samples linearly: type 7 of Hyndman and Fan.
double QuantileLinear(std::vector<double> values, double share);
// The sample of the nearest rank, the upper one of two as near.
double QuantileNearest(std::vector<double> values, double share);
// QuantileLinear of 1/4, for times that are compared. Other users of a machine add to a time and never take away. The
// quartile stays put while they disturb fewer than three quarters of the runs, and does not depend on a single run, as
// the minimum does. A median says more about the others.
double LowerQuartile(std::vector<double> values);
// The mean, of more than two values without the smallest and the largest: AutoTVM's, of its costs.
double TrimmedMean(std::vector<double> values);

// Distribution-free confidence interval of the median from order statistics (Conover), at about `confidence`.
struct Interval {
  double low = 0, high = 0;
};
Interval MedianInterval(std::vector<double> values, double confidence);

}  // namespace hone

// Statistics of samples. All return 0 for an empty list.
#pragma once

#include <vector>

namespace hone {

double Median(std::vector<double> values);  // the mean of the middle two for an even number of values
// Interpolates linearly between samples: type 7 of Hyndman and Fan.
double QuantileLinear(std::vector<double> values, double share);
// The sample of the nearest rank; the upper one in a tie.
double QuantileNearest(std::vector<double> values, double share);
// QuantileLinear(1/4), for comparing times. Other users of the machine only ever add time. The quartile does not move
// while they disturb fewer than three quarters of the runs, and unlike the minimum it does not depend on a single run.
// A median reflects the other users more.
double LowerQuartile(std::vector<double> values);
// The mean without the smallest and the largest value, if there are more than two: AutoTVM's measure of costs.
double TrimmedMean(std::vector<double> values);
// Whether the runs of one kernel disagree, so that its time may be too long: at least five, with a median more than 3 %
// above the fastest tenth. It shows what no meter sees, such as other guests of a host that use its caches and memory.
bool Unsteady(const std::vector<double>& seconds);

// Distribution-free confidence interval of the median from order statistics (Conover), at about `confidence`.
struct Interval {
  double low = 0, high = 0;
};
Interval MedianInterval(std::vector<double> values, double confidence);

}  // namespace hone

#include "base/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

namespace hone {

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + middle, values.end());
  const double upper = values[middle];
  if (values.size() % 2 == 1) return upper;
  return (*std::max_element(values.begin(), values.begin() + middle) + upper) / 2;
}

double QuantileLinear(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  const size_t below = static_cast<size_t>(place), above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

double QuantileNearest(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(std::lround(share * static_cast<double>(values.size() - 1)))];
}

double LowerQuartile(std::vector<double> values) { return QuantileLinear(std::move(values), 0.25); }

bool Unsteady(const std::vector<double>& seconds) {
  return seconds.size() >= 5 && Median(seconds) > 1.03 * QuantileLinear(seconds, 0.1);
}

double TrimmedMean(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::ptrdiff_t cut = values.size() > 2 ? 1 : 0;
  const double sum = std::accumulate(values.begin() + cut, values.end() - cut, 0.0);
  return sum / static_cast<double>(values.size() - 2 * static_cast<size_t>(cut));
}

// The number of samples below the true median is binomial(n, 1/2). [x_(r), x_(n+1-r)] covers it with probability
// 1 - 2 P(B < r); r is the largest rank that still covers `confidence`. (Conover, Practical Nonparametric
// Statistics, 3.2.)
Interval MedianInterval(std::vector<double> values, double confidence) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const int n = static_cast<int>(values.size());
  double tail = 0;
  int rank = 0;
  double log_term = -n * std::log(2.0);  // log of C(n,k) / 2^n
  for (int k = 0; k < n / 2; ++k) {
    tail += std::exp(log_term);
    if (2 * tail > 1 - confidence) break;
    rank = k + 1;
    log_term += std::log(static_cast<double>(n - k) / (k + 1));
  }
  // With too few samples even the extremes do not reach the confidence: use them.
  rank = std::max(rank, 1);
  return {values[rank - 1], values[n - rank]};
}

}  // namespace hone

#include "base/rank_test.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/check.h"
#include "base/statistics.h"

namespace hone {
namespace {

constexpr size_t kMostExact = 60;

// Twice the mean ranks, to keep them whole: first a's values, then b's.
std::vector<int64_t> DoubledRanks(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> values = a;
  values.insert(values.end(), b.begin(), b.end());
  std::vector<size_t> order(values.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t x, size_t y) { return values[x] < values[y]; });
  std::vector<int64_t> ranks(values.size());
  for (size_t i = 0; i < order.size();) {
    size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (size_t k = i; k < end; ++k) ranks[order[k]] = static_cast<int64_t>(i + 1 + end);
    i = end;
  }
  return ranks;
}

// counts[s]: the number of subsets of `size` ranks with sum s. Counts stay below C(60, 30), about 1e17: exact enough as
// doubles for a probability.
std::vector<double> SumCounts(const std::vector<int64_t>& ranks, size_t size) {
  int64_t total = 0;
  for (int64_t rank : ranks) total += rank;
  std::vector<std::vector<double>> counts(size + 1, std::vector<double>(static_cast<size_t>(total) + 1));
  counts[0][0] = 1;
  int64_t reached = 0;
  for (int64_t rank : ranks) {
    reached += rank;
    for (size_t k = size; k >= 1; --k) {
      for (int64_t s = reached; s >= rank; --s) counts[k][s] += counts[k - 1][s - rank];
    }
  }
  return counts[size];
}

double ExactP(const std::vector<int64_t>& ranks, size_t size, int64_t sum) {
  // The mean of the sum: size * (n + 1), as ranks are doubled.
  const int64_t mean = static_cast<int64_t>(size * (ranks.size() + 1));
  const int64_t distance = std::abs(sum - mean);
  double far = 0, all = 0;
  const std::vector<double> counts = SumCounts(ranks, size);
  for (size_t s = 0; s < counts.size(); ++s) {
    all += counts[s];
    if (std::abs(static_cast<int64_t>(s) - mean) >= distance) far += counts[s];
  }
  return far / all;
}

}  // namespace

double MannWhitneyP(const std::vector<double>& a, const std::vector<double>& b) {
  HONE_CHECK(!a.empty() && !b.empty() && a.size() + b.size() <= kMostExact);
  const std::vector<int64_t> ranks = DoubledRanks(a, b);
  int64_t sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += ranks[i];
  return std::min(ExactP(ranks, a.size(), sum), 1.0);
}

Shift EstimateShift(const std::vector<double>& a, const std::vector<double>& b, double confidence) {
  HONE_CHECK(!a.empty() && !b.empty() && a.size() + b.size() <= kMostExact);
  std::vector<double> differences;
  for (double x : a) {
    for (double y : b) differences.push_back(y - x);
  }
  std::sort(differences.begin(), differences.end());
  const size_t n = differences.size();
  Shift shift{.estimate = Median(differences)};
  // Without ties, U counts the differences on one side of the shift. As many of the smallest and of the largest
  // differences can be left out as U stays below with half of the remaining probability.
  size_t out = 0;
  const double tail = (1 - confidence) / 2;
  std::vector<int64_t> ranks(a.size() + b.size());
  for (size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<int64_t>(i + 1);
  const std::vector<double> counts = SumCounts(ranks, a.size());
  double all = 0, below = 0;
  for (double count : counts) all += count;
  const size_t least = a.size() * (a.size() + 1) / 2;
  while (least + out < counts.size() && (below + counts[least + out]) / all <= tail) below += counts[least + out++];
  // The out-th difference itself is still inside.
  out = std::min(std::max<size_t>(out, 1) - 1, (n - 1) / 2);
  shift.low = differences[out];
  shift.high = differences[n - 1 - out];
  return shift;
}

}  // namespace hone

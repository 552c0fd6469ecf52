#include "nightly/change_points.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/statistics.h"
#include "nightly/rank_test.h"

namespace hone::nightly {
namespace {

using Values = std::vector<double>;

constexpr size_t kWindow = 50;                // nights; windows overlap by half
constexpr size_t kLeast = 4;                  // nights of a segment
constexpr double kPointSignificance = 0.001;  // of a point that stays; candidates may have ten times that
constexpr double kMagnitude = 0.01;           // share of the level before

Values Part(const Values& values, size_t begin, size_t end) {
  return Values(values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end));
}

// The split of [begin, end) with the largest energy statistic, or `begin` if there is no room for one.
size_t BestSplit(const Values& values, size_t begin, size_t end) {
  const size_t n = end - begin;
  if (n < 2 * kLeast) return begin;
  // Sums of distances within the left part and within the right one, kept while the border moves.
  double left = 0, right = 0, across = 0;
  auto distances = [&](size_t at, size_t from, size_t to) {
    double sum = 0;
    for (size_t i = from; i < to; ++i) sum += std::abs(values[at] - values[i]);
    return sum;
  };
  for (size_t i = begin; i < end; ++i) right += distances(i, begin, i);
  double best = 0;
  size_t where = begin;
  for (size_t border = begin + 1; border < end; ++border) {
    const size_t moved = border - 1;
    const double to_left = distances(moved, begin, moved), to_right = distances(moved, border, end);
    left += to_left;
    right -= to_right;
    across += to_right - to_left;
    const double a = static_cast<double>(border - begin), b = static_cast<double>(end - border);
    if (border - begin < kLeast || end - border < kLeast) continue;
    const double energy = 2 * across / (a * b) - 2 * left / (a * (a - 1)) - 2 * right / (b * (b - 1));
    const double statistic = a * b / (a + b) * energy;
    if (statistic > best) {
      best = statistic;
      where = border;
    }
  }
  return where;
}

void FindSplits(const Values& values, size_t begin, size_t end, std::set<size_t>* found) {
  const size_t at = BestSplit(values, begin, end);
  if (at == begin || MannWhitneyP(Part(values, begin, at), Part(values, at, end)) > 10 * kPointSignificance) return;
  found->insert(at);
  FindSplits(values, begin, at, found);
  FindSplits(values, at, end, found);
}

std::vector<ChangePoint> Judge(const Values& values, const std::vector<size_t>& points) {
  std::vector<ChangePoint> out;
  for (size_t i = 0; i < points.size(); ++i) {
    const size_t begin = i == 0 ? 0 : points[i - 1], end = i + 1 == points.size() ? values.size() : points[i + 1];
    const Values before = Part(values, begin, points[i]), after = Part(values, points[i], end);
    out.push_back({points[i], MannWhitneyP(before, after), Median(before), Median(after)});
  }
  return out;
}

}  // namespace

std::vector<ChangePoint> FindChangePoints(const std::vector<double>& series) {
  Values values;
  std::vector<size_t> nights;
  for (size_t i = 0; i < series.size(); ++i) {
    if (!std::isfinite(series[i]) || series[i] <= 0) continue;
    values.push_back(series[i]);
    nights.push_back(i);
  }
  std::set<size_t> candidates;
  for (size_t begin = 0; begin < values.size(); begin += kWindow / 2) {
    FindSplits(values, begin, std::min(values.size(), begin + kWindow), &candidates);
    if (begin + kWindow >= values.size()) break;
  }
  // The weakest goes first, since without it its neighbours have longer segments to compare.
  std::vector<size_t> points(candidates.begin(), candidates.end());
  for (;;) {
    std::vector<ChangePoint> judged = Judge(values, points);
    size_t weakest = points.size();
    for (size_t i = 0; i < judged.size(); ++i) {
      const bool small = std::abs(judged[i].after / judged[i].before - 1) < kMagnitude;
      if (!small && judged[i].p <= kPointSignificance) continue;
      if (weakest == points.size() || judged[i].p > judged[weakest].p) weakest = i;
    }
    if (weakest == points.size()) {
      for (ChangePoint& point : judged) point.index = nights[point.index];
      return judged;
    }
    points.erase(points.begin() + static_cast<std::ptrdiff_t>(weakest));
  }
}

}  // namespace hone::nightly

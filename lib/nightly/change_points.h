// Where a series of nights changed its level: for the trend in a report, which may see over weeks what no single night
// can show. Deterministic.
//
// Candidates are the splits of largest energy distance (Matteson and James, "A nonparametric approach for multiple
// change point analysis of multivariate data", 2014), found by splitting windows of the series again and again;
// windows, as one large change would hide small ones from statistics over everything. A candidate stays if a
// rank test between its two neighbouring segments says so: ranks, as one wild night must not make a change.
#pragma once

#include <cstddef>
#include <vector>

namespace hone::nightly {

struct ChangePoint {
  size_t index = 0;  // of the first night on the new level
  double p = 1;
  double before = 0, after = 0;  // medians of the segments beside it
};

// Ascending; changes of less than 1 % are left out. Values that are not positive numbers are nights without a figure:
// they belong to no segment.
std::vector<ChangePoint> FindChangePoints(const std::vector<double>& series);

}  // namespace hone::nightly

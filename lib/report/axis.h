// Axes of figures: where a value stands, and round values to write beside it.
#pragma once

#include <string>
#include <vector>

namespace hone::report {

class Axis {
 public:
  // `low` stands at `from`, `high` at `to` (units of the view box). Logarithmic: REQUIRES low > 0.
  Axis(double low, double high, bool log, double from, double to);
  double At(double value) const;  // values outside stand outside; an axis of one value has it in the middle

 private:
  bool log_;
  double low_, high_, from_, to_;
};

// A coordinate of a path: one digit behind the point, none if it is 0.
std::string Coordinate(double value);

// Round values inside [low, high] for the labels of an axis, at least one, about `wanted` of them.
// Logarithmic: 1, 2, 5 times powers of ten, thinned to the powers alone if there are more than twice as many.
std::vector<double> LinearTicks(double low, double high, int wanted);
std::vector<double> LogTicks(double low, double high, int wanted);

// Labels of times in one unit with the digits that tell them apart; of a logarithmic axis each by itself.
std::vector<std::string> TimeLabels(const std::vector<double>& values, bool log);

}  // namespace hone::report

// The source elements along a resized axis.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hone::semantics {

struct ResizeAxis {
  int64_t in = 1, out = 1;
  double scale = 1;  // out / in, or the workload's own value
  std::string coordinate, round;
  double cubic = -0.75;
  bool exclude_outside = false;

  bool Changes() const { return in != out || scale != 1; }
  // The input position of output element i is a * i + b.
  double a() const;
  double b() const;
  int64_t Nearest(int64_t i) const;  // 0 .. in-1
};

// The valid words for `coordinate` and `round`.
const std::vector<std::string>& ResizeCoordinates();
const std::vector<std::string>& ResizeRounds();

// The element to which `round` rounds a position; like the position, it may lie outside of the axis.
int64_t RoundedPlace(const std::string& round, double place);

// The cubic filter with coefficient `a` at a distance of at least 0 from its middle.
double CubicWeight(double distance, double a);

// One for each axis of the workload's input.
std::vector<ResizeAxis> ResizeAxes(const Workload& workload);

}  // namespace hone::semantics

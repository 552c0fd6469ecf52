// Where the elements of a resized axis come from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "semantics/attributes.h"

namespace hone::semantics {

struct ResizeAxis {
  int64_t in = 1, out = 1;
  double scale = 1;  // out / in, or as the workload says
  std::string coordinate, round;
  double cubic = -0.75;
  bool exclude_outside = false;

  bool Changes() const { return in != out || scale != 1; }
  // The place in the input of output element i: a * i + b.
  double a() const;
  double b() const;
  int64_t Nearest(int64_t i) const;  // 0 .. in-1
};

// The words that `coordinate` and `round` may be.
const std::vector<std::string>& ResizeCoordinates();
const std::vector<std::string>& ResizeRounds();

// The element that a place is rounded to, as `round` says; it may lie outside of the axis as the place may.
int64_t RoundedPlace(const std::string& round, double place);

// The cubic filter of coefficient `a` at a distance from its middle, 0 or more.
double CubicWeight(double distance, double a);

// One an axis of the workload's input.
std::vector<ResizeAxis> ResizeAxes(const Workload& workload);

}  // namespace hone::semantics

#include "base/deadline.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/clock.h"

namespace hone {

Deadline::Deadline(double timeout_seconds)
    : end_(timeout_seconds < 0 ? std::numeric_limits<double>::infinity()
                               : RealClock()->NowSeconds() + timeout_seconds) {}

bool Deadline::Passed() const { return SecondsLeft() <= 0; }

double Deadline::SecondsLeft() const { return std::max(0.0, end_ - RealClock()->NowSeconds()); }

int Deadline::PollMillis() const {
  double left = SecondsLeft();
  if (std::isinf(left)) return -1;
  return static_cast<int>(std::min(std::ceil(left * 1e3), 1e9));
}

}  // namespace hone

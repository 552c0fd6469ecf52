// A clock that moves only when the test advances it, or when somebody sleeps on it.
#pragma once

#include "base/clock.h"

namespace hone {

class FakeClock final : public Clock {
 public:
  explicit FakeClock(double now = 0, double wall = 1e9) : now_(now), wall_(wall) {}

  double NowSeconds() override { return now_; }
  double WallSeconds() override { return wall_; }
  void SleepSeconds(double seconds) override {
    if (seconds > 0) Advance(seconds);
  }

  void Advance(double seconds) {
    now_ += seconds;
    wall_ += seconds;
  }

 private:
  double now_;
  double wall_;
};

}  // namespace hone

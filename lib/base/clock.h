// Time behind an interface, so that tests can control it: tests/fake/fake_clock.h.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hone {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual double NowSeconds() = 0;                // monotonic, from an arbitrary start; for durations
  virtual double WallSeconds() = 0;               // since 1970-01-01 UTC; for people and records
  virtual void SleepSeconds(double seconds) = 0;  // returns at once if not positive; signals do not shorten it
};

Clock* RealClock();  // never destroyed; usable from any thread

// "2025-01-31T23:59:58Z": UTC, whole seconds (rounded down). Earlier times than year 0, and NaN, give its first second;
// later ones than year 9999 its last.
std::string FormatIso8601(double wall_seconds);

// Unix seconds of a time that a person typed: "2026-11-26", "2026-11-26T14:00" or "2026-11-26T14:00:00", in UTC, the
// last two also with Z at the end; or how long before `now` it was: "90s", "30m", "2h", "3d". kInvalid for other texts.
Result<double> ParseTime(std::string_view text, double now);

// A point in monotonic time by which a blocking call must return.
class Deadline {
 public:
  explicit Deadline(double timeout_seconds);  // from now; negative: never

  bool Passed() const;
  double SecondsLeft() const;  // at least 0; infinity for never
  int PollMillis() const;      // for poll(2): rounded up, -1 for never

 private:
  double end_ = 0;
};

}  // namespace hone

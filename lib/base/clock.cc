#include "base/clock.h"

#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>

namespace hone {
namespace {

double Read(clockid_t id) {
  timespec t;
  ::clock_gettime(id, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

class SystemClock final : public Clock {
 public:
  double NowSeconds() override { return Read(CLOCK_MONOTONIC); }
  double WallSeconds() override { return Read(CLOCK_REALTIME); }
  void SleepSeconds(double seconds) override {
    if (!(seconds > 0)) return;
    double end = NowSeconds() + seconds;
    timespec until;
    until.tv_sec = static_cast<time_t>(end);
    until.tv_nsec = static_cast<long>((end - std::floor(end)) * 1e9);
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
  }
};

}  // namespace

Clock* RealClock() {
  static SystemClock clock;
  return &clock;
}

std::string FormatIso8601(double wall_seconds) {
  time_t seconds = static_cast<time_t>(std::floor(wall_seconds));
  tm parts;
  ::gmtime_r(&seconds, &parts);
  char text[64];
  size_t length = ::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text, length);
}

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

#include "base/clock.h"

#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>
#include <utility>

#include "base/text.h"

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
    const timespec until{static_cast<time_t>(end), static_cast<long>((end - std::floor(end)) * 1e9)};
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
  // The first and the last second with four digits for the year. The times of records are untrusted, and may be NaN.
  constexpr double kFirst = -62167219200, kLast = 253402300799;
  const double clamped = wall_seconds >= kFirst ? std::min(wall_seconds, kLast) : kFirst;
  const time_t seconds = static_cast<time_t>(std::floor(clamped));
  tm parts;
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

Result<double> ParseTime(std::string_view text, double now) {
  const Status wrong = Status::Invalid(
      "`{}` is not a time; give one in UTC, such as 2026-11-26 or 2026-11-26T14:00:00Z, or an age, such as 30m, 2h or "
      "3d",
      Printable(text));
  if (text.empty()) return wrong;
  for (const auto& [unit, seconds] :
       {std::pair('s', 1), std::pair('m', 60), std::pair('h', 3600), std::pair('d', 86400)}) {
    if (text.back() != unit) continue;
    const Result<double> count = ParseDouble(text.substr(0, text.size() - 1));
    return count.ok() && *count >= 0 ? Result<double>(now - *count * seconds) : wrong;
  }
  const size_t size = text.size() - (text.back() == 'Z' ? 1 : 0);
  const bool date = size == 10 && size == text.size();  // without Z
  if (size != 16 && size != 19 && !date) return wrong;
  // Writing the time again and comparing the texts also finds a 30th of February.
  const std::string_view pattern = "0000-01-01T00:00:00";
  const std::string whole = std::string(text.substr(0, size)) + std::string(pattern.substr(size));
  int fields[6] = {};
  const std::pair<size_t, size_t> places[] = {{0, 4}, {5, 2}, {8, 2}, {11, 2}, {14, 2}, {17, 2}};
  for (size_t i = 0; i < 6; ++i) {
    const Result<int64_t> number = ParseInt(whole.substr(places[i].first, places[i].second));
    if (!number.ok()) return wrong;
    fields[i] = static_cast<int>(*number);
  }
  tm parts = {};
  parts.tm_year = fields[0] - 1900, parts.tm_mon = fields[1] - 1, parts.tm_mday = fields[2];
  parts.tm_hour = fields[3], parts.tm_min = fields[4], parts.tm_sec = fields[5];
  const auto seconds = static_cast<double>(::timegm(&parts));
  return FormatIso8601(seconds) == whole + "Z" ? Result<double>(seconds) : wrong;
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

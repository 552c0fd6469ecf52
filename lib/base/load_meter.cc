#include "base/load_meter.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/clock.h"
#include "base/file.h"

namespace hone {
namespace {

// The second number of a schedstat file: nanoseconds spent waiting in a run queue, counted when the wait ends.
double WaitedSeconds(const Fd& fd) {
  char text[128];
  const ssize_t n = ::pread(fd.get(), text, sizeof text - 1, 0);
  if (n <= 0) return 0;
  text[n] = 0;
  const char* second = std::strchr(text, ' ');
  return second == nullptr ? 0 : 1e-9 * std::strtod(second, nullptr);
}

double ThreadSeconds() {
  timespec t;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

long VoluntarySwitches() {
  rusage usage;
  return ::getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw : 0;
}

// Field 8 of the line "cpu" of /proc/stat, in ticks; negative if it is not there.
double StolenSeconds(const Fd& fd) {
  char text[256];
  const ssize_t n = ::pread(fd.get(), text, sizeof text - 1, 0);
  if (n <= 0) return -1;
  text[n] = 0;
  char* at = text + 3;
  double ticks = -1;
  for (int field = 0; field < 8; ++field) {
    char* end = at;
    ticks = std::strtod(at, &end);
    if (end == at) return -1;
    at = end;
  }
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

LoadMeter::LoadMeter() {
  const std::string folder = "/proc/self/task";
  auto names = ListDir(folder);
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>()) {
    Fd fd(::open((folder + "/" + name + "/schedstat").c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.open()) files_.push_back({std::move(fd)});
  }
  stat_ = Fd(::open("/proc/stat", O_RDONLY | O_CLOEXEC));
  Start();
  (void)Stolen();
}

void LoadMeter::Start() {
  for (Thread& thread : files_) thread.waited = WaitedSeconds(thread.fd);
  slept_ = VoluntarySwitches();
  ran_ = ThreadSeconds();
  wall_ = RealClock()->NowSeconds();
}

double LoadMeter::Lost() {
  const double wall = RealClock()->NowSeconds() - wall_;
  const double ran = ThreadSeconds() - ran_;
  // If the thread slept, the time in which it did not run is not all lost.
  double lost = VoluntarySwitches() == slept_ ? std::max(0.0, wall - ran) : 0;
  for (Thread& thread : files_) lost = std::max(lost, WaitedSeconds(thread.fd) - thread.waited);
  return lost;
}

double LoadMeter::Stolen() {
  if (!stat_.open()) return 0;
  const double now = StolenSeconds(stat_);
  const double before = stolen_;
  stolen_ = now;
  return before < 0 || now < before ? 0 : now - before;
}

}  // namespace hone

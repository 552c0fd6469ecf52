// A neighbour that competes for this thread's core: a child process in an endless loop.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"

namespace hone::fake {

// Pins this thread, and processes that it starts, to one core for its lifetime.
class Neighbour {
 public:
  Neighbour() {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(UsableCpus().back(), &one);
    pinned_ = sched_getaffinity(0, sizeof before_, &before_) == 0 && sched_setaffinity(0, sizeof one, &one) == 0;
  }
  ~Neighbour() {
    Leave();
    if (pinned_) sched_setaffinity(0, sizeof before_, &before_);
  }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

  bool Come() {
    if (!pinned_) return false;
    const pid_t parent = getpid();
    child_ = fork();
    if (child_ == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)) _exit(1);
    volatile bool busy = child_ == 0;  // volatile, as an empty loop could be optimised away
    while (busy) {
    }
    return child_ > 0;
  }

  void Leave() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    child_ = -1;
  }

 private:
  cpu_set_t before_;
  bool pinned_ = false;
  pid_t child_ = -1;
};

// Works for `seconds` of wall time.
inline void Work(double seconds) {
  Clock* clock = RealClock();
  const double end = clock->NowSeconds() + seconds;
  while (clock->NowSeconds() < end) {
  }
}

}  // namespace hone::fake

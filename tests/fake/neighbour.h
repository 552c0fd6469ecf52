// A neighbour that competes for a core: a child process that computes.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/rng.h"

namespace hone::fake {

// Binds this thread to a core.
inline bool PinTo(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  return sched_setaffinity(0, sizeof one, &one) == 0;
}

// Works for `seconds` of wall time.
inline void Work(double seconds) {
  Clock* clock = RealClock();
  const double end = clock->NowSeconds() + seconds;
  while (clock->NowSeconds() < end) {
  }
}

// Keeps one core busy until it is destroyed.
class Neighbour {
 public:
  struct Habits {
    bool memory = false;  // writes 64 MiB again and again, instead of only reading the clock
    bool rests = false;   // works and rests in turns of 0.2 to 1 s
    uint64_t seed = 1;    // of these turns
  };

  explicit Neighbour(int cpu) : Neighbour(cpu, Habits()) {}
  Neighbour(int cpu, Habits habits) {
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ != 0) return;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent || !PinTo(cpu)) _exit(1);
    std::vector<char> block(habits.memory ? size_t{64} << 20 : 0);
    Rng rng(habits.seed);
    for (bool busy = true;; busy = !busy || !habits.rests) {
      const double end = RealClock()->NowSeconds() + 0.2 + 0.8 * rng.UniformDouble();
      if (!busy) RealClock()->SleepSeconds(end - RealClock()->NowSeconds());
      while (RealClock()->NowSeconds() < end) {
        for (volatile char& byte : block) byte = byte + 1;
      }
    }
  }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;
  ~Neighbour() {
    if (!started()) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  bool started() const { return pid_ > 0; }

 private:
  pid_t pid_ = -1;
};

// Pins this thread, and processes that it starts, to one core for its lifetime, beside a neighbour on the same core.
class SharedCore {
 public:
  SharedCore() : pinned_(sched_getaffinity(0, sizeof before_, &before_) == 0 && PinTo(cpu_)), neighbour_(cpu_) {}
  ~SharedCore() {
    if (pinned_) sched_setaffinity(0, sizeof before_, &before_);
  }

  bool shared() const { return pinned_ && neighbour_.started(); }

 private:
  cpu_set_t before_;
  const int cpu_ = UsableCpus().back();
  bool pinned_;
  Neighbour neighbour_;
};

}  // namespace hone::fake

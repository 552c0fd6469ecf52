// Processes that use this machine beside a measurement.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "base/clock.h"
#include "base/rng.h"

namespace hone::perf {

// Keeps one core busy until it is destroyed.
class Neighbour {
 public:
  struct Habits {
    bool memory = false;  // writes 64 MiB again and again, instead of running a loop in registers
    bool rests = false;   // works and rests in turns of 0.2 to 1 s
    uint64_t seed = 1;    // of these turns
  };

  Neighbour(int cpu, Habits habits) : pid_(fork()) {
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
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
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
};

}  // namespace hone::perf

// Decides which timed runs others disturbed, and whether to repeat a run: the policy, independent of the machine.
// doc/internals/measuring.md describes it.
#pragma once

#include <cstdint>
#include <functional>

#include "base/clock.h"

namespace hone::measure {

struct LoadLimits {
  double lost_share = 0.01;     // a run that lost a larger share of its time to others is disturbed
  double lost_seconds = 3e-6;   // a run that lost less than this is not disturbed
  double pulse_share = 0.85;    // share of the machine's peak below which a pulse shows that others use it
  double pulse_every = 0.05;    // seconds between two pulses
  double patience_seconds = 2;  // for repeating runs: initial and largest credit
};

// Functions that observe the machine; empty: unknown.
struct LoadSenses {
  std::function<void()> start;     // called at the start of a run
  std::function<double()> lost;    // base/load_meter.h: since start
  std::function<double()> stolen;  // base/load_meter.h: since the last call
  std::function<double()> pulse;   // share of its peak that the machine reaches in a short burst of work
  std::function<bool()> slowed;    // whether the machine says that it is slowed down, or that others use it
};

// Time for waiting, for discarded runs and for preparing their repetition comes from a credit, which grows by a second
// for each second of other work. So, whatever others do, tuning takes at most twice as long plus patience_seconds.
class LoadGuard {
 public:
  LoadGuard(LoadLimits limits, LoadSenses senses, Clock* clock);

  enum class Verdict {
    kClean,
    kAgain,      // disturbed: discard the run. Has already waited a little
    kDisturbed,  // disturbed, but patience is used up: keep the run
  };

  void BeginRun();
  Verdict EndRun(double seconds);

  // Counts since BeginCandidate().
  void BeginCandidate();
  int64_t retaken() const { return retaken_; }

 private:
  bool Disturbed(double seconds);

  LoadLimits limits_;
  LoadSenses senses_;
  Clock* clock_;
  double credit_;
  double earned_at_;  // time up to which credit was added
  double run_began_ = 0;
  double stolen_at_, pulse_at_;  // times of the last calls
  double pause_ = 0;
  bool again_ = false;  // the last run was discarded
  int64_t retaken_ = 0;
};

}  // namespace hone::measure

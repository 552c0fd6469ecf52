// Decides which timed runs others disturbed, and whether to repeat one: the policy, without the machine.
// doc/internals/measuring.md has it in prose.
#pragma once

#include <cstdint>
#include <functional>

#include "base/clock.h"

namespace hone::measure {

struct LoadLimits {
  double lost_share = 0.01;     // of a run's time: what lost more to others is disturbed
  double lost_seconds = 3e-6;   // less than this is never
  double pulse_share = 0.85;    // of the machine's peak: a pulse that reaches less says that others use it
  double pulse_every = 0.05;    // seconds between two pulses
  double patience_seconds = 2;  // for taking runs again, at the start and at the most
};

// Sources of facts about the machine; empty functions: unknown.
struct LoadSenses {
  std::function<void()> start;     // of a run
  std::function<double()> lost;    // base/load_meter.h: since start
  std::function<double()> stolen;  // base/load_meter.h: since the last call
  std::function<double()> pulse;   // the share of its peak that the machine reaches in a moment's work
};

// Time spent on waiting, on runs that are thrown away and on preparing those in their place comes from a credit that
// grows by a second for each second spent otherwise: whatever others do, tuning takes at most twice as long, and
// patience_seconds.
class LoadGuard {
 public:
  LoadGuard(LoadLimits limits, LoadSenses senses, Clock* clock);

  enum class Verdict {
    kClean,
    kAgain,      // disturbed: throw it away. Has waited a little
    kDisturbed,  // disturbed, and patience is used up: better than nothing
  };

  void BeginRun();
  Verdict EndRun(double seconds);

  // Since BeginCandidate().
  void BeginCandidate();
  int64_t retaken() const { return retaken_; }

 private:
  bool Disturbed(double seconds);

  LoadLimits limits_;
  LoadSenses senses_;
  Clock* clock_;
  double credit_;
  double earned_at_;  // credit has grown until then
  double run_began_ = 0;
  double stolen_at_, pulse_at_;  // when they were asked last
  double pause_ = 0;
  bool again_ = false;  // the last run was thrown away
  int64_t retaken_ = 0;
};

}  // namespace hone::measure

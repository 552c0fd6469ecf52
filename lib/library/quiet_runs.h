// Timed runs of a network without disturbed ones, by the rules of measure/load_guard.h: repeated from a credit that
// lets it all take twice as long, and its patience, at most. There is no pulse of multiply-adds, as it would wake the
// threads of a pool that is not this network's.
#pragma once

#include <cstdint>
#include <functional>

#include "base/load_meter.h"
#include "base/result.h"
#include "measure/load_guard.h"

namespace hone::library {

class QuietRuns {
 public:
  // Watches the threads that this process has now: create it behind the networks. Without patience nothing is taken
  // again.
  explicit QuietRuns(double patience_seconds);
  QuietRuns(const QuietRuns&) = delete;
  QuietRuns& operator=(const QuietRuns&) = delete;

  // Calls `run` until nobody disturbed it, or patience is used up; returns the seconds of the last call. What is taken
  // again has an untimed call in front of it.
  Result<double> Time(const std::function<Status()>& run);

  int64_t retaken() const { return guard_.retaken(); }
  double wasted_seconds() const { return wasted_; }  // of discarded runs, and of waiting for others to end

 private:
  LoadMeter meter_;
  measure::LoadGuard guard_;
  double patience_seconds_;
  double wasted_ = 0;
};

}  // namespace hone::library

// Times runs of a network and repeats disturbed ones, by the rules of measure/load_guard.h. Repeating may at most
// double the total time, plus the patience. It does not use the guard's pulse of multiply-adds, which would wake the
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
  // Watches the threads that the process has at this moment: create it after the networks. Without patience nothing is
  // repeated.
  explicit QuietRuns(double patience_seconds);
  QuietRuns(const QuietRuns&) = delete;
  QuietRuns& operator=(const QuietRuns&) = delete;

  // Calls `run` until a call was undisturbed or patience is used up; returns the seconds of the last call. A repeated
  // call follows an untimed one.
  Result<double> Time(const std::function<Status()>& run);

  int64_t retaken() const { return guard_.retaken(); }
  double wasted_seconds() const { return wasted_; }  // time of discarded runs, and of waiting for other processes

 private:
  LoadMeter meter_;
  measure::LoadGuard guard_;
  double patience_seconds_;
  double wasted_ = 0;
};

}  // namespace hone::library

// The end of tuning measures the fastest trials again, interleaved, so that the winner is chosen from times that were
// taken under the same conditions.
#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "measure/builder.h"
#include "record/store.h"
#include "session/history.h"

namespace hone::session {

struct FinalistWorld {
  record::Store* store = nullptr;
  measure::Builder* builder = nullptr;
  measure::Measurer* measurer = nullptr;
  // Locks the host to build on (shared), or instead the device to time on (exclusive); the second function releases
  // both.
  std::function<Status(bool exclusive)> lock;
  std::function<void()> unlock;
  std::function<Status()> check_owner;  // SessionWorld::check_owner, never null
};

struct FinalistResult {
  int64_t measured = 0;  // number of kernels measured again
  double drift = 1;      // the anchor's (trial 0's) time now relative to its time during tuning
};

// Measures the `count` fastest distinct kernels again. Each round begins with the default (trial 0) as the anchor. New
// samples and medians are stored one heat at a time (Store::Remeasure); later trials of the same artifact get the new
// median as well. If a trial outside the finalists is the fastest afterwards, it is measured too, until the fastest
// trial is one that was measured again.
Result<FinalistResult> MeasureFinalists(int64_t count, const FinalistWorld& world, History* history);

}  // namespace hone::session

// Points at failures that look like the machine's fault: many in a row, or much of a session, with the same text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/store.h"
#include "task/outcome.h"

namespace hone::record {

struct Suspicion {
  int64_t first = 0, last = 0;  // ordinals of the first and the last of the failures
  int64_t failures = 0;         // without copies of an earlier one, on the same artifact
  int64_t tried = 0;            // trials of the session if they are spread over one; 0: they are in a row
  TrialError error = TrialError::kNone;
  std::string text;  // the first one's
  double since = 0;  // when the session of the first one started: FindForgettable (record/forget.h) with it finds all
};

inline constexpr int64_t kSuspiciousFailures = 8;

// Two failures are alike if they have the same error and their texts differ only in words with digits: numbers,
// addresses, names of temporary files. Suspicious are
// - kSuspiciousFailures that are alike in a row, on one machine;
// - as many spread over a session, if they are `compile`, `crash` or `device` and more than a third of its trials.
// Trials that were rejected before compiling (`invalid`) do not depend on the machine: they neither count nor interrupt
// a row. Neither do copies of a failure, which any earlier session may have recorded first. In the order of the first
// trials; superseded trials count.
Result<std::vector<Suspicion>> FindSuspicious(const Store& store);

}  // namespace hone::record

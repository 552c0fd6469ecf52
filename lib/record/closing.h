// Why a tuning job is done, as recorded in the session row that closes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hone::record {

// Written into records and stamps.
enum class StopReason { kNone, kTrials, kSeconds, kEarlyStop, kExhausted, kExpectedGain };
// "", "trials", "seconds", "early-stop", "space-exhausted", "expected-gain"
const char* StopReasonName(StopReason reason);

// Marks the end of tuning in the records: the settings of a session row without trials. `trials` counts those of the
// fingerprint. A job whose last closing row counts all of its trials need not be closed again.
struct Closing {
  int64_t trials = 0;
  StopReason reason = StopReason::kNone;
  int64_t early_stop = 0;  // the budget's, if it was the reason
  int64_t finalists = 0;
  double drift = 1;          // the anchor's time now relative to its time during tuning
  double expected_gain = 0;  // the budget's, if it was the reason
  int64_t winograd = 6;      // numerics (op::Numerics) under which trials counted
  bool tf32 = false;

  std::string ToSettings() const;
  static std::optional<Closing> FromSettings(const std::string& settings);  // nothing for a session that tuned
  // For people: "128 trials spent", "nothing better in the last 20 trials", "less than 1 % to be gained".
  std::string ReasonText() const;
};

}  // namespace hone::record

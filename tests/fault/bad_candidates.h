// Which candidates misbehave, and how: a pure function of config and seed, so that a test knows the expected records.
#pragma once

#include <cstdint>
#include <string>

#include "base/rng.h"
#include "task/config.h"
#include "task/outcome.h"

namespace hone {

struct Misdeed {
  const char* symbol;  // of bad_kernels.c
  TrialError error;    // the error to be recorded
};

inline constexpr Misdeed kMisdeeds[] = {{"bad_crash", TrialError::kCrash},    {"bad_babbler", TrialError::kCrash},
                                        {"bad_hoarder", TrialError::kCrash},  {"bad_overrun", TrialError::kCrash},
                                        {"bad_underrun", TrialError::kWrong}, {"bad_moody", TrialError::kWrong},
                                        {"bad_hang", TrialError::kTimeout}};

// Null for about half of the configs, which behave well. Few hang, as each of those takes a time limit.
inline const Misdeed* MisdeedOf(const Config& config, uint64_t seed) {
  const uint64_t draw = Mix64(config.ValueDigest().lo ^ Mix64(seed)) % 27;
  if (draw == 0) return &kMisdeeds[6];
  return draw <= 12 ? &kMisdeeds[(draw - 1) % 6] : nullptr;
}

}  // namespace hone

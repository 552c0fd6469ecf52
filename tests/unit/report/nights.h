// Invented nights for tests of their report.
#pragma once

#include "nightly/report.h"

namespace hone::report {

struct NightsWanted {
  int jobs = 3, nights = 30, kernels = 12;
};

// Nights whose figures depend only on their numbers, after Conclude: job 0 is 5 % slower in the last eight nights
// (confirmed in the last one), job 1 is faster, the others are unchanged. The machine changes halfway; a few nights are
// disturbed, and one failed.
nightly::NightlyData SampleNights(const NightsWanted& wanted = {});

// The same with three jobs, and `hostile` (sample.h has kHostile) in every text from outside.
nightly::NightlyData HostileNights(const std::string& hostile);

}  // namespace hone::report
